"""The baselines of a run in words."""

from grandplus.report.baselines import baseline_rows, difference_line

METRICS = {
    "test": {"accuracy": {"mean": 0.85, "std": 0.01, "ci95": 0.007}},
    "val": {"accuracy": {"mean": 0.875}},
    "baselines": {
        "majority": {"test": {"accuracy": {"mean": 0.25, "std": 0.0}}, "val": {"accuracy": {"mean": 0.5}}},
        "later": {"val": {"accuracy": {"mean": 0.75}}},
        "best": "majority",
        "difference": {"mean": 0.6, "std": 0.01, "ci95": 0.007},
    },
}


def test_a_row_for_the_run_and_each_baseline():
    assert [list(row.values()) for row in baseline_rows(METRICS, "grandplus")] == [
        ["GRAND+", "85.00 % ± 1.00", "87.50 %"],
        ["majority class", "25.00 % ± 0.00", "50.00 %"],
        ["later", "", "75.00 %"],
    ]


def test_the_difference_with_its_interval():
    line = "sgc minus majority class: +60.00 points of test accuracy (95 % interval +59.30 to +60.70)"
    assert difference_line(METRICS, "sgc") == line


def test_one_trial_without_test_nodes():
    metrics = {"val": METRICS["val"], "baselines": {"best": "majority", "difference": {"mean": -0.0125}}}
    assert difference_line(metrics, "grandplus") == "GRAND+ minus majority class: -1.25 points of validation accuracy"


def test_results_without_baselines():
    for metrics in ({}, {"baselines": 3}, {"val": METRICS["val"]}, {"baselines": {}}):
        assert baseline_rows(metrics, "grandplus") == []
        assert difference_line(metrics, "grandplus") == ""
