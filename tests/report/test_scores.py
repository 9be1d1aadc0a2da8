"""How the metrics of a run are written."""

import pytest

from grandplus.evaluation import metrics
from grandplus.evaluation.formats import Format, percent
from grandplus.evaluation.metric import Metric
from grandplus.evaluation.metrics import METRICS
from grandplus.evaluation.statistics import Interval
from grandplus.report.scores import score_columns, score_lines

SPREAD = {"mean": 0.85, "std": 0.01, "ci95": 0.005}
RUN = {
    "test": {"accuracy": SPREAD, "ece": {"mean": 0.25, "calibrated": 0.125}, "macro_f1": {"mean": 0.5}},
    "val": {"accuracy": {"mean": 0.9}},
    "rows": {"l1_error": {"mean": 0.25, "max": 0.5}},
    "predictions": {"nodes": 7, "accuracy": 1.0},
}


def test_lines_are_of_all_metrics_that_there_are():
    assert score_lines(RUN) == {
        "test accuracy": "85.00 % ± 1.00, 95 % CI 84.5–85.5",
        "test ECE": "0.250",
        "test ECE, calibrated": "0.125",
        "test macro-F1": "50.00 %",
        "validation accuracy": "90.00 %",
        "row L1 error, mean": "0.2500",
        "row L1 error, max": "0.5000",
        "ensemble accuracy": "100.00 %",
        "ensemble judged by": "7 nodes, which no trial trained on or validated with",
    }


def test_columns_are_the_same_for_every_run():
    full, empty = score_columns(RUN, intervals=False), score_columns({}, intervals=False)
    assert list(full) == list(empty)
    assert set(empty.values()) == {""}
    assert full["test accuracy"] == "85.00 % ± 1.00"
    assert score_columns(RUN, intervals=True)["test accuracy"] == "85.00 % ± 1.00, 95 % CI 84.5–85.5"


@pytest.mark.parametrize("damaged", [{"test": {"accuracy": 3}}, {"test": {"accuracy": {"mean": "high"}}}, {"test": []}])
def test_what_is_no_number_is_left_out(damaged):
    assert score_lines(damaged) == {}


def test_a_new_metric_is_in_lines_columns_and_list(monkeypatch):
    kappa = Metric("kappa.mean", "kappa", "agreement", Format(1), float, ("test",), ("test",), spreads=True)
    for module in (metrics, __import__("grandplus.report.scores", fromlist=["METRICS"])):
        monkeypatch.setattr(module, "METRICS", (*METRICS, kappa))
    content = {"test": {"kappa": {"mean": 12.5, "std": 3.0, "ci95": 7.0}}}
    assert score_lines(content) == {"test kappa": "12.5 ± 3.0, 95 % CI 6–20"}
    assert score_columns(content, intervals=False)["test kappa"] == "12.5 ± 3.0"
    assert "| `test.kappa.mean` | agreement |" in metrics.listed()


def test_an_interval_of_a_share_ends_at_0_and_100():
    assert percent.interval(Interval(-0.2, 1.2)) == "0.0–100.0"
