"""A checkout with no card in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grandplus.pipeline.card import CATALOG

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    (folder / CATALOG).mkdir(parents=True)
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, folder)
    monkeypatch.setenv("GRANDPLUS_MIRROR", "")
    return folder
