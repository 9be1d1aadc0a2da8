"""What a run is called, and whether it has a matrix."""

import pytest
from runs import run

from grandplus.evaluation.statistics import paired
from grandplus.methods.registry import settings_of
from grandplus.report.run import matrix_of, title_of

GIVEN = {"dataset": "cora", "model": "grandplus", "matrix": "ppr"}


def test_a_method_without_rows_has_no_matrix(monkeypatch):
    assert matrix_of(GIVEN) == "ppr"
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    assert matrix_of(GIVEN) == ""
    assert title_of(GIVEN) == "cora, grandplus"


@pytest.mark.parametrize("model", [None, "from-another-checkout"])
def test_a_method_that_is_not_known_keeps_what_it_says(model):
    assert matrix_of({"model": model, "matrix": "avg"}) == "avg"
    assert matrix_of({"model": model}) == ""


def test_a_run_is_compared_with_a_baseline_as_with_another_run():
    """Its splits are drawn: of 2 · 3 training nodes and 75 test nodes."""
    drawn = run("drawn", trials=8)
    assert drawn.overlap() == 6 / 75
    interval = paired(drawn.accuracy, [0.45] * 8, overlap=drawn.overlap()).interval
    found = drawn.metrics["baselines"]["difference"]
    assert found["mean"] - found["ci95"] == pytest.approx(interval.low, abs=2e-6)
    drawn.details["splits"] = ["public"] * 8
    assert drawn.overlap() == 0
