"""Predictions of a graph that has grown since ``fit``: as full inference gives them, for every method."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
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


def test_columns_that_are_called_the_same_keep_their_order():
    adjacency, X, y = problem()
    dense = (X.toarray() if sp.issparse(X) else X)[:, :3]
    named = lambda names: pd.DataFrame(dense, columns=names)  # noqa: E731
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, named(["a", "a", "b"]), y)
    same = classifier.predict_proba(adjacency, named(["a", "a", "b"]))
    assert np.array_equal(same, classifier.predict_proba())
    for other in (["a", "b", "a"], ["b", "a", "c"]):
        with pytest.raises(ArgumentError, match="X: 2 columns are called 'a'; expected another name for each"):
            classifier.predict_proba(adjacency, named(other))
    unique = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, named(["a", "b", "c"])[["a", "b"]], y)
    with pytest.raises(ArgumentError, match="X: 2 columns are called 'a'"):
        unique.predict_proba(adjacency, named(["a", "b", "a"]))


def test_another_width_and_a_smaller_graph_are_refused():
    adjacency, X, y = problem()
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, X, y)
    with pytest.raises(ArgumentError, match=r"NodeClassifier: X has 2 columns; expected \d+, as in fit"):
        classifier.predict(adjacency, np.ones((NODES, 2)))
    by_neighbors = gp.NodeClassifier("sgc", features="adjacency", **SMALL).fit(adjacency, X, y)
    with pytest.raises(ArgumentError, match=f"the graph has 3 nodes; expected at least {NODES}, the first of them"):
        by_neighbors.predict(np.array([[0, 1], [1, 2]]), np.ones((3, 1)))


@pytest.mark.parametrize("features", ["degree", "adjacency", "standardized-adjacency"])
def test_features_that_are_made_of_edges_need_no_X(features):
    adjacency, _, y = problem()
    classifier = gp.NodeClassifier("sgc", features=features, **SMALL).fit(adjacency, y=y)
    larger = grown()[0]
    expected = classifier.predict_proba(larger, np.empty((NODES + 2, 0)))
    for graph in (larger, larger.toarray(), as_adjacency(larger), nx.from_scipy_sparse_array(larger)):
        assert np.array_equal(classifier.predict_proba(graph), expected)
    assert classifier.embeddings(larger).shape[0] == NODES + 2
    assert classifier.predict_proba([3, 1]).shape == (2, 3)
    with pytest.raises(ArgumentError, match=r"does not say how many nodes it has; give X too.*np.empty\(\(n, 0\)\)"):
        classifier.predict(np.array(sp.coo_array(larger).coords))


def test_a_graph_that_brings_its_features_is_predicted_as_it_was_fitted():
    data = pytest.importorskip("torch_geometric.data")
    adjacency, X, y = problem()

    def made(matrix, features):
        edges = torch.tensor(np.array(sp.coo_array(matrix).coords))
        return data.Data(x=torch.tensor(np.asarray(features), dtype=torch.float32), edge_index=edges)

    dense = X.toarray() if sp.issparse(X) else X
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(made(adjacency, dense), y=y)
    larger, features = grown()
    found = classifier.predict_proba(made(larger, features))
    assert np.array_equal(found, classifier.predict_proba(larger, features))
    assert classifier.predict(made(larger, features)).shape == (NODES + 2,)
    assert np.array_equal(classifier.embeddings(made(larger, features)), classifier.embeddings(larger, features))


def test_a_matrix_in_place_of_row_numbers_is_a_mistake_where_X_is_needed():
    adjacency, X, y = problem()
    classifier = gp.NodeClassifier("sgc", **SMALL).fit(adjacency, X, y)
    with pytest.raises(ArgumentError, match=rf"expected row numbers, or a mask of {NODES}"):
        classifier.predict(np.ones((NODES, 2)))
