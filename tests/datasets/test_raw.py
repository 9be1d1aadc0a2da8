"""Which reader gets a folder, by its files.json."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from grandplus.datasets import raw
from grandplus.datasets.fetch.manifest import Manifest
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError

SOURCE = Source(format="planetoid", files={}, places=[])


def test_manifest_survives_saving(tmp_path: Path) -> None:
    manifest = Manifest("planetoid", {"b": "2", "a": "1"}, "order.npy")
    manifest.save(tmp_path)
    assert Manifest.load(tmp_path) == manifest


def test_manifest_bytes(tmp_path: Path) -> None:
    Manifest("planetoid", {"b": "2", "a": "1"}).save(tmp_path)
    text = (tmp_path / "files.json").read_text()
    assert text.endswith("}\n")
    assert list(json.loads(text)) == ["files", "format", "order"]
    assert list(json.loads(text)["files"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("{", "can't be read"),
        ("[]", "can't be read"),
        ('{"format": "planetoid"}', "can't be read"),
        ('{"format": "planetoid", "files": [], "order": null}', "expected a mapping"),
        ('{"format": "tar", "files": {}, "order": null}', "format is 'tar'; expected one of adjlist, "),
        ('{"format": "planetoid", "files": {"ind.a.x": "0"}, "order": null}', "holds ind.a.x; expected ind.NAME"),
    ],
)
def test_a_wrong_manifest(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "files.json").write_text(content)
    with pytest.raises(GrandPlusError, match=message):
        raw.read(tmp_path, SOURCE, tmp_path)


@pytest.mark.parametrize("module", raw.READERS.values())
def test_readers_exist(module: str) -> None:
    assert callable(importlib.import_module(module).read)
