"""Predictions of a graph that has grown since ``fit``: as full inference gives them, for every method."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from communities import NODES, problem

import grandplus as gp
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.methods.registry import NAMES, settings_of
from grandplus.runtime.errors import ArgumentError

SHORT = {"epochs": 20, "max_epochs": 20, "warmup": 0}
SMALL = {"train_per_class": 4, "val_per_class": 14}


@pytest.fixture(autouse=True)
def _diagnosis_is_another_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        yield


def grown():
    """The communities with two further nodes and three further edges."""
    adjacency, X, _ = problem()
    larger = sp.lil_array((NODES + 2, NODES + 2))
    larger[:NODES, :NODES] = adjacency
    larger[NODES, 0] = larger[NODES + 1, NODES] = larger[1, 5] = 1
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    return sp.csr_array(larger), np.concatenate([dense, dense[:2] + 1])


@pytest.mark.parametrize("model", NAMES)
def test_each_method_predicts_as_by_full_inference(model):
    short = {name: value for name, value in SHORT.items() if name in settings_of(model).Settings.model_fields}
    classifier = gp.NodeClassifier(model, short, features="standardize", trials=2, **SMALL).fit(*problem())
    adjacency, X = grown()
    fitted = FittedFeatures.from_json(classifier.models_[0].preprocessing)
    merged = Graph(as_adjacency(adjacency), fitted.transform(X), np.full(len(X), -1), [*"012"], np.arange(len(X)))
    expected = classifier.calibration_.combine(one.predict_proba(merged) for one in classifier.models_)
    found = classifier.predict_proba(adjacency, X)
    np.testing.assert_allclose(found, expected, atol=1e-5)  # which more threads of PyTorch gave
    assert classifier.predict(adjacency, X).tolist() == classifier.classes_[found.argmax(axis=1)].tolist()
    assert classifier.confident(adjacency, X).shape == (NODES + 2,)
    same = classifier.predict_proba(*problem()[:2])
    assert np.array_equal(same, classifier.predict_proba())


@pytest.mark.parametrize("features", ["degree", "adjacency", "standardized-adjacency"])
def test_features_of_the_graph_are_made_of_the_grown_one(features):
    classifier = gp.NodeClassifier("sgc", features=features, **SMALL).fit(*problem())
    assert classifier.predict_proba(*grown()).shape == (NODES + 2, 3)
    assert np.array_equal(classifier.predict_proba(*problem()[:2]), classifier.predict_proba())


def test_columns_are_known_by_their_names():
    adjacency, X, y = problem()
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    names = [f"x{i}" for i in range(dense.shape[1])]
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, pd.DataFrame(dense, columns=names), y)
    turned = pd.DataFrame(dense, columns=names)[names[::-1]]
    assert np.array_equal(classifier.predict_proba(adjacency, turned), classifier.predict_proba())
    with pytest.warns(UserWarning, match="X has 1 columns that it had not in fit: more"):
        more = classifier.predict_proba(adjacency, turned.assign(more=1.0))
    assert np.array_equal(more, classifier.predict_proba())
    with pytest.raises(ArgumentError, match=f"X lacks 1 of {len(names)} columns, such as 'x0'"):
        classifier.predict(adjacency, turned[names[1:]])


def test_another_width_and_a_smaller_graph_are_refused():
    adjacency, X, y = problem()
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, X, y)
    with pytest.raises(ArgumentError, match=r"NodeClassifier: X has 2 columns; expected \d+, as in fit"):
        classifier.predict(adjacency, np.ones((NODES, 2)))
    by_neighbors = gp.NodeClassifier("sgc", features="adjacency", **SMALL).fit(adjacency, X, y)
    with pytest.raises(ArgumentError, match=f"the graph has 3 nodes; expected at least {NODES}, the first of them"):
        by_neighbors.predict(np.array([[0, 1], [1, 2]]), np.ones((3, 1)))
