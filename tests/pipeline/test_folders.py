"""Folders between stages list what they hold, and what isn't that any more is told and marked."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grandplus.pipeline import dependencies
from grandplus.pipeline.folders import checked, output
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.sums import SUMS

CONTENT = {"a.npy": b"one", "b with spaces.json": b"two", "c": b"", "raw/c": b"three"}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


ROOT = Path(__file__).resolve().parents[2]
PIPELINE = """
stages:
  first: {outs: [out]}
  second: {params: [matrix, seed, {card.yaml: [expect]}], deps: [out/a.npy, code, 'methods/${model}'], outs: [end]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The output of a stage, as read-only and old as DVC leaves it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setattr(dependencies, "CHECKOUT", tmp_path)
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    with output("first", load_settings(ROOT)) as made:
        for name, content in CONTENT.items():
            (made / name).parent.mkdir(exist_ok=True)
            (made / name).write_bytes(content)
    for file in files_in(tmp_path / "out"):
        os.utime(file, (1000, 1000))
        file.chmod(0o444)
    return tmp_path / "out"


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def marked(folder: Path) -> set[str]:
    found = {str(file.relative_to(folder)): file.stat() for file in files_in(folder)}
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


def test_what_a_dead_worker_left_is_neither_listed_nor_kept(folder):
    with output("first", load_settings(ROOT)) as made:
        (made / "a.npy").write_bytes(b"one")
        (made / "raw").mkdir()
        (made / "raw" / "c.0123abcd.partial").write_bytes(b"thr")
    assert checked(folder) == {"a.npy": SHA256["a.npy"]}
    assert {file.name for file in files_in(folder)} == {"a.npy", SUMS}


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum")
def test_the_list_is_as_sha256sum_takes_it(folder):
    assert subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=folder).returncode == 0


@pytest.mark.parametrize("content", [b"One", b"on", b""])
def test_a_changed_file(folder, content):
    overwrite(folder / "a.npy", content)
    with pytest.raises(ArtifactError, match="is damaged: its SHA-256 is ") as refused:
        checked(folder)
    sha256 = hashlib.sha256(content).hexdigest()
    assert str(refused.value) == (f"{folder}/a.npy: is damaged: its SHA-256 is {sha256}; expected {SHA256['a.npy']}")
    assert marked(folder) == {"a.npy", SUMS}  # either may be the wrong one
    assert checked(folder, "c")


def test_a_missing_file(folder):
    (folder / "a.npy").unlink()
    with pytest.raises(ArtifactError, match=r"a\.npy: no such file"):
        checked(folder)
    with pytest.raises(ArtifactError, match="other: no such file"):
        checked(folder, "other")


@pytest.mark.parametrize("change", [lambda text: text[:100], lambda text: text[1:], lambda _: b"\xff", lambda _: b""])
def test_a_damaged_list(folder, change):
    overwrite(folder / SUMS, change((folder / SUMS).read_bytes()))
    with pytest.raises(ArtifactError, match="SHA256SUMS: is damaged; expected a SHA-256 and a name for each file"):
        checked(folder)
    assert marked(folder) == {SUMS}


def test_a_missing_list(folder):
    (folder / SUMS).unlink()
    with pytest.raises(ArtifactError, match="SHA256SUMS: no such file"):
        checked(folder)


def key(**changes: object) -> str:
    """The key of the scratch folder of the second stage."""
    with output("second", load_settings(ROOT, **changes), sums=False) as made:
        pass
    return made.name


@pytest.fixture
def code(folder, tmp_path) -> Path:
    """What the second stage depends on, and other code."""
    for name in ("code/one.py", "methods/grandplus/method.py", "methods/sgc/method.py", "report/page.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    return tmp_path


@pytest.mark.parametrize("file", ["code/one.py", "code/new.py", "methods/grandplus/method.py"])
def test_unfinished_work_is_for_the_code_that_the_stage_depends_on(code, file):
    before = key()
    (code / file).write_text("x = 2")
    assert key() != before


@pytest.mark.parametrize("file", ["report/page.py", "methods/sgc/method.py", "code/notes.txt", "out/c"])
def test_other_code_and_other_files_leave_unfinished_work(code, file):
    before = key()
    (code / file).unlink(missing_ok=True)
    (code / file).write_text("x = 2")
    assert key() == before


def test_unfinished_work_is_for_the_settings_that_the_stage_reads(code):
    keys = {key(), key(seed=1), key(matrix="single"), key(dataset="cora")}  # of other expect
    assert len(keys) == 4
    assert key(trials=3, train={"lr": 0.5}) == key()


def test_the_input_is_checked_before_the_work(code):
    overwrite(code / "out" / "a.npy", b"One")
    with pytest.raises(ArtifactError, match=r"out/a\.npy: is damaged"):
        key()
