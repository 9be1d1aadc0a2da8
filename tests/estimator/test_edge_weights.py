"""The classifiers on graphs with weights or a direction, given in any form."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from communities import NODES, problem, small

import grandplus as gp
from grandplus.graph.adjacency import Adjacency
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError


@pytest.fixture
def weighted():
    """The communities, each edge in one direction, with weights."""
    adjacency, X, y = problem()
    entries = sp.coo_array(adjacency)
    weights = 0.25 + (entries.row * 7 + entries.col) % 5
    return sp.csr_array((weights, (entries.row, entries.col)), shape=adjacency.shape), X, y


def forms(matrix):
    entries = sp.coo_array(matrix)
    starts, ends, weights = entries.row, entries.col, entries.data
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_weighted_edges_from(zip(starts.tolist(), ends.tolist(), weights.tolist(), strict=True))
    index = np.stack([starts, ends])
    return {
        "csr": matrix,
        "dense": matrix.toarray(),
        "networkx": graph,
        "frame": pd.DataFrame({"source": starts, "target": ends, "weight": weights}),
        "frame with dates": pd.DataFrame({"when": 2020, "source": starts, "target": ends, "strength": weights}),
        "edge_weight": SimpleNamespace(edge_index=torch.tensor(index), edge_weight=torch.tensor(weights)),
        "edge_attr": SimpleNamespace(edge_index=torch.tensor(index), edge_attr=torch.tensor(weights)[:, None]),
    }


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_every_form_gives_the_rows_of_the_matrix(weighted, direction):
    matrix, X, y = weighted
    adjacency = Adjacency.of(matrix, weights="use", direction=direction)
    w = propagation_weights("avg", order=1)
    for name, graph in forms(matrix).items():
        classifier = small(max_epochs=2, edge_weights="use", direction=direction, top_k=8).fit(graph, X, y)
        expected = gp.gfpush(adjacency, classifier.rows_.node, weights=w, rmax=1e-5, top_k=8)
        assert classifier.rows_.values.tobytes() == expected.values.tobytes(), name
        assert classifier.rows_.neighbors.tobytes() == expected.neighbors.tobytes(), name


def test_an_adjacency_keeps_its_weights(weighted):
    matrix, X, y = weighted
    adjacency = Adjacency.of(matrix, weights="use")
    kept, given = (small(max_epochs=2, edge_weights="use").fit(graph, X, y) for graph in (adjacency, matrix))
    assert kept.predict_proba().tobytes() == given.predict_proba().tobytes()


def test_weights_and_a_direction_change_predictions_and_later_graphs_have_them_too(weighted):
    matrix, X, y = weighted
    options = [{"edge_weights": "ignore"}, {"edge_weights": "use"}, {"edge_weights": "use", "direction": "out"}]
    classifiers = [small(max_epochs=5, **option).fit(matrix, X, y) for option in options]
    assert len({classifier.predict_proba().tobytes() for classifier in classifiers}) == 3
    for classifier in classifiers:
        assert classifier.predict_proba(matrix, X).tobytes() == classifier.predict_proba().tobytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"edge_weights": None}, r'has an edge of weight .*; say edge_weights="use", or "ignore" to count'),
        ({"edge_weights": "use", "graph": np.array([[0, 1], [1, 2]])}, "has no weights of edges; expected weights"),
        ({"edge_weights": "use", "graph": -1.0}, "has weight -.*; expected 0, for no edge, or from"),
        ({"edge_weights": "use", "direction": "up"}, "direction is 'up'"),
        (
            {"edge_weights": "use", "direction": "out", "graph": nx.Graph([(0, 1, {"weight": 2})])},
            "none of its edges has one",
        ),
        (
            {"edge_weights": "use", "graph": SimpleNamespace(edge_index=[[0], [1]], edge_weight=[2], edge_attr=[3])},
            "has edge_weight and edge_attr; expected the weights in one of them; set the other to None",
        ),
    ],
)
def test_what_is_wrong_is_told(weighted, change, words):
    matrix, X, y = weighted
    graph = change.pop("graph", matrix)
    graph = graph * matrix if isinstance(graph, float) else graph
    with pytest.raises(ArgumentError, match=words):
        small(**change).fit(graph, X, y)


def test_a_method_that_takes_no_weights_says_so(weighted):
    matrix, X, y = weighted
    with pytest.raises(ArgumentError, match='gat takes no weights of edges; set edge_weights="ignore", or choose'):
        gp.NodeClassifier("gat", edge_weights="use", train_per_class=4, val_per_class=14).fit(matrix, X, y)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_a_saved_dataset_has_weights_and_a_direction(weighted, tmp_path, direction, monkeypatch):
    matrix, X, y = weighted
    (tmp_path / "data/catalog").mkdir(parents=True)
    options = {"edge_weights": "use", "direction": direction, "train_per_class": 4, "val_per_class": 14}
    text = gp.save_dataset("own", matrix, X, y, root=tmp_path, **options)
    assert "weights   from 0.25 to 4.25; a walk follows edges by their share of weight" in text
    assert ("followed from their first end to their second" in text) == (direction == "out")
    with np.load(tmp_path / "data/own/own.npz") as saved:
        assert sorted(saved["edge_weights"].tolist()) == sorted(matrix.data.tolist())


def test_a_directed_adjacency_is_refused(weighted):
    matrix, X, y = weighted
    with pytest.raises(ArgumentError, match="the Adjacency has direction in; expected one of both directions"):
        small(edge_weights="use", direction="in").fit(Adjacency.of(matrix, weights="use", direction="in"), X, y)


def test_repeated_entries_of_a_matrix_are_summed():
    repeated = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 3))
    for matrix in (repeated, repeated.tocsr()):
        assert Adjacency.of(matrix, weights="use", direction="out").weights.entries.tolist() == [3.0]


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 2], "edge weights are no array"),
        (None, r"the edge of .* has no weight; expected one, as others have"),
        ("heavy", "edge weights have shape .* and type"),
    ],
)
def test_an_edge_with_something_else_than_a_number_is_told(weighted, weight, words):
    matrix, X, y = weighted
    graph = forms(matrix)["networkx"]
    start, end = next(iter(graph.edges))
    graph[start][end]["weight"] = weight
    with pytest.raises(ArgumentError, match=words):
        small(edge_weights="use").fit(graph, X, y)


def test_float16_matrices_are_taken(weighted):
    matrix, X, y = weighted
    half, single = matrix.toarray().astype(np.float16), matrix.toarray().astype(np.float32)
    first, second = (small(max_epochs=2, edge_weights="use").fit(dense, X, y) for dense in (half, single))
    assert first.predict_proba().tobytes() == second.predict_proba().tobytes()
