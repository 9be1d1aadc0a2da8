import functools
import json
import operator
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from project import ROOT
from scored_tables import CLASSES, predictions_file, table
from sklearn.metrics import balanced_accuracy_score, precision_recall_fscore_support

from grandplus.evaluation.baselines.table import BaselineScore
from grandplus.evaluation.metric import PARTS
from grandplus.evaluation.metrics import METRICS, listed
from grandplus.evaluation.per_class import per_class
from grandplus.evaluation.ranking import rank
from grandplus.evaluation.scored import load_ensemble
from grandplus.evaluation.statistics import paired
from grandplus.evaluation.summary import summarize
from grandplus.runtime.errors import GrandPlusError

L1 = np.array([0.125, 0.5, 0.25], dtype=np.float32)


def right(correct, of=10):
    """A trial with so many of its test nodes right, all of class 0."""
    return table([(0, 0)] * correct + [(0, 1)] * (of - correct))


def test_mean_std_and_interval_by_hand():
    # Mean .8, deviations -.1, 0, .1: std with n - 1 is .1. t(.975, 2 degrees of freedom) = 4.302653.
    metrics = summarize([right(7), right(8), right(9)], CLASSES, l1_error=L1)
    accuracy = metrics["test"]["accuracy"]
    assert accuracy == {"mean": 0.8, "std": 0.1, "ci95": pytest.approx(4.302653 * 0.1 / 3**0.5, abs=1e-6)}
    assert metrics["val"]["accuracy"] == {"mean": 1, "std": 0, "ci95": 0}
    # |accuracy - .75| per trial is .05, .05 and .15.
    assert metrics["test"]["ece"]["mean"] == pytest.approx(0.25 / 3, abs=1e-6)
    # After calibration, |accuracy - .5| per trial is .2, .3 and .4.
    assert metrics["test"]["ece"]["calibrated"] == pytest.approx(0.3, abs=1e-6)
    assert metrics["val"]["ece"] == {"mean": 0.25, "calibrated": 0.5}
    assert metrics["rows"]["l1_error"] == {"mean": round(0.875 / 3, 6), "max": 0.5}


def test_accuracy_is_the_mean_over_trials_not_that_of_an_ensemble():
    # A majority vote of these three trials would be right on all three nodes.
    trials = [table([(0, 0), (0, 0), (0, 1)]), table([(0, 0), (0, 1), (0, 0)]), table([(0, 1), (0, 0), (0, 0)])]
    assert summarize(trials, CLASSES, l1_error=L1)["test"]["accuracy"]["mean"] == round(2 / 3, 6)


def test_one_trial_has_no_spread():
    metrics = summarize([right(7)], CLASSES, l1_error=L1)
    assert metrics["test"]["accuracy"] == {"mean": 0.7}
    assert metrics["val"]["accuracy"] == {"mean": 1.0}


def test_only_scalars_and_stable_as_json():
    metrics = summarize([right(7), right(8)], CLASSES, l1_error=L1)
    assert json.loads(json.dumps(metrics)) == metrics
    assert set(leaves(metrics)) == {
        "test.accuracy.mean", "test.accuracy.std", "test.accuracy.ci95", "test.macro_f1.mean",
        "test.ece.mean",
        "test.ece.calibrated",
        "val.ece.mean",
        "val.ece.calibrated", "val.accuracy.mean", "val.accuracy.std", "val.accuracy.ci95",
        "test.balanced_accuracy.mean", "test.balanced_accuracy.std", "test.balanced_accuracy.ci95",
        "val.balanced_accuracy.mean", "val.balanced_accuracy.std", "val.balanced_accuracy.ci95",
        "rows.l1_error.mean", "rows.l1_error.max",
    }  # fmt: skip


def leaves(values, prefix=""):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            assert type(value) is str if key == "best" else type(value) in (int, float)
            yield prefix + key


def test_unknown_labels_and_other_parts_count_nowhere():
    extra = [(-1, 1, "test"), (-1, 1, "val"), (0, 1, "train"), (0, 1, "other")]
    plain, more = right(9), table([(0, 0)] * 9 + [(0, 1)], extra=extra)
    assert summarize([more], CLASSES, l1_error=L1) == summarize([plain], CLASSES, l1_error=L1)
    assert per_class([more], CLASSES) == per_class([plain], CLASSES)


def test_macro_f1_by_hand():
    # Class 0: precision 2/3, recall 1, F1 .8. Class 1: precision 1, recall 1/2, F1 2/3. Class 2 isn't there.
    metrics = summarize([table([(0, 0), (0, 0), (1, 0), (1, 1)])], CLASSES, l1_error=L1)
    assert metrics["test"]["macro_f1"]["mean"] == pytest.approx((0.8 + 2 / 3) / 2, abs=1e-6)


def test_macro_f1_is_over_the_classes_that_occur():
    # Class 2 is only predicted; class 0 has precision 1, recall 1/2, F1 2/3.
    metrics = summarize([table([(0, 0), (0, 2)])], CLASSES, l1_error=L1)
    assert metrics["test"]["macro_f1"]["mean"] == round(2 / 3, 6)


PAIRS = hnp.arrays(np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(0, 2))


@settings(deadline=None)
@given(PAIRS)
def test_scores_equal_scikit_learns(pairs):
    label, predicted = pairs.T
    predictions = [table(pairs.tolist())]
    present = sorted(set(label.tolist()))
    scores = precision_recall_fscore_support(label, predicted, labels=range(3), zero_division=0)
    macro_f1 = summarize(predictions, CLASSES, l1_error=L1)["test"]["macro_f1"]["mean"]
    assert macro_f1 == pytest.approx(scores[2][present].mean(), abs=1e-6)
    balanced = summarize(predictions, CLASSES, l1_error=L1)["test"]["balanced_accuracy"]["mean"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of classes that are only predicted
        assert balanced == pytest.approx(balanced_accuracy_score(label, predicted), abs=1e-6)
    by_class = per_class(predictions, CLASSES)
    for row, key in enumerate(("precision", "recall", "f1", "support")):
        np.testing.assert_allclose([by_class[name][key] for name in CLASSES], scores[row], atol=1e-6)


@pytest.mark.parametrize(
    ("predictions", "classes", "message"),
    [
        ([], CLASSES, "no predictions"),
        ([right(1), table([(-1, 0)])], CLASSES, "trial 1: no test node has a known label"),
        ([table([(0, 0)], val=[(-1, 0)])], CLASSES, "trial 0: no val node has a known label"),
        ([table([(-1, 0)], val=[(-1, 0)])], CLASSES, "trial 0: no val node has a known label"),
        ([table([(3, 0)])], CLASSES, "trial 0: class number 3; expected at most 2"),
        ([table([(0, 3)])], CLASSES, "trial 0: class number 3; expected at most 2"),
        ([right(1)], ["a", "b", "a"], "repeat"),
        ([table([(0, 0)], confidence=float("nan"))], CLASSES, "confidence is nan"),
    ],
)
def test_problems_are_named(predictions, classes, message):
    with pytest.raises(GrandPlusError, match=message):
        summarize(predictions, classes, l1_error=L1)


def test_without_labels_of_test_nodes_validation_is_all_there_is():
    predictions = [table([(-1, 0)], val=[(0, 0), (1, 0)])]
    metrics = summarize(predictions, CLASSES, l1_error=L1)
    assert set(metrics) == {"val", "rows"}
    assert metrics["val"]["accuracy"] == {"mean": 0.5}
    assert per_class(predictions, CLASSES)["a"] == {"precision": 0.5, "recall": 1, "f1": round(2 / 3, 6), "support": 1}


def of_ensemble(file, decision=None):
    return summarize([right(7)], CLASSES, ensemble=load_ensemble(file, decision))["predictions"]


def test_predictions_are_scored_on_labelled_test_nodes(tmp_path):
    parts = ["test", "test", "test", "test", "test", "val"]
    labels, predicted = ["a", "b", "a", "b", None, "a"], ["a", "b", "b", "b", "a", "b"]
    confident = [True, True, True, False, True, True]
    file = predictions_file(tmp_path, parts, labels, predicted, [0.9, 0.9, 0.9, 0.5, 0.9, 0.9], confident)
    # .9 is right in 2 of 3 cases, and .5 in 1 of 1: 3/4 · |2/3 - .9| + 1/4 · |1 - .5|.
    expected = {"nodes": 4, "accuracy": 0.75, "ece": 0.3, "confident": {"share": 0.75, "precision": round(2 / 3, 6)}}
    # Recalls are 1/2 and 1. By P(a) the order is a, b, and the two others together; by P(b) first b and a together.
    ranked = {"average_precision": pytest.approx((3 / 4 + 7 / 12) / 2, abs=1e-6), "auroc": 0.625}
    assert of_ensemble(file) == expected | {"balanced_accuracy": 0.75} | ranked


def test_both_rules_of_two_classes_are_scored_side_by_side(tmp_path):
    labels, second = ["a", "a", "a", "b"], [0.1, 0.2, 0.4, 0.3]
    confidence = [1 - share for share in second]
    file = predictions_file(tmp_path, ["test"] * 4, labels, ["a"] * 4, confidence, [True] * 4, classes=["a", "b"])
    scores = of_ensemble(file, decision=0.25)
    assert scores["most_probable"] == {"accuracy": 0.75, "balanced_accuracy": 0.5}
    assert scores["threshold"] == {"accuracy": 0.75, "balanced_accuracy": pytest.approx(5 / 6, abs=1e-6)}


def test_what_can_not_be_scored_is_left_out(tmp_path):
    file = predictions_file(tmp_path, ["test"], ["a"], ["a"], [0.75], [False])
    alone = {"nodes": 1, "accuracy": 1, "ece": 0.25, "balanced_accuracy": 1, "confident": {"share": 0}}
    assert of_ensemble(file) == alone  # a class that all nodes are of can't be ranked
    assert of_ensemble(predictions_file(tmp_path, ["test"], [None], ["a"], [0.75], [True])) == {"nodes": 0}
    with pytest.raises(GrandPlusError, match=r"absent\.parquet: no such file"):
        load_ensemble(tmp_path / "absent.parquet")


def test_rankings_are_means_over_trials_and_the_classes_that_occur():
    pairs = [(0, 0), (0, 0), (1, 1), (1, 0)]
    probabilities = np.array([[0.8, 0.2, 0], [0.6, 0.4, 0], [0.3, 0.7, 0], [0.7, 0.3, 0]], np.float32)
    rankings = {"test": [rank(np.array([0, 0, 1, 1]), probabilities)] * 2}
    content = summarize([table(pairs)] * 2, CLASSES, rankings=rankings)
    # Of either class one of its two nodes is the first of four, and the other one the third.
    assert content["test"]["average_precision"]["mean"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-6)
    assert content["test"]["auroc"] == {"mean": 0.75, "std": 0, "ci95": 0}
    assert "auroc" not in content["val"]
    by_class = per_class([table(pairs)] * 2, CLASSES, rankings)
    assert by_class["a"]["auroc"] == by_class["b"]["auroc"] == 0.75
    assert "auroc" not in by_class["c"]


def test_a_method_without_rows_has_no_metrics_of_rows():
    with_rows, without = (summarize([right(7)], CLASSES, l1_error=errors) for errors in (L1, None))
    assert "rows" not in without
    assert without | {"rows": with_rows["rows"]} == with_rows


def of_baselines(*accuracies, name="majority", val=0.5):
    return [BaselineScore(trial, name, val, accuracy) for trial, accuracy in enumerate(accuracies)]


def test_the_difference_to_the_best_baseline_is_taken_trial_by_trial():
    baselines = of_baselines(0.6, 0.8, 0.8) + of_baselines(0.9, 0.9, 0.9, name="label_propagation", val=0.25)
    content = summarize([right(7), right(8), right(9)], CLASSES, baselines=baselines)["baselines"]
    assert content["best"] == "majority"  # by validation
    # Differences are .1, 0 and .1.
    half_width = pytest.approx(4.302653 * 0.057735 / 3**0.5, abs=1e-6)
    assert content["difference"] == {"mean": 0.066667, "std": 0.057735, "ci95": half_width}
    assert content["label_propagation"]["test"]["accuracy"]["mean"] == 0.9


def test_splits_that_are_drawn_widen_the_intervals_of_means_and_of_the_difference():
    """Accuracies are .7, .8 and .9; differences .1, 0 and .1."""
    trials, baselines = [right(7), right(8), right(9)], of_baselines(0.6, 0.8, 0.8)
    found = summarize(trials, CLASSES, baselines=baselines, overlap=0.25)
    interval = paired([0.7, 0.8, 0.9], [0.6, 0.8, 0.8], overlap=0.25).interval
    assert found["baselines"]["difference"]["ci95"] == pytest.approx((interval.high - interval.low) / 2, abs=1e-6)
    fixed = summarize(trials, CLASSES, baselines=baselines)
    widened = {
        "test": ("test", "accuracy"),
        "baseline": ("baselines", "majority", "test", "accuracy"),
        "difference": ("baselines", "difference"),
    }
    for name, path in widened.items():
        wide, narrow = (functools.reduce(operator.getitem, path, content) for content in (found, fixed))
        assert wide.pop("ci95") / narrow.pop("ci95") == pytest.approx((1 + 3 * 0.25) ** 0.5, rel=1e-5), name
    assert found["test"]["accuracy"] == fixed["test"]["accuracy"]  # mean and std are as they were


def test_without_test_nodes_the_difference_is_that_of_validation():
    trial = table([], val=[(0, 0), (0, 1)])
    baselines = [BaselineScore(0, "majority", 0.25, None)]
    assert summarize([trial], CLASSES, baselines=baselines)["baselines"]["difference"] == {"mean": 0.25}


def test_every_number_of_metrics_json_is_registered(tmp_path):
    names = {"classes": ["a", "b"]}
    file = predictions_file(tmp_path, ["test"] * 2, ["a", "b"], ["a", "a"], [0.9, 0.9], [True, True], **names)
    of_run = {"l1_error": L1, "ensemble": load_ensemble(file, 0.5), "baselines": of_baselines(0.5, 0.6)}
    ranking = rank(np.array([0, 1]), np.eye(2, dtype=np.float32))
    of_run["rankings"] = {part: [ranking, ranking] for part in ("test", "val")}
    content = summarize([right(7), right(8)], CLASSES, **of_run)
    registered = {f"{part}.{metric.key}" for metric in METRICS for part in metric.parts}
    registered |= {f"baselines.majority.{part}.accuracy.mean" for part in ("test", "val")}
    spread = [f"{part}.{metric.key}" for metric in METRICS for part in metric.parts if metric.spreads]
    spread += [f"baselines.majority.{part}.accuracy.mean" for part in ("test", "val")]
    beside = {key.replace("mean", name) for key in spread for name in ("std", "ci95")}
    assert set(leaves(content)) == registered | beside | {"predictions.nodes", "baselines.best"}


def test_metrics_have_names_of_their_own():
    names = [metric.name(part) for metric in METRICS for part in metric.parts]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert {*metric.in_tables, *metric.only_in_json} <= set(metric.parts) <= set(PARTS)


def test_the_documentation_lists_every_metric():
    """The list as ``grandplus.evaluation.metrics.listed()`` gives it."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(listed() in page.read_text(encoding="utf-8") for page in pages), listed()
