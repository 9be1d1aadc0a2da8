"""NodeClassifier: any method on a graph in memory, with the bytes that ``gp.fit`` gives."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from communities import NODES, problem
from sklearn.base import clone

import grandplus as gp
from grandplus.datasets.in_memory.inputs import inputs_of
from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.estimator.node import NodeClassifier
from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import NAMES, settings_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import PPR
from grandplus.runtime.errors import ArgumentError

SMALL = {"train_per_class": 4, "val_per_class": 14, "features": "as-is"}
SHORT = {"epochs": 20, "max_epochs": 20, "warmup": 0}


def short(model):
    """Settings for a training of a moment."""
    return {name: value for name, value in SHORT.items() if name in settings_of(model).Settings.model_fields}


def prepared(seed):
    adjacency, X, y = problem()
    inputs = inputs_of(adjacency, X, y, edge_weights=None)
    raw = RawGraph(inputs.edges, NODES, inputs.features, y, ["0", "1", "2"], np.arange(NODES), [])
    chosen = Preprocess(features="as-is", split="per-class", train_per_class=4, val_per_class=14)
    return preprocess(raw, chosen, seed=seed, trials=1, name="communities")


@pytest.fixture(autouse=True)
def _diagnosis_is_another_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        yield


@pytest.mark.parametrize("model", NAMES)
def test_each_method_gives_the_bytes_of_its_own_fit(model):
    settings = short(model)
    needs_rows, kind = settings_of(model).NEEDS_ROWS, settings_of(model).Settings
    of_rows = {"order": 3, "rmax": 1e-4, "top_k": 16} if needs_rows else {}
    matrix = {"matrix": "ppr"} if needs_rows and not kind.own_rows else {}
    classifier = NodeClassifier(model, settings | of_rows, random_state=5, **matrix, **SMALL).fit(*problem())
    graph, splits = prepared(seed=5)
    rows = None
    if needs_rows:
        own = (kind.own_rows or {}) | of_rows
        weights = PPR(order=own["order"], alpha=own.get("alpha", 0.2)).weights()
        rows = gfpush(graph, splits.needing_rows(), weights=weights, rmax=own["rmax"], top_k=own["top_k"], matrix="ppr")
    task = gp.Task(graph, splits.of(0), rows, [5, 0])
    expected = gp.fit(task, kind(**settings)).model.predict_proba(graph)
    [trained] = classifier.models_
    assert (trained.method, trained.settings) == (model, kind(**settings))
    assert trained.predict_proba(graph).tobytes() == expected.tobytes()
    assert (classifier.rows_ is None) == (not needs_rows)
    np.testing.assert_array_equal(classifier.predict(), classifier.classes_[classifier.predict_proba().argmax(axis=1)])


@pytest.mark.parametrize("model", NAMES)
def test_an_X_without_columns_is_none(model):
    adjacency, _, y = problem()
    for X in (np.empty((NODES, 0)), sp.csr_array((NODES, 0))):
        with pytest.raises(ArgumentError, match="X has no columns, and features is as-is; expected X, or features of"):
            NodeClassifier(model, short(model), **SMALL).fit(adjacency, X, y)
    made = NodeClassifier("sgc", **SMALL | {"features": "degree"})
    assert np.array_equal(*(made.fit(adjacency, X, y).predict_proba() for X in (np.empty((NODES, 0)), None)))


def test_it_learns_and_follows_the_conventions_of_scikit_learn():
    classifier = clone(NodeClassifier(model="sgc", settings={"order": 1, "lr": None}, trials=2, **SMALL))
    assert classifier.get_params()["settings"] == {"order": 1, "lr": None}
    assert classifier.set_params(settings={"order": np.int64(2)}).settings == {"order": 2}
    adjacency, X, y = problem()
    assert classifier.fit(adjacency, X, y).score(np.arange(NODES), y) > 0.95
    assert len(classifier.models_) == 2
    assert classifier.models_[0].settings.order == 2
    assert classifier.models_[0].settings.lr == 0.2  # the default, as of params.yaml's null


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "GCN"}, "model is 'GCN'; expected one of .*; did you mean gcn"),
        ({"model": None}, "model is None; expected one of"),
        (
            {"settings": {"hiden": 8}},
            "settings.hiden = 8 is not a setting; .*did you mean settings.hidden",
        ),
        ({"settings": {"top_k": 8}}, "settings.top_k = 8 has no effect, as model is gcn; leave it out, or set model"),
        ({"settings": {"heads": 3}}, "settings.heads = 3 has no effect, as model is gcn; .*, or set model to gat$"),
        ({"settings": {"trials": 8}}, "settings.trials = 8 is not a setting"),
        ({"settings": {3: 8}}, "settings.3 = 8 is not a setting"),
        ({"settings": 8}, "settings is a int; expected a mapping, such as {'hidden': 32}, or None"),
        ({"settings": {"hidden": 0}}, "hidden is 0; expected greater than or equal to 1"),
        ({"matrix": "ppr"}, "matrix is 'ppr'; expected None, as gcn needs no rows of a matrix"),
        ({"model": "pprgo", "matrix": "ppr"}, "matrix is 'ppr'; expected None, as pprgo has a matrix of its own"),
        ({"model": "pprgo", "settings": {"heat_time": 8}}, "settings.heat_time = 8 has no effect, as model is pprgo; "),
        ({"model": "grandplus", "matrix": "pr"}, "matrix is 'pr'; expected one of"),
        ({"model": "grandplus", "settings": {"alpha": 0.1}}, "alpha is 0.1; expected None, as matrix is avg"),
        ({"trials": 0}, "trials is 0"),
    ],
)
def test_a_mistake_is_named_in_one_line(changes, words):
    with pytest.raises(ArgumentError, match=f"^NodeClassifier: {words}") as error:
        NodeClassifier(**SMALL | changes).fit(*problem())
    assert "\n" not in str(error.value)
