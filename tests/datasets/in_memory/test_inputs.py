"""One graph in every form that a notebook has it gives the same arrays; a wrong one gives one line."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grandplus.datasets.in_memory.inputs import Inputs, inputs_of
from grandplus.datasets.in_memory.labels import numbered_labels
from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.runtime.errors import ArgumentError

try:
    import pandas
except ImportError:  # it is no dependency of the library
    pandas = None  # type: ignore[assignment]
NEEDS_PANDAS = pytest.mark.skipif(pandas is None, reason="pandas is not installed")


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Edges (2, E) with duplicates and self-loops, X (n, d) and y (n,) of a few classes and -1."""
    nodes = draw(st.integers(3, 12))
    edges = draw(arrays.arrays(np.int64, (2, draw(st.integers(1, 40))), elements=st.integers(0, nodes - 1)))
    values = st.floats(-8, 8, width=32)
    X = draw(arrays.arrays(np.float32, (nodes, draw(st.integers(1, 4))), elements=values))
    y = draw(arrays.arrays(np.int64, nodes, elements=st.integers(-1, 2)))
    y[:2] = [0, 1]
    return edges, X, y


def forms(edges: Any, nodes: int) -> dict[str, Any]:
    """The same graph in all forms that name nodes by row numbers."""
    dense = np.zeros((nodes, nodes))
    dense[tuple(edges)] = 1
    ones, shape = np.ones(edges.shape[1]), (nodes, nodes)
    graph = nx.MultiDiGraph(list(map(tuple, edges.T.tolist())))
    graph.add_nodes_from(range(nodes))
    adjacency = build_adjacency(edges, nodes)[0]
    of_scipy = {kind: getattr(sp, f"{kind}_array")(dense) for kind in ("csr", "coo", "csc", "lil", "dok", "bsr", "dia")}
    return of_scipy | {
        "coo with duplicates": sp.coo_matrix((ones, tuple(edges)), shape=shape),
        "explicit zeros": sp.csr_array((dense.ravel(), (np.arange(nodes**2) // nodes, np.arange(nodes**2) % nodes))),
        "dense": dense,
        "dense, bool": dense > 0,
        "dense, float32, Fortran order": np.asfortranarray(dense, np.float32),
        "nested lists": dense.astype(int).tolist(),
        "dense tensor": torch.tensor(dense, requires_grad=True),
        "sparse tensor": torch.tensor(dense).to_sparse(),
        "sparse CSR tensor": torch.tensor(dense).to_sparse_csr(),
        "networkx": graph,
        "networkx, undirected": nx.Graph(graph),
        "Adjacency": adjacency,
        "edge_index": edges,
        "edge_index, int32": edges.astype(np.int32),
        "edge_index, uint64": edges.astype(np.uint64),
        "edge_index, tensor": torch.tensor(edges),
        "edge_index, lists": edges.tolist(),
        "Data": SimpleNamespace(edge_index=torch.tensor(edges), edge_attr=None),
    }


def same(inputs: Inputs, edges: Any, X: Any) -> None:
    """As if the edges had been given as they are."""
    adjacency, expected = (build_adjacency(np.asarray(found), len(X))[0] for found in (inputs.edges, edges))
    assert inputs.nodes == len(X)
    assert adjacency.fingerprint == expected.fingerprint
    features = inputs.features
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features.toarray() if sp.issparse(features) else features, X)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_every_form_of_a_graph_gives_the_same(problem):
    edges, X, y = problem
    for graph in forms(edges, len(y)).values():
        same(inputs_of(graph, X, y), edges, X)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_every_form_of_features_and_labels_gives_the_same(problem):
    edges, X, y = problem
    of_X = [X, X.astype(float), X.tolist(), sp.csr_array(X), sp.coo_matrix(X), sp.csc_array(X), torch.tensor(X)]
    for features in [*of_X, torch.tensor(X).to_sparse(), torch.tensor(X).to_sparse_csr()]:
        same(inputs_of(edges, features, y), edges, X)
    classes, numbers = numbered_labels(y, len(y))
    of_y = [y.tolist(), y[:, None], torch.tensor(y), np.where(y < 0, np.nan, y), np.where(y < 0, None, y)]
    for labels in of_y:
        given_classes, given_numbers = numbered_labels(labels, len(y))
        assert given_classes.tolist() == classes.tolist()
        assert given_numbers.tolist() == numbers.tolist()
    names = np.array(["a", "b", "c", ""])
    assert numbered_labels(names[y], len(y))[1].tolist() == numbers.tolist()


@NEEDS_PANDAS
@settings(max_examples=30, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_ids_are_looked_up_in_the_index_of_x(problem, random):
    edges, X, y = problem
    for ids in ([f"id-{number}" for number in range(len(y))], [7 * number + 3 for number in range(len(y))]):
        random.shuffle(ids)
        frame = pandas.DataFrame(X, index=ids, columns=[f"column {number}" for number in range(X.shape[1])])
        named = np.array(ids, object)[edges]
        graph = nx.Graph(list(map(tuple, named.T.tolist())))
        graph.add_nodes_from(random.sample(ids, len(ids)))
        tables = {
            "named": pandas.DataFrame({"target": named[1], "source": named[0]}),
            "not named": pandas.DataFrame(named.T),
            "other names": pandas.DataFrame({"customer": named[0], "friend": named[1]}),
            "networkx": graph,
        }
        for table in tables.values():
            inputs = inputs_of(table, frame, y)
            same(inputs, edges, X)
            assert inputs.feature_names == list(frame.columns)
            assert inputs.node_ids.tolist() == ids
        same(inputs_of(edges, frame, y), edges, X)  # an edge_index has row numbers
        features = inputs_of(tables["named"], None, pandas.Series(y, index=ids)).edges
        assert build_adjacency(features, len(y))[0].fingerprint == build_adjacency(edges, len(y))[0].fingerprint
    plain = pandas.DataFrame(edges.T, columns=["from", "to"])
    same(inputs_of(plain, X, y), edges, X)
    assert inputs_of(plain, pandas.DataFrame(X), y).node_ids is None


@NEEDS_PANDAS
def test_labels_of_pandas():
    marks = ["a", "b", None, "a"]
    kinds = [
        pandas.Series(marks),
        pandas.Series(marks, dtype="string"),
        pandas.Categorical(marks),
        pandas.DataFrame({"y": marks}),
        pandas.Series([0, 1, None, 0], dtype="Int64"),
        pandas.Series([0, 1, None, 0]),
    ]
    for labels in kinds:
        classes, numbers = numbered_labels(labels, 4)
        assert classes.tolist() in (["a", "b"], [0, 1])
        assert numbers.tolist() == [0, 1, -1, 0]


@NEEDS_PANDAS
def test_tables_of_mixed_numbers_are_numbers():
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    frame["d"] = pandas.array([3, 4], dtype="Int64")
    features = inputs_of([[0], [1]], frame, [0, 1]).features
    assert features.tolist() == [[1, 0.5, 1, 3], [2, 1.5, 0, 4]]


def test_what_is_float32_is_not_copied():
    X = np.random.default_rng(0).random((4, 3)).astype(np.float32)
    sparse = sp.csr_array(X)
    tensor = torch.tensor(X)
    for matrix, memory in ((X, X), (tensor, tensor.numpy())):
        assert np.shares_memory(inputs_of([[0], [1]], matrix).features, memory)
    sparse.data.flags.writeable = False
    assert np.shares_memory(inputs_of([[0], [1]], sparse).features.data, sparse.data)
    if pandas is not None:
        assert np.shares_memory(inputs_of([[0], [1]], pandas.DataFrame(X, copy=False)).features, X)


def test_what_has_to_be_changed_is_copied():
    matrix = sp.csr_array((np.array([1, 0, 2], np.float32), [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    assert inputs_of([[0], [1]], matrix).features.toarray().tolist() == [[0, 1], [2, 0]]
    assert matrix.data.tolist() == [1, 0, 2]
    assert matrix.indices.tolist() == [1, 0, 0]


RING = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
DENSE = np.zeros((4, 4))
DENSE[tuple(RING)] = 1
X, Y = np.eye(4), [0, 1, 0, 1]


def weighted(weight: float) -> Any:
    return nx.Graph([(0, 1, {"weight": weight}), (1, 2)])


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (2 * DENSE, "adjacency: has an edge of weight 2; expected edges without weights; say"),
        (sp.csr_array(0.5 * DENSE), 'weight 0.5; .*; say edge_weights="use", or "ignore" to count every edge once'),
        (-DENSE, "has an edge of weight -1"),
        (weighted(3), "graph: the edge of 0 and 1 has a weight; expected edges without weights"),
        (SimpleNamespace(edge_index=RING, edge_weight=np.ones(4)), "the graph has edge_weight; expected edges without"),
    ],
)
def test_weights_are_refused_unless_they_are_to_be_ignored(graph, words):
    with pytest.raises(ArgumentError, match=words):
        inputs_of(graph, X, Y)
    assert len(inputs_of(graph, X, Y, edge_weights="ignore").edges) == 2


@pytest.mark.parametrize("ignore", [None, "ignore"])
@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.where(DENSE > 0, np.nan, 0), "adjacency: has an edge of weight nan; expected finite numbers"),
        (sp.csr_array(np.where(DENSE > 0, np.inf, 0)), "adjacency: has an edge of weight inf"),
        (DENSE[:3], "adjacency: has shape 3 x 4; expected .n, n., or .2, E. for an edge_index"),
        (sp.csr_array(DENSE[:3]), "adjacency: has shape 3 x 4; expected a square matrix"),
        (RING.T, "adjacency: has shape 4 x 2; .*; transpose it"),
        (RING / 1, "edge_index is float64 2 x 4; expected .2, E. whole numbers"),
        (RING[:, :, None], "graph is int64 2 x 4 x 1; expected a scipy sparse matrix"),
        (RING + 1, "edge_index: edge 2 joins 3 and 4; expected nodes from 0 to 3"),
        (RING - 1, "edge_index: edge 0 joins -1 and 0"),
        (SimpleNamespace(edge_index=RING[0]), "edge_index is int64 4; expected .2, E. whole numbers"),
        (SimpleNamespace(edge_index=[[0, 1], [1]]), "edge_index is no array"),
        (np.ones((3, 3)), "X: is float64 4 x 4; expected numbers in 3 rows, as by the adjacency"),
        (DENSE.astype(complex), "graph is complex128 4 x 4"),
        (DENSE.astype(str), "graph is <U32 4 x 4"),
        ("karate", "graph is a str; expected a scipy sparse matrix"),
        (None, "graph is a NoneType"),
        ({0: [1]}, "graph is a dict"),
        (SimpleNamespace(x=X, y=Y), "graph is a SimpleNamespace"),
        (nx.Graph([("ann", "bob")]), "graph: names node 'ann'; expected row numbers of X; make X a DataFrame whose"),
        (nx.Graph([(0, 4)]), "graph: names node 4; expected row numbers of X, from 0 to 3"),
        (nx.Graph([((0, 1), (1, 1))]), r"graph: names node \(0, 1\)"),
    ],
)
def test_what_is_no_graph_is_told_in_a_line(graph, words, ignore):
    with pytest.raises(ArgumentError, match=words) as caught:
        inputs_of(graph, X, Y, edge_weights=ignore)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (np.where(X > 0, np.nan, X), "X: row 0, column 0 is nan; expected a number from -1e.15 to 1e.15"),
        (sp.csr_array(np.where(X > 0, np.inf, X)), "X: row 0, column 0 is inf"),
        (X[:, 0], "X: is float64 4; expected numbers in 4 rows"),
        (X.astype(str), "X: is <U32 4 x 4"),
        ([[1, 2], [3]], "X is no array"),
        (np.ma.masked_less(np.eye(4), 1), "X has 12 masked values; expected none; fill them in, by filled"),
        (torch.ones(4, 2).bfloat16(), "X is no array"),
        (7, "X and y are .*; expected a row and a label for each node"),
    ],
)
def test_what_are_no_features_is_told_in_a_line(features, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        inputs_of(RING, features, Y)
    assert "\n" not in str(caught.value)


@NEEDS_PANDAS
@pytest.mark.parametrize(
    ("edges", "index", "words"),
    [
        (
            {"source": ["a", "x"], "target": ["b", "c"]},
            "abcd",
            "edges: names node 'x'; expected ids in the index of X,",
        ),
        ({"source": ["a"], "target": [None]}, "abcd", "edges: names node (None|nan); expected ids in the index of X"),
        (
            {"source": [0], "target": [1]},
            "abcd",
            "edges: names node 0; expected ids in the index of X, such as 'a', 'b'",
        ),
        ({"source": ["a"], "target": ["b"]}, "abca", "X: the index holds 'a' twice; expected each node once"),
        (
            {"source": ["a"], "target": ["b"], "weight": [2]},
            "abcd",
            "edges: has further columns: 'weight'; expected the two ends",
        ),
        (
            {"a": ["a"], "b": ["b"], "c": ["c"]},
            "abcd",
            "edges: columns are a, b, c; expected two, or source and target",
        ),
        ({"source": ["a"], "target": ["b"]}, None, "edges: names node 'a'; expected row numbers of X; make X a DataFr"),
        ({"source": [0.0], "target": [1.0]}, None, "edges: names node 0.0; expected row numbers of X"),
    ],
)
def test_wrong_tables_of_edges_are_told_in_a_line(edges, index, words):
    features = X if index is None else pandas.DataFrame(X, index=list(index))
    with pytest.raises(ArgumentError, match=words) as caught:
        inputs_of(pandas.DataFrame(edges), features, Y)
    assert "\n" not in str(caught.value)


@NEEDS_PANDAS
def test_rows_of_x_and_y_are_the_same_nodes():
    """As pandas would align them, and an array can't tell."""
    frame, labels = pandas.DataFrame(X, index=list("abcd")), pandas.Series(Y, index=list("abcd"))
    assert inputs_of(RING, frame, labels).nodes == 4
    for wrong in (labels[::-1], pandas.Series(Y)):
        with pytest.raises(ArgumentError, match="X and y have different indexes; expected the same nodes in the same"):
            inputs_of(RING, frame, wrong)


def test_no_library_of_graphs_or_tables_is_imported():
    modules = [f"grandplus.datasets.in_memory.{name}" for name in ("inputs", "labels", "splits")]
    code = f"import sys, {', '.join(modules)}; print({{'networkx', 'pandas', 'torch'}} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


@NEEDS_PANDAS
def test_further_columns_of_edges_can_be_left_out():
    edges = pandas.DataFrame({"weight": [2, 3], "source": [0, 1], "target": [1, 2]})
    assert inputs_of(edges, X, Y, edge_weights="ignore").edges.tolist() == [[0, 1], [1, 2]]


@NEEDS_PANDAS
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", "b", "c", "d"], "X: column 'c' holds (str|object); expected numbers; encode it as numbers"),
        (np.array(["2026-01-01"] * 4, "datetime64[s]"), "X: column 'c' holds datetime64"),
        ([1.0, None, 3.0, 4.0], "X: node 1, column 'c' is nan"),
    ],
)
def test_wrong_columns_are_told_by_name(column, words):
    frame = pandas.DataFrame({"b": [1, 2, 3, 4], "c": column})
    with pytest.raises(ArgumentError, match=words):
        inputs_of(RING, frame, Y)


def test_there_is_something_to_count_nodes_by():
    with pytest.raises(ArgumentError, match="there are neither features nor labels; expected X, y or both"):
        inputs_of(RING)
    assert inputs_of(RING, y=Y).nodes == 4
    adjacency = inputs_of(Adjacency(np.array([0, 1, 2]), np.array([1, 0])), y=[0, 1])
    assert adjacency.edges.tolist() == [[0, 1], [1, 0]]


def test_data_of_pytorch_geometric():
    data = pytest.importorskip("torch_geometric.data")
    made = data.Data(edge_index=torch.tensor(RING), x=torch.tensor(X), y=torch.tensor(Y), train_mask=torch.ones(4) > 0)
    inputs = inputs_of(made)
    same(inputs, RING, X)
    assert list(inputs.masks) == ["train_mask"]
    for wrong in (data.Data(x=torch.tensor(X)), data.HeteroData()):
        with pytest.raises(ArgumentError, match=r"graph is a (Hetero)?Data; expected"):
            inputs_of(wrong, X, Y)


SEGMENTS = {"segment": ["a", "b"] * 4, "name": [f"n{i}" for i in range(8)], "since": ["2020-01-31"] * 8}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_text_may_be_the_missing_y(library):
    library = pytest.importorskip(library).DataFrame
    edges = library({"source": [0, 1], "target": [1, 2]})
    with pytest.raises(ArgumentError, match=r"y is missing; .*; if segment is the class, say y='segment'"):
        inputs_of(edges, library({"x": range(8), **SEGMENTS}))
    with pytest.raises(ArgumentError, match=r"y is missing; expected labels, or the name of the column of X"):
        inputs_of(edges, library({"x": range(8), "name": SEGMENTS["name"]}))
    with pytest.raises(ArgumentError, match=r"y is 'Segmnt'; .*; did you mean segment?"):
        inputs_of(edges, library({"x": range(8), **SEGMENTS}), "Segmnt")
    with pytest.raises(ArgumentError, match=r"column 'name' holds .*; expected numbers"):
        inputs_of(edges, library({"x": range(8), "name": SEGMENTS["name"]}), [0, 1] * 4)
    with pytest.raises(ArgumentError, match=r"edges: has further columns: 'since'; expected the two ends"):
        inputs_of(library({"source": [0], "target": [1], "since": ["2020-01-31"]}), np.eye(8), [0, 1] * 4)
