"""What ``grandplus results`` prints, and where there is nothing to print."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from project import ROOT, set_params

from grandplus.cli.main import main
from grandplus.methods.registry import settings_of
from grandplus.pipeline.evaluated import READ, list_reports
from grandplus.runtime.sums import SUMS

SCORE = {"mean": 0.8512, "std": 0.0034, "ci95": 0.0025}
METRICS = {
    "test": {"accuracy": SCORE, "macro_f1": {"mean": 0.8408}},
    "val": {"accuracy": {"mean": 0.9}},
    "rows": {"l1_error": {"mean": 0.21886, "max": 0.638828}},
}


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/metrics.json").write_text(json.dumps(METRICS))
    (tmp_path / "reports/diagnosis.json").write_text('{"findings": []}')
    (tmp_path / "reports/settings.yaml").write_text("{dataset: cora, model: grandplus, matrix: ppr, trials: 2}")
    (tmp_path / "reports/per_class.json").write_text("{}")
    (tmp_path / "reports/details.json").write_text('{"changed": {}}')
    for name in ("params.yaml", "data/catalog/cora.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    set_params(tmp_path, {"dataset": "cora", "matrix": "ppr", "trials": 2})
    for folder in READ:
        folder.mkdir()
        (folder / SUMS).write_text(f"of {folder}")
    list_reports()
    return tmp_path / "reports"


def test_scores_and_settings(reports, capsys):
    assert main(["results"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [
        "dataset, model, matrix  cora, grandplus, ppr, 2 trials",
        "test accuracy           85.12 % ± 0.34, 95 % CI 84.9–85.4",
        "test macro-F1           84.08 %",
        "validation accuracy     90.00 %",
        "row L1 error, mean      0.2189",
        "row L1 error, max       0.6388",
        "diagnosis               nothing to remark",
    ]


def test_settings_that_differ_from_the_card_are_named(reports, capsys):
    changed = {"train.weight_decay": [0.001, 0.004], "preprocess.unlabelled": [None, 100]}
    (reports / "details.json").write_text(json.dumps({"changed": changed}))
    list_reports()
    assert main(["results"]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "other than the card     train.weight_decay = 0.004, in place of 0.001",
        "                        preprocess.unlabelled = 100, in place of null",
    ]


def test_each_finding_in_two_lines(reports, capsys):
    finding = {"name": "underfit", "observation": "47.50 % are right", "advice": "train.weight_decay=0.0001"}
    (reports / "diagnosis.json").write_text(json.dumps({"findings": [finding, finding | {"observation": "so it is"}]}))
    list_reports()
    assert main(["results"]) == 0
    lines = capsys.readouterr().out.splitlines()
    position = lines.index("diagnosis               47.50 % are right")
    assert lines[position + 1 : position + 4] == [
        " " * 24 + "  try train.weight_decay=0.0001",
        " " * 24 + "so it is",
        " " * 24 + "  try train.weight_decay=0.0001",
    ]


def test_baselines_and_the_difference_to_the_best(reports, capsys):
    majority = {"test": {"accuracy": {"mean": 0.25}}, "val": {"accuracy": {"mean": 0.5}}}
    baselines = {"majority": majority, "best": "majority", "difference": {"mean": 0.6012, "ci95": 0.0025}}
    (reports / "metrics.json").write_text(json.dumps(METRICS | {"baselines": baselines}))
    list_reports()
    assert main(["results"]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "",
        "on the same splits  test accuracy   validation accuracy",
        "GRAND+              85.12 % ± 0.34  90.00 %",
        "majority class      25.00 %         50.00 %",
        "GRAND+ minus majority class: +60.12 points of test accuracy (95 % interval +59.87 to +60.37)",
    ]


def test_one_trial_that_is_not_tested(reports, capsys):
    (reports / "metrics.json").write_text(json.dumps({"val": METRICS["val"], "rows": METRICS["rows"]}))
    (reports / "settings.yaml").write_text("{dataset: cora, model: grandplus, matrix: ppr, trials: 1}")
    set_params(reports.parent, {"trials": 1})
    list_reports()
    assert main(["results"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" cora, grandplus, ppr, 1 trial")
    assert [line for line in lines if "accuracy" in line or "F1" in line] == ["validation accuracy     90.00 %"]


def test_a_method_without_rows(reports, capsys, monkeypatch):
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    (reports / "metrics.json").write_text(json.dumps({"val": METRICS["val"]}))
    list_reports()
    assert main(["results"]) == 0
    first, second, third, *_ = capsys.readouterr().out.splitlines()
    assert first == "dataset, model        cora, grandplus, 2 trials"
    assert second == "validation accuracy   90.00 %"
    assert third.startswith("diagnosis ")


def test_after_a_run_that_was_interrupted(reports, capsys):
    """The figures are those of the run before, and nothing of the later one stands beside them."""
    (reports / "resources.json").write_text('{"gfpush": {"seconds": 3.0, "memory": 1}}')
    assert main(["results"]) == 0
    before = capsys.readouterr().out
    assert "data/predictions/predictions.parquet" in before
    assert "gfpush 3.0" in before
    set_params(reports.parent, {"train": {"lr": 0.5}, "trials": 4})
    shutil.rmtree(reports.parent / "data/predictions")  # as DVC does before inference
    (reports.parent / "data/model" / SUMS).write_text("of the later run")
    assert main(["results"]) == 0
    first, second, *after = capsys.readouterr().out.splitlines()
    assert first.split(maxsplit=1) == [
        "note",
        "the results are of an earlier run: data/predictions is missing, data/model is of another run; run dvc repro",
    ]
    assert second.strip() == "params.yaml has other settings now: trials=4; run dvc repro to get their results"
    assert set(after) < set(before.splitlines())
    assert not any(line.startswith(("predictions", "seconds")) for line in after)


def test_after_a_run_that_was_refused(reports, capsys):
    """The results are asked for, not a run: they are there, and what is wrong with the settings is said."""
    assert main(["results"]) == 0
    before = capsys.readouterr().out.splitlines()
    set_params(reports.parent, {"gfpush": {"rmax": 1}})
    assert main(["results"]) == 0
    first, *after = capsys.readouterr().out.splitlines()
    assert first.split(maxsplit=1) == [
        "note",
        "a run would be refused now: params.yaml: gfpush.rmax is 1; expected less than 1; if -S has set it, "
        "git checkout params.yaml takes it back",
    ]
    assert set(after) < set(before)


def test_a_mixture_of_two_runs_is_refused(reports, capsys):
    (reports / "metrics.json").write_text(json.dumps(METRICS | {"mark": 1}))  # as git checkout does
    assert main(["results"]) == 2
    told = "error: reports: metrics.json is of another run than the other files; run dvc repro"
    assert capsys.readouterr().err.startswith(told)


def test_a_reader_that_has_read_enough(reports):
    """As ``| head -1``."""
    command = f"'{sys.executable}' -m grandplus results | head -c 10"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, cwd=reports.parent, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("dataset, m", "")


@pytest.mark.parametrize("file", ["settings.yaml", "metrics.json", "diagnosis.json", SUMS])
def test_before_the_first_run(reports, capsys, file):
    (reports / file).unlink()
    assert main(["results"]) == 2
    assert capsys.readouterr().err == f"error: reports/{file}: no such file; run dvc repro evaluate\n"
