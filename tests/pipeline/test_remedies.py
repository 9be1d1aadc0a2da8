"""Which command an error gets, by the stage whose file it is about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grandplus.pipeline import remedies
from grandplus.pipeline.remedies import with_remedy
from grandplus.runtime.errors import ArtifactError, GrandPlusError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("where", "fix"),
    [
        ("data/raw/files.json", "run dvc repro download"),
        (Path("data/graph"), "run dvc repro preprocess"),
        (ROOT / "data/rows/rows-00000-of-00001.parquet", "run dvc repro gfpush"),
        (Path("data/model"), "run dvc repro train"),
        (Path("data/predictions/calibration.json"), "run dvc repro infer"),
        (Path("reports/metrics.json"), "run dvc repro evaluate"),
        (Path("reports/plots/losses.png"), "run dvc repro evaluate"),
        (Path("data"), "run dvc repro"),  # of several stages
    ],
)
def test_a_file_of_a_stage_is_made_anew_by_that_stage(monkeypatch, where, fix):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(remedies, "CACHE", Path("none"))  # whether this checkout has run or not
    assert with_remedy(ArtifactError("is damaged", where=where)).fix == fix


@pytest.mark.parametrize(("kept", "made"), [(True, False), (True, True), (False, False)])
def test_a_file_that_is_gone_may_be_in_the_cache(tmp_path, monkeypatch, kept, made):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    if kept:
        (tmp_path / ".dvc/cache/files").mkdir(parents=True)
    model = Path("data/model/trial-00000.safetensors")
    if made:
        model.parent.mkdir(parents=True)
        model.touch()
    checkout = ", or dvc checkout train for that of the last finished run" if kept and not made else ""
    assert with_remedy(ArtifactError("no such file", where=model)).fix == f"run dvc repro train{checkout}"


def test_what_the_library_says_comes_first(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(remedies, "CACHE", Path("none"))
    error = with_remedy(ArtifactError("holds two sets", where=Path("data/rows"), fix="empty it"))
    assert str(error) == "data/rows: holds two sets; empty it, then run dvc repro gfpush"


def test_other_errors_and_other_folders_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert with_remedy(GrandPlusError("top_k is 0", where="params.yaml")).fix == ""
    monkeypatch.chdir(tmp_path)
    assert with_remedy(ArtifactError("no such file", where=Path("data/graph"))).fix == ""
