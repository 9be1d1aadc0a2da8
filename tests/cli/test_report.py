"""The terminal's part of a report, and what it refuses."""

import json
import re
import shutil
import subprocess
import sys
from argparse import Namespace

import pytest
from project import ROOT, set_params
from runs import run

from grandplus.cli import report as command
from grandplus.cli.main import main
from grandplus.evaluation.formats import points_interval
from grandplus.methods.registry import settings_of
from grandplus.pipeline.evaluated import READ, list_reports
from grandplus.report import gather
from grandplus.report.comparison import compare_runs
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sums import SUMS
from grandplus.runtime.system_errors import system_error


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder in which some runs can be had by name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "reports").mkdir()
    return tmp_path


def given(monkeypatch, *runs):
    monkeypatch.setattr(gather, "gather", lambda names: runs)


def test_a_row_for_each_run_and_for_each_pair(checkout, monkeypatch, capsys):
    runs = [run("plain", trials=10), run("better", trials=10, skill=0.95, train={"lr": 0.05}), run("other", seed=1)]
    given(monkeypatch, *runs)
    command.run(Namespace(runs=["plain", "better", "other"], reference=None))
    printed = capsys.readouterr().out.splitlines()
    accuracy = runs[1].metrics["test"]["accuracy"]
    low, high = accuracy["mean"] - accuracy["ci95"], accuracy["mean"] + accuracy["ci95"]
    spread = f"{100 * accuracy['mean']:.2f} % ± {100 * accuracy['std']:.2f}"
    assert f"{spread}, 95 % CI {100 * low:.1f}–{min(100 * high, 100):.1f}" in printed[2]
    assert "train.lr=0.05" in printed[2]
    assert "better is better than plain on these test nodes and beyond them" in printed[6]
    assert "10 pairs of trials, drawn splits" in printed[6]
    assert "Welch" in printed[7]
    heads = re.split("  +", printed[5])
    assert [head for head in heads if "nodes" in head] == ["95 % CI, nodes and trials", "corrected p, nodes and trials"]
    cells, [found, *_] = re.split("  +", printed[6]), compare_runs(runs)[0]
    assert cells[heads.index("95 % CI, trials")] == points_interval(found.test.interval)
    assert cells[heads.index("95 % CI, nodes and trials")] == points_interval(found.beyond.interval)
    assert cells[heads.index("corrected p, nodes and trials")] == f"{found.corrected_beyond:.4f}"
    assert (checkout / "reports/report.html").read_text().startswith("<!DOCTYPE html>")
    assert [file.name for file in (checkout / "reports").iterdir()] == ["report.html"]


def test_results_of_older_code_are_compared_as_far_as_they_go(checkout, monkeypatch, capsys):
    runs = [run("old", trials=10), run("new", trials=10, skill=0.95)]
    del runs[0].details["node_scores"]
    given(monkeypatch, *runs)
    command.run(Namespace(runs=["old", "new"], reference=None))
    printed = capsys.readouterr().out
    assert "new is better than old on these test nodes\n" in printed
    assert "nodes and trials" not in printed
    assert "so old has no interval over nodes: run dvc repro evaluate" in printed
    assert "Results of older code don" in (checkout / "reports/report.html").read_text()


def test_a_card_by_another_name_is_compared_trial_by_trial(checkout, monkeypatch, capsys):
    """As a tuned card with the one that it comes from: the graph and the splits are the same."""
    runs = [run("plain", trials=10), run("tuned", trials=10, skill=0.95)]
    runs[1].details["run"]["dataset"] += "-tuned"
    given(monkeypatch, *runs)
    command.run(Namespace(runs=["plain", "tuned"], reference=None))
    assert "10 pairs of trials" in capsys.readouterr().out


def test_a_run_of_one_trial_is_named(checkout, monkeypatch, capsys):
    given(monkeypatch, run("one", trials=1), run("ten", trials=10), run("more", trials=10, seed=3))
    command.run(Namespace(runs=["one", "ten", "more"], reference=None))
    printed = capsys.readouterr().out
    assert "one trial says nothing of differences: run one with more, as -S trials=10" in printed
    assert "ten - more" in printed
    assert "Welch, as splits or seeds differ" in printed
    assert "seed=3" in printed


def test_only_what_has_something_in_common_is_compared(checkout, monkeypatch, capsys):
    runs = [run("cora"), run("pubmed"), run("few"), run("few-too", skill=0.8)]
    edges = runs[1].details["graph"]["edges"]
    runs[1].details["graph"] |= {"nodes": 91, "classes": 3}
    runs[1].details["run"]["dataset"] = "pubmed"
    for few in runs[2:]:
        few.details["judged_by"] = "val"
        few.metrics.pop("test")
    given(monkeypatch, *runs)
    command.run(Namespace(runs=["cora", "pubmed", "few", "few-too"], reference=None))
    printed = capsys.readouterr().out
    assert [line.split("  ")[0] for line in printed.splitlines() if " - " in line] == ["few - few-too"]
    assert (
        f"runs on different graphs are not compared: cora, few, few-too on cora (90 nodes, {edges:,} edges), "
        f"and pubmed on pubmed (91 nodes, {edges:,} edges, 3 classes); name runs on one graph\n"
    ) in printed
    assert "no test node of few, few-too has a label, so its accuracy is of validation nodes" in printed
    assert "test or validation accuracy: a dot a trial" in (checkout / "reports/report.html").read_text()


def test_a_page_that_can_not_be_written(checkout, monkeypatch):
    given(monkeypatch, run("a"))
    (checkout / "reports/report.html").mkdir()
    with pytest.raises(IsADirectoryError) as refused:
        command.run(Namespace(runs=["a"], reference=None))
    assert str(system_error(refused.value)) == "reports/report.html: Is a directory"


def test_no_evidence_is_said_in_these_words(checkout, monkeypatch, capsys):
    given(monkeypatch, run("a", trials=10), run("b", trials=10, skill=0.701))
    command.run(Namespace(runs=["a", "b"], reference=None))
    assert "no evidence of a difference" in capsys.readouterr().out


def test_outside_of_a_project(checkout):
    with pytest.raises(GrandPlusError, match=r"not inside of a DVC repository.*; run from the top"):
        command.run(Namespace(runs=[], reference=None))


def test_a_workspace_without_git_is_reported(checkout, capsys):
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet", "--no-scm"], check=True)
    found = run("workspace")
    (checkout / "reports/details.json").write_text(json.dumps(found.details))
    (checkout / "reports/metrics.json").write_text(json.dumps(found.metrics))
    for name in ("params.yaml", "data/catalog/citeseer.yaml"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    set_params(checkout, {"dataset": "citeseer"})
    (checkout / "reports/settings.yaml").write_text("{dataset: cora}")
    for name in ("per_class.json", "diagnosis.json"):
        (checkout / "reports" / name).write_text('{"findings": []}')
    for folder in READ:
        folder.mkdir()
        (folder / SUMS).touch()
    list_reports()
    command.run(Namespace(runs=[], reference=None))
    assert re.search("\nworkspace: params.yaml has other settings now: dataset=citeseer;", capsys.readouterr().out)
    with pytest.raises(GrandPlusError, match="there is no Git repository here; name no run"):
        command.run(Namespace(runs=["main"], reference=None))


def test_what_it_refuses(checkout, capsys):
    with pytest.raises(GrandPlusError, match="a is named twice"):
        command.run(Namespace(runs=["a", "b", "a"], reference=None))
    (checkout / "dvc.yaml").unlink()
    assert main(["report"]) == 2
    assert "is in no checkout of GRAND+" in capsys.readouterr().err


def test_methods_are_compared_trial_by_trial(checkout, monkeypatch, capsys):
    """Their splits are the same; the one without rows has neither a matrix nor L1 errors."""
    first = run("first", trials=10)
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    second = run("second", trials=10, skill=0.95)
    monkeypatch.undo()
    monkeypatch.chdir(checkout)
    second.details["run"]["model"] = "other"
    given(monkeypatch, first, second)
    command.run(Namespace(runs=["first", "second"], reference=None))
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:4] == ["run", "dataset", "model", "matrix"]
    assert re.split("  +", printed[1])[-1] == f"{first.metrics['rows']['l1_error']['mean']:.4f}"
    assert [line.split()[2] for line in printed[1:3]] == ["grandplus", "other"]
    assert "10 pairs of trials" in printed[5]


def test_the_others_are_compared_with_one_alone(checkout, monkeypatch, capsys):
    names = ["a", "b", "c", "d", "e"]
    monkeypatch.setattr(gather, "gather", lambda asked: [run(name, trials=6) for name in asked])
    command.run(Namespace(runs=names, reference="c"))
    printed = capsys.readouterr().out
    assert re.findall(r"^(\w) - (\w) ", printed, re.MULTILINE) == [("c", other) for other in "abde"]
    with pytest.raises(GrandPlusError, match="--with c has no run beside it"):
        command.run(Namespace(runs=["c"], reference="c"))
