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
    shutil.copy(ROOT / "params.yaml", folder)
    monkeypatch.setenv("GRANDPLUS_MIRROR", "")
    return folder
