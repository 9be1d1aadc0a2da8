"""Results of one run are told from a mixture of two, and from those of an earlier run."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from project import ROOT, set_params

from grandplus.pipeline.evaluated import FILES, READ, REPORTS, check_one_run, list_reports, remarks
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import ArtifactError, GrandPlusError
from grandplus.runtime.sums import SUMS


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """The files of a run that has ended."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/catalog").mkdir(parents=True)
    for name in ("params.yaml", "data/catalog/cora.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    set_params(tmp_path, {"dataset": "cora", "matrix": "custom", "gfpush": {"weights": [0.5, 0.5]}})
    for folder in (REPORTS, *READ):
        folder.mkdir(parents=True)
    for folder in READ:
        (folder / SUMS).write_text(f"of {folder}")
    for name in FILES:
        (REPORTS / name).write_text(name)
    (REPORTS / "settings.yaml").write_text(json.dumps(load_settings().flat()))  # JSON is YAML
    list_reports()
    return tmp_path


def test_one_run_earns_no_remark(checkout):
    assert remarks() == []


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum")
def test_sha256sum_checks_the_reports_and_what_they_were_made_from(checkout):
    def check() -> int:
        return subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=REPORTS).returncode

    assert check() == 0
    (READ[2] / SUMS).write_text("of another run")
    assert check() == 1


def test_work_of_a_later_run_is_named(checkout):
    shutil.rmtree("data/predictions")  # as DVC does before inference
    (Path("data/model") / SUMS).write_text("of the later run")
    assert remarks() == [
        "the results are of an earlier run: data/predictions is missing, data/model is of another run; run dvc repro"
    ]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"trials": 50}, "trials=50"),
        ({"train": {"lr": 0.5}, "seed": 1}, "seed=1 train.lr=0.5"),
        ({"gfpush": {"weights": [0.25, 0.75]}}, "gfpush.weights=[0.25, 0.75]"),
        ({"matrix": "avg", "gfpush": {"weights": None}}, "matrix=avg gfpush.order=4;"),
    ],
)
def test_other_settings_are_named(checkout, changes: dict[str, Any], named):
    set_params(checkout, changes)
    [remark] = remarks()
    assert remark.startswith(f"params.yaml has other settings now: {named}")


@pytest.mark.parametrize("name", FILES)
def test_a_mixture_of_two_runs_is_refused(checkout, name):
    (REPORTS / name).write_text("{}")
    with pytest.raises(ArtifactError, match=f"reports: {name} is of another run than the other files"):
        remarks()


@pytest.mark.parametrize("name", [*FILES, SUMS])
def test_an_evaluation_that_was_interrupted(checkout, name):
    (REPORTS / name).unlink()
    with pytest.raises(ArtifactError, match=f"reports/{name}: no such file"):
        remarks()


@pytest.mark.parametrize("content", [b"no list", b"\xff\xfe"])
def test_a_damaged_list_is_refused(checkout, content):
    (REPORTS / SUMS).write_bytes(content)
    with pytest.raises(ArtifactError, match="reports: SHA256SUMS is damaged"):
        remarks()


def test_a_commit_with_files_of_two_runs():
    sums = "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in FILES).encode()
    check_one_run(sums, {"metrics.json": b"metrics.json"}, "slow")
    words = "reports of slow: metrics.json is of another run than the other files; run it again"
    with pytest.raises(GrandPlusError, match=words):
        check_one_run(sums, {"details.json": b"details.json", "metrics.json": b"{}"}, "slow")
