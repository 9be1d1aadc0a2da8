"""Folders between stages list what they hold, and what isn't that any more is told and marked."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grandplus.pipeline.folders import SUMS, checked, output
from grandplus.runtime.errors import GrandPlusError

CONTENT = {"a.npy": b"one", "b with spaces.json": b"two", "c": b""}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    with output("stage", "key", tmp_path / "out") as made:
        for name, content in CONTENT.items():
            (made / name).write_bytes(content)
    for file in (tmp_path / "out").iterdir():
        os.utime(file, (1000, 1000))
        file.chmod(0o444)
    return tmp_path / "out"


def marked(folder: Path) -> set[str]:
    found = {file.name: file.stat() for file in folder.iterdir()}
    assert all((stat.st_mtime == 1000) == (stat.st_mode & 0o777 == 0o444) for stat in found.values())
    return {name for name, stat in found.items() if stat.st_mtime != 1000}


def overwrite(file: Path, content: bytes) -> None:
    file.chmod(0o644)
    file.write_bytes(content)
    os.utime(file, (1000, 1000))
    file.chmod(0o444)


def test_what_was_written_is_found(folder):
    assert checked(folder) == SHA256
    assert checked(folder, "c") == {"c": SHA256["c"]}
    assert marked(folder) == set()


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum")
def test_the_list_is_as_sha256sum_takes_it(folder):
    assert subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=folder).returncode == 0


@pytest.mark.parametrize("content", [b"One", b"on", b""])
def test_a_changed_file(folder, content):
    overwrite(folder / "a.npy", content)
    with pytest.raises(GrandPlusError, match="is damaged: its SHA-256 is ") as refused:
        checked(folder)
    sha256 = hashlib.sha256(content).hexdigest()
    assert str(refused.value) == (
        f"{folder}/a.npy: is damaged: its SHA-256 is {sha256}; expected {SHA256['a.npy']}; "
        "run dvc repro, which makes it anew"
    )
    assert marked(folder) == {"a.npy", SUMS}  # either may be the wrong one
    assert checked(folder, "c")


def test_a_missing_file(folder):
    (folder / "a.npy").unlink()
    with pytest.raises(GrandPlusError, match=r"a\.npy: no such file; run dvc repro"):
        checked(folder)
    with pytest.raises(GrandPlusError, match="other: no such file; run dvc repro"):
        checked(folder, "other")


@pytest.mark.parametrize("change", [lambda text: text[:100], lambda text: text[1:], lambda _: b"\xff", lambda _: b""])
def test_a_damaged_list(folder, change):
    overwrite(folder / SUMS, change((folder / SUMS).read_bytes()))
    with pytest.raises(GrandPlusError, match="SHA256SUMS: is damaged; expected a SHA-256 and a name for each file"):
        checked(folder)
    assert marked(folder) == {SUMS}


def test_a_missing_list(folder):
    (folder / SUMS).unlink()
    with pytest.raises(GrandPlusError, match="SHA256SUMS: no such file; run dvc repro"):
        checked(folder)
