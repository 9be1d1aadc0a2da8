"""Rules that compare with baselines and with exact rows."""

from dataclasses import replace

import numpy as np
import pytest
from made_facts import TRAIN_NODES, VAL_NODES, facts, graph, history, predictions, rows

from grandplus.evaluation.diagnosis.facts import Labelled
from grandplus.evaluation.diagnosis.of_comparison import below_baseline, large_l1_error, uninformative_features
from grandplus.methods.sgc.settings import Settings as SGC


def baselines(**changes):
    return {"majority": [0.25, 0.25], "logistic_regression": [0.5, 0.5]} | changes


def test_below_a_baseline():
    """90 of 100 and 72 of 100 right: the difference's standard error is 5.4 points."""
    found, advice = below_baseline(
        facts(predicted=predictions(72), baselines=baselines(propagated_logistic_regression=[0.9, 0.9]))
    )
    assert found == (
        "logistic regression on ΠX is better: 90.00 % of validation nodes are right by it, and 72.00 % by this model"
    )
    assert advice == "train.weight_decay=0.01"  # all training nodes are right


@pytest.mark.parametrize(
    ("right", "theirs", "found"),
    [
        ([85, 85], [0.95, 0.95], True),  # 10 points, and 1.96 × 4.2 by chance
        ([88, 88], [0.95, 0.95], False),  # 7 points, and 1.96 × 3.9
        ([90, 90, 90], [0.92, 0.92, 0.93], True),  # 2.3 points, and by Student over trials ± 1.4
        ([95, 95], [0.9, 0.9], False),
        ([90, 90, 90, 90], [0.905] * 4, False),  # half a point is no reason to change anything
    ],
)
def test_how_far_below(right, theirs, found):
    given = facts(
        trials=len(right),
        predicted=[predictions(count) for count in right],
        baselines={"label_propagation": theirs, "majority": [0.25] * len(right)},
    )
    assert bool(below_baseline(given)) == found


@pytest.mark.parametrize(("shifts", "found"), [((0, 0, 0, 0), True), ((0, 1, 2, 3), False), ((0, 1, 0, 1), False)])
def test_splits_that_are_drawn_anew_or_repeated_tell_less(shifts, found):
    """2 points, ± 1.3 on one split. The shared 40 of 140 nodes make that ± 2.1; two splits in four trials, more."""
    labelled = [Labelled(train=TRAIN_NODES + shift, val=VAL_NODES) for shift in shifts]
    theirs = {"label_propagation": [0.91, 0.92, 0.93, 0.92]}
    assert bool(below_baseline(facts(trials=4, labelled=labelled, baselines=theirs))) == found


@pytest.mark.parametrize(
    ("best", "words"),
    [
        ("logistic_regression", "matrix=ppr with gfpush.alpha=0.8 and train.dropnode=0 (a node's own"),
        ("propagated_logistic_regression", "train.weight_decay=0.01 or train.layers=1"),
        ("majority", "train.weight_decay=0.01 or train.layers=1"),
    ],
)
def test_advice_leads_towards_the_baseline(best, words):
    _, advice = below_baseline(facts(predicted=predictions(10), baselines=baselines(**{best: [0.9, 0.9]}), order=4))
    assert words in advice


def test_without_edges_a_linear_model_is_the_way():
    better = baselines(logistic_regression=[0.9, 0.9])
    for order, advised in ((0, "train.weight_decay=0.01 or train.layers=1"), (None, "train.weight_decay=0.01")):
        _, advice = below_baseline(facts(predicted=predictions(10), baselines=better, order=order))
        assert advice == advised


@pytest.mark.parametrize(
    ("majority", "advised"),
    [(0.25, "gfpush.order=8"), (0.48, "preprocess.features=adjacency or gfpush.order=8")],
)
def test_towards_label_propagation(majority, advised):
    """Neighbours are features only where logistic regression on X, 50 %, is no better than the majority class."""
    made, better = graph(), baselines(label_propagation=[0.9, 0.9], majority=[majority] * 2)
    _, advice = below_baseline(facts(graph=made, predicted=predictions(10), baselines=better, rows=rows(made), order=4))
    assert advice == advised


BETTER = {"propagated_logistic_regression": [0.95, 0.95]}


@pytest.mark.parametrize(
    ("training", "advised"),
    [
        (1.0, "train.weight_decay=0.0001 or grandplus search mine --model sgc"),
        (0.95, "grandplus search mine --model sgc"),
        (0.7, "train.weight_decay=1e-06 or grandplus search mine --model sgc"),
    ],
)
def test_without_evidence_of_a_direction_only_the_search_is_advised(training, advised):
    """Features tell much: 78 % of validation nodes are right by them."""
    given = facts(
        graph=graph(kind="standardize"),
        predicted=predictions(80),
        settings=SGC(),
        history=history(train_accuracy=[training] * 5),
        baselines=baselines(logistic_regression=[0.78, 0.78]) | BETTER,
    )
    _, advice = below_baseline(replace(given, search="grandplus search mine --model sgc"))
    assert advice == advised
    _, of_classifier = below_baseline(given)
    assert of_classifier == (advised.partition(" or ")[0] if training != 0.95 else "other settings")


def test_without_baselines_nothing_is_said_of_them():
    assert not below_baseline(facts(predicted=predictions(1)))
    assert not uninformative_features(facts(predicted=predictions(1)))


@pytest.mark.parametrize(("accuracy", "found"), [(0.25, True), (0.31, True), (0.32, False), (0.5, False)])
def test_features_that_say_nothing(accuracy, found):
    """A standard error is √(2 · 0.25 · 0.75 / 100) = 6.1 points."""
    given = facts(baselines=baselines(logistic_regression=[accuracy, accuracy]))
    assert bool(uninformative_features(given)) == found


def test_features_that_say_nothing_are_told():
    made = graph()
    found, advice = uninformative_features(
        facts(graph=made, rows=rows(made), baselines=baselines(logistic_regression=[0.26, 0.26]))
    )
    assert found == (
        "features say next to nothing of classes: logistic regression on them predicts 26.00 % of validation nodes "
        "right, and the majority class 25.00 %"
    )
    assert advice == "preprocess.features=adjacency, gfpush.order=8 or other features"


def test_rows_that_are_cut_short():
    made = graph()
    cut, pushed_little = rows(made, top_k=1), rows(made, rmax=0.2)
    assert (cut.l1_error > 0.5).mean() == (pushed_little.l1_error > 0.5).mean() == 1
    found, advice = large_l1_error(facts(graph=made, rows=cut))
    assert found == (
        f"rows of Π are cut short: 100.00 % of them have an L1 error above 0.5 (on average {cut.l1_error.mean():.2f})"
    )
    assert advice == "gfpush.top_k=4 or gfpush.order=2"
    _, advice = large_l1_error(facts(graph=made, rows=pushed_little))
    assert advice == "gfpush.rmax=0.02 or gfpush.order=2"
    assert np.mean(rows(made).l1_error) < 0.01
    assert not large_l1_error(facts(graph=made, rows=rows(made)))
    assert not large_l1_error(facts(graph=made))
