"""What to try depends on what the run had."""

import pytest
import scipy.sparse as sp
from made_facts import facts, graph, history, rows

from grandplus.evaluation.diagnosis import advice
from grandplus.evaluation.diagnosis.advice import (
    OTHER_SCALING,
    changed,
    decay_by_training,
    farther,
    nearer,
    other_features,
    own_features,
    two_steps,
    wider,
)
from grandplus.graph.fitted import ARRAYS
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.graphsaint.settings import Settings as GraphSAINT
from grandplus.methods.sgc.settings import Settings as SGC
from grandplus.propagation.gfpush import gfpush


def test_a_value_that_stays_is_no_advice():
    given = facts(settings=Settings(weight_decay=0, hidden=128))
    changes = {"weight_decay": lambda old: old / 10, "hidden": lambda old: 2 * old}
    assert changed(given, **changes) == ["train.hidden=256"]
    assert changed(facts(settings=SGC(weight_decay=1e-4)), **changes) == ["train.weight_decay=1e-05"]


@pytest.mark.parametrize("kind", ARRAYS)
def test_every_kind_of_features_has_another_where_it_says_nothing(kind):
    """Where features tell classes, neighbours in their place are no advice: much of what they tell would be lost."""
    told, untold = ({"majority": [0.25] * 2, "logistic_regression": [found] * 2} for found in (0.78, 0.26))
    other = OTHER_SCALING.get(kind, "adjacency")
    assert other in set(ARRAYS) - {kind}
    assert other_features(facts(graph=graph(kind=kind), baselines=untold)) == [f"preprocess.features={other}"]
    scaled = [f"preprocess.features={other}"] if kind in OTHER_SCALING else []
    assert other_features(facts(graph=graph(kind=kind), baselines=told)) == scaled
    assert other_features(facts(graph=graph(kind=kind))) == scaled


def test_sparse_features_that_are_too_wide_are_not_to_be_standardized(monkeypatch):
    monkeypatch.setattr(advice, "DENSE_VALUES", 140 * 140 - 1)
    assert other_features(facts(graph=graph(features=sp.eye_array(140, format="csr", dtype="f4")))) == []
    assert other_features(facts(graph=graph(kind="adjacency"))) == []


@pytest.mark.parametrize(
    ("accuracy", "advised"),
    [
        ([0.3, 0.7, 0.9, 1.0, 1.0], ["train.weight_decay=0.0001"]),  # the fourth validation is the best
        ([0.3, 0.7, 0.9, 0.98, 1.0], []),
        ([0.3, 0.5, 0.79, 0.79, 0.7], ["train.weight_decay=1e-06"]),
        ([0.3, 0.5, 0.80, 0.79, 0.7], []),
    ],
)
def test_weight_decay_has_a_direction_only_by_training_nodes(accuracy, advised):
    given = facts(settings=SGC(weight_decay=1e-5), history=history(train_accuracy=accuracy))
    assert decay_by_training(given) == advised


def test_of_no_weight_decay_there_is_a_little_more_and_no_less():
    by_heart, unlearnt = (history(train_accuracy=[share] * 5) for share in (1.0, 0.5))
    assert decay_by_training(facts(settings=GraphSAINT(), history=by_heart)) == ["train.weight_decay=0.0001"]
    assert decay_by_training(facts(settings=GraphSAINT(), history=unlearnt)) == []


def test_the_width_of_layers_that_there_are():
    assert wider(facts(settings=Settings(hidden=32))) == ["train.hidden=64"]
    assert wider(facts(settings=Settings(layers=1))) == wider(facts(settings=SGC())) == []


def test_orders_that_can_be_chosen():
    made = graph()
    given = facts(graph=made, rows=rows(made))
    assert (farther(given), nearer(given)) == (["gfpush.order=8"], ["gfpush.order=2"])
    given = facts(graph=made, rows=rows(made, matrix="custom"))
    assert farther(given) == nearer(given) == farther(facts()) == []


@pytest.mark.parametrize(
    ("matrix", "weights", "dropnode", "own", "two"),
    [
        ("avg", [0.2] * 5, 0.5, "matrix=ppr with gfpush.alpha=0.8 and train.dropnode=0 (", True),
        ("avg", [0.2] * 5, 0.0, "matrix=ppr with gfpush.alpha=0.8 (", True),
        ("ppr", [0.8, 0.2], 0.5, "train.dropnode=0 (", True),
        ("ppr", [0.8, 0.2], 0.0, "gfpush.order=0 (", True),
        ("ppr", [0.2, 0.8], 0.0, "matrix=ppr with gfpush.alpha=0.8 (", True),
        ("single", [0, 0, 1], 0.0, "matrix=ppr with gfpush.alpha=0.8 (", False),
        ("single", [0, 0, 0, 1], 0.0, "matrix=ppr with gfpush.alpha=0.8 (", True),
    ],
)
def test_rows_that_a_run_has_are_no_advice(matrix, weights, dropnode, own, two):
    made = graph()
    given = facts(
        graph=made,
        order=len(weights) - 1,
        settings=Settings(dropnode=dropnode),
        rows=gfpush(made, range(140), weights=weights, rmax=1e-6, top_k=32, matrix=matrix),
    )
    assert [text[: len(own)] for text in own_features(given)] == [own]
    assert bool(two_steps(given)) == two


def test_a_method_without_rows_is_not_advised_on_rows():
    without = facts(settings=SGC(), order=None)
    assert own_features(without) == two_steps(without) == []
