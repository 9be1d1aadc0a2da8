"""Exact products ΠX against dense float64."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import EDGE_CASES, FIVE, graphs, mixtures, seeded
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.graph import Graph
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.power import propagate
from grandplus.runtime.errors import ArgumentError

LARGER = seeded(2500, 9000)  # several blocks of rows
PPR = propagation_weights("ppr", order=10, alpha=0.2)
FAMILIES = pytest.mark.parametrize(
    ("matrix", "parameters"),
    [("ppr", {"alpha": 0.3}), ("avg", {}), ("single", {}), ("heat", {"heat_time": 2.0})],
    ids=["ppr", "avg", "single", "heat"],
)


def features_of(nodes: int, width: int = 5) -> np.ndarray:
    return np.random.default_rng(nodes).normal(size=(nodes, width)).astype(np.float32)


@st.composite
def problems(draw):
    edges = draw(graphs())
    shape = (edges.nodes, draw(st.integers(1, 4)))
    elements = st.floats(-1000, 1000, width=32)
    return edges, draw(hnp.arrays(np.float32, shape, elements=elements)), draw(mixtures())


@given(problems())
def test_products_equal_dense_ones(problem):
    edges, x, w = problem
    product = propagate(edges.matrix, x, weights=w)
    assert product.dtype == np.float32
    assert product.flags.c_contiguous
    # Rounded to float32 some 30 times on the way, relative to the largest value that is mixed; and the
    # smallest numbers to 0.
    assert product == pytest.approx(
        edges.pi(w) @ x.astype(np.float64), rel=1e-6, abs=3e-6 * float(np.abs(x).max()) + 1e-37
    )


@pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())
@FAMILIES
def test_products_on_odd_graphs(edges, matrix, parameters):
    w, x = propagation_weights(matrix, order=4, **parameters), features_of(edges.nodes)
    assert propagate(edges.matrix, x, weights=w) == pytest.approx(edges.pi(w) @ x, abs=2e-6)


def test_a_product_by_hand():
    # P of the five nodes: row v holds 1/d at v and its neighbours; d = 3, 3, 4, 2, 1.
    p = propagate(FIVE.matrix, np.eye(5, dtype=np.float32), weights=[0, 1])
    assert p * 12 == pytest.approx(
        np.array([[4, 4, 4, 0, 0], [4, 4, 4, 0, 0], [3, 3, 3, 3, 0], [0, 0, 6, 6, 0], [0, 0, 0, 0, 12]]), rel=1e-6
    )
    # Of x = 0, 1, 2, 3, 4: half of a node's own, half of the mean of its neighbourhood: 1, 1, 1.5, 2.5, 4.
    x = np.arange(5, dtype=np.float32)[:, None]
    product = propagate(FIVE.matrix, x, weights=[0.5, 0.5])
    assert product.ravel() == pytest.approx([(0 + 1) / 2, (1 + 1) / 2, (2 + 1.5) / 2, (3 + 2.5) / 2, 4])


@FAMILIES
def test_rows_of_pi_sum_to_one(matrix, parameters):
    ones = np.ones((LARGER.nodes, 1), np.float32)
    product = propagate(LARGER.matrix, ones, weights=propagation_weights(matrix, order=10, **parameters))
    assert product == pytest.approx(ones, abs=2e-6)


def test_isolated_nodes_keep_their_own_features():
    edges = EDGE_CASES["two parts and isolated nodes"]
    x = features_of(edges.nodes)
    isolated = [0, 3, 6, 8]
    assert np.array_equal(propagate(edges.matrix, x, weights=[0, 0, 0, 1.0])[isolated], x[isolated])
    assert propagate(edges.matrix, x, weights=PPR)[isolated] == pytest.approx(x[isolated], rel=1e-6)


@pytest.mark.parametrize("columns", [1, 2, 5, 9])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_columns_at_a_time_and_where_they_go_change_no_byte(kind, columns, tmp_path):
    x = np.maximum(features_of(LARGER.nodes), 0)
    whole = propagate(LARGER.matrix, kind(x), weights=PPR)
    mapped = np.memmap(tmp_path / "out", np.float32, "w+", shape=x.shape)
    for out in (None, mapped):
        product = propagate(LARGER.matrix, kind(x), weights=PPR, columns=columns, out=out)
        assert np.asarray(product).tobytes() == whole.tobytes()
    assert propagate(LARGER.matrix, x, weights=PPR, columns=columns, out=x).tobytes() == whole.tobytes()  # in place


def test_order_zero_returns_the_features_themselves():
    x = features_of(5)
    product = propagate(FIVE.matrix, x, weights=[1.0])
    assert np.array_equal(product, x)
    assert not np.shares_memory(product, x)


def test_the_number_of_workers_changes_nothing(monkeypatch):
    x = features_of(LARGER.nodes)
    results = set()
    for workers in (1, 2, 5):
        monkeypatch.setenv("GRANDPLUS_WORKERS", str(workers))
        results.add(propagate(LARGER.matrix, x, weights=PPR).tobytes())
    assert len(results) == 1


def test_the_larger_graph_agrees_with_scipy_in_float64():
    x = features_of(LARGER.nodes)
    adjacency = as_adjacency(LARGER.matrix)
    ones = np.ones(len(adjacency.indices))
    a = sp.csr_array((ones, adjacency.indices, adjacency.indptr)) + sp.eye_array(LARGER.nodes)
    p = sp.diags_array(1 / a.sum(axis=1)) @ a
    power = x.astype(np.float64)
    expected = PPR[0] * power
    for weight in PPR[1:]:
        power = p @ power
        expected = expected + weight * power
    assert propagate(adjacency, x, weights=PPR) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array])
def test_sparse_features_give_the_same(kind):
    x = features_of(LARGER.nodes) * (np.random.default_rng(1).random((LARGER.nodes, 5)) < 0.2)
    expected = propagate(LARGER.matrix, x, weights=PPR)
    assert np.array_equal(propagate(LARGER.matrix, kind(x), weights=PPR), expected)


def test_features_in_another_layout_or_precision_give_the_same():
    x = features_of(LARGER.nodes)
    expected = propagate(LARGER.matrix, x, weights=PPR)
    read_only = x.copy()
    read_only.flags.writeable = False
    for other in (np.asfortranarray(x), x.astype(np.float64), np.repeat(x, 2, axis=0)[::2], read_only):
        assert np.array_equal(propagate(LARGER.matrix, other, weights=PPR), expected)


def test_neither_graph_nor_features_are_written_to():
    x, adjacency = features_of(LARGER.nodes), as_adjacency(LARGER.matrix)
    before = [part.copy() for part in (x, adjacency.indptr, adjacency.indices)]
    propagate(adjacency, x, weights=PPR)
    for part, copy in zip((x, adjacency.indptr, adjacency.indices), before, strict=True):
        assert np.array_equal(part, copy)


def test_mapped_graphs_int64_ids_and_graphs_are_taken(tmp_path):
    x, adjacency = features_of(LARGER.nodes), as_adjacency(LARGER.matrix)
    expected = propagate(adjacency, x, weights=PPR)
    adjacency.save(tmp_path)
    wide = Adjacency(adjacency.indptr, adjacency.indices.astype(np.int64))
    graph = Graph(adjacency, x, np.zeros(LARGER.nodes, np.int64), ["a"], np.arange(LARGER.nodes))
    for given_graph in (Adjacency.load(tmp_path), wide, graph):
        assert np.array_equal(propagate(given_graph, x, weights=PPR), expected)


def test_training_rows_and_inference_agree():
    # With all pushed and kept, Π̃X of training is ΠX of inference.
    edges = seeded(200, 500)
    x = features_of(200)
    rows = gfpush(edges.matrix, range(200), weights=PPR, rmax=0, top_k=200)
    assert rows.to_csr() @ x == pytest.approx(propagate(edges.matrix, x, weights=PPR), abs=3e-6)


def test_features_of_another_number_of_nodes_are_refused():
    with pytest.raises(ArgumentError, match="features have 4 rows; expected 5, one a node"):
        propagate(FIVE.matrix, np.ones((4, 2), np.float32), weights=[1.0])


@pytest.mark.parametrize("weights", [[], [0.5], [-1.0, 2.0], [float("nan"), 1.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ArgumentError, match="at least 0 and summing to 1"):
        propagate(sp.csr_array(np.eye(3)), np.eye(3, dtype=np.float32), weights=weights)


@pytest.mark.parametrize("weights", [None, "abc", ["a"], [0.5, [0.5]], [1j], {}])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(ArgumentError, match="at least 0 and summing to 1"):
        propagate(FIVE.matrix, np.ones((5, 2), np.float32), weights=weights)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (None, "features is a NoneType; expected a numpy array or a scipy sparse matrix"),
        ([[1.0]] * 5, "features is a list"),
        (np.ones(5), r"features has shape \(5,\) and type float64; expected two dimensions, and numbers"),
        (np.ones((5, 2, 2)), r"features has shape \(5, 2, 2\)"),
        (np.full((5, 1), "a"), "and type <U1; expected two dimensions, and numbers"),
        (np.ones((5, 2), complex), "and type complex128"),
    ],
)
def test_features_that_are_no_matrix_of_numbers_are_refused(features, message):
    with pytest.raises(ArgumentError, match=message):
        propagate(FIVE.matrix, features, weights=[1.0])


@pytest.mark.parametrize("columns", [0, -1, 1.5, "a"])
def test_a_number_of_columns_that_is_none_is_refused(columns):
    with pytest.raises(ArgumentError, match=r"columns is .*; expected a whole number of at least 1"):
        propagate(FIVE.matrix, np.ones((5, 2), np.float32), weights=[1.0], columns=columns)


@pytest.mark.parametrize(
    "out",
    ["a", [[0.0]], np.empty((2, 2), np.float32), np.empty((5, 2)), np.empty((5, 2), int)],
)
def test_a_result_that_would_not_fit_is_refused(out):
    # Into whole numbers, numpy would cut fractions off without a word.
    with pytest.raises(ArgumentError, match=r"^out "):
        propagate(FIVE.matrix, np.ones((5, 2), np.float32), weights=[1.0], out=out)
