"""The table of all experiments, from what DVC says of them."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from grandplus.methods.registry import settings_of
from grandplus.report import experiments
from grandplus.report.experiments import experiments_table

METRICS = {"val": {"accuracy": {"mean": 0.8, "std": 0.02, "ci95": 0.01}}, "rows": {"l1_error": {"mean": 0.25}}}


def state(name, metrics=METRICS, **params):
    settings = {"dataset": "cora", "model": "grandplus", "matrix": "ppr", "trials": 10, "seed": 0} | params
    data = SimpleNamespace(
        params={"params.yaml": {"data": settings}}, metrics={"reports/metrics.json": {"data": metrics}}
    )
    return SimpleNamespace(name=name, rev="0123456789" * 4, data=data, experiments=None)


def experiment(latest, executor=None):
    return SimpleNamespace(revs=[latest], executor=executor and SimpleNamespace(state=executor))


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """The rows of the table of such states, without empty cells."""
    monkeypatch.chdir(tmp_path)

    def rows_of(*states):
        repo = MagicMock()
        repo.__enter__.return_value = repo
        repo.experiments.ls.return_value = {}
        repo.experiments.show.return_value = states
        monkeypatch.setattr(experiments, "open_repo", lambda: repo)
        monkeypatch.setattr(experiments, "table", lambda lines: lines)
        return [{column: cell for column, cell in row.items() if cell} for row in experiments_table()]

    return rows_of


def test_a_line_for_each_with_what_differs(rows):
    base = state("main")
    base.experiments = [
        experiment(state("better", train={"lr": 0.05, "hidden": None}, seed=3)),
        experiment(state("waits"), executor="QUEUED"),
    ]
    main, better, waits = rows(base)
    assert main == {
        "run": "main", "dataset": "cora", "model": "grandplus", "matrix": "ppr", "trials": "10",
        "validation accuracy": "80.00 % ± 2.00", "row L1 error, mean": "0.2500",
    }  # fmt: skip
    assert (better["run"].strip(), better["settings"]) == ("better", "seed=3 train.lr=0.05")
    assert "validation accuracy" not in waits  # DVC has the metrics of the workspace for it
    assert waits["state"] == "queued"


def test_the_matrix_is_that_of_the_method(rows):
    """params.yaml says ppr or avg of each; PPRGo has a family of its own, and GCN trains on no rows."""
    states = [state("a", model="grandplus"), state("b", model="pprgo", matrix="avg"), state("c", model="gcn")]
    assert [row.get("matrix") for row in rows(*states)] == ["ppr", "ppr", None]


def test_methods_stand_side_by_side(rows, monkeypatch):
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    without = {"val": METRICS["val"]}
    first, second = rows(state("one", without), state("two", model="older"))
    assert first["model"] == "grandplus"
    assert {"matrix", "row L1 error, mean"}.isdisjoint(first)
    assert (second["model"], second["matrix"], second["row L1 error, mean"]) == ("older", "ppr", "0.2500")
