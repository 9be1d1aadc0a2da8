"""What to try depends on what the run had."""

import pytest
import scipy.sparse as sp
from made_facts import facts, graph, rows

from grandplus.evaluation.diagnosis import advice
from grandplus.evaluation.diagnosis.advice import (
    OTHER_FEATURES,
    changed,
    farther,
    nearer,
    other_features,
    own_features,
    two_steps,
    wider,
)
from grandplus.graph.fitted import ARRAYS
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.sgc.settings import Settings as SGC
from grandplus.propagation.gfpush import gfpush


def test_a_value_that_stays_is_no_advice():
    given = facts(settings=Settings(weight_decay=0, hidden=128))
    changes = {"weight_decay": lambda old: old / 10, "hidden": lambda old: 2 * old}
    assert changed(given, **changes) == ["train.hidden=256"]
    assert changed(facts(settings=SGC(weight_decay=1e-4)), **changes) == ["train.weight_decay=1e-05"]


@pytest.mark.parametrize("kind", ARRAYS)
def test_every_kind_of_features_has_another(kind):
    assert other_features(facts(graph=graph(kind=kind))) == [f"preprocess.features={OTHER_FEATURES[kind]}"]
    assert OTHER_FEATURES[kind] in set(ARRAYS) - {kind}


def test_sparse_features_that_are_too_wide_are_not_to_be_standardized(monkeypatch):
    monkeypatch.setattr(advice, "DENSE_VALUES", 140 * 140 - 1)
    assert other_features(facts(graph=graph(features=sp.eye_array(140, format="csr", dtype="f4")))) == []
    assert other_features(facts(graph=graph(kind="adjacency"))) == []
    assert other_features(facts(graph=graph(kind="degree"))) == ["preprocess.features=adjacency"]


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
