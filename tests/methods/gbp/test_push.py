"""GBP's pushes against the dense operator in float64, and within their bound."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graph import ISOLATED, small_graph

from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.gbp.push import push_features


def matrix_of(adjacency):
    """A, dense and without self-loops."""
    ones = np.ones(len(adjacency.indices))
    return sp.csr_array((ones, adjacency.indices, adjacency.indptr), shape=(adjacency.nodes,) * 2).toarray()


def exact(adjacency, features, alpha, exponent):
    """Σ α(1 - α)^l (D^(r-1) A D^-r)^l X, as the solution of a linear system; 0 / 0 = 0."""
    degrees = np.diff(adjacency.indptr).astype(np.float64)
    left, right = (np.where(degrees > 0, np.maximum(degrees, 1) ** power, 0) for power in (exponent - 1, -exponent))
    operator = left[:, None] * matrix_of(adjacency) * right
    return np.linalg.solve(np.eye(adjacency.nodes) - (1 - alpha) * operator, alpha * features)


def pushed(adjacency, features, **chosen):
    return push_features(adjacency, features, out=np.empty(features.shape, np.float32), **chosen)


def random_graph(rng, nodes):
    return as_adjacency(sp.csr_array(rng.random((nodes, nodes)) < rng.choice([0.05, 0.3])))


@given(
    seed=st.integers(0, 2**32 - 1),
    nodes=st.integers(1, 25),
    width=st.integers(1, 20),
    alpha=st.sampled_from([0.05, 0.3, 0.9, 1.0]),
    exponent=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    rmax=st.sampled_from([1e-12, 1e-4, 1e-2, 0.3]),
)
@settings(deadline=None, max_examples=50)
def test_errors_are_within_the_bound(seed, nodes, width, alpha, exponent, rmax):
    """With a threshold that is nearly 0, nothing but float32's rounding of the result is left."""
    rng = np.random.default_rng(seed)
    adjacency = random_graph(rng, nodes)
    features = (rng.standard_normal((nodes, width)) * (rng.random((nodes, width)) < 0.5)).astype(np.float32)
    powers = np.maximum(np.diff(adjacency.indptr), 1)[:, None] ** exponent
    actual = pushed(adjacency, features, alpha=alpha, rmax=rmax, exponent=exponent)
    sums = np.abs(features / powers).sum(axis=0)
    rounding = 1e-6 * np.abs(powers * sums)
    error = np.abs(actual - exact(adjacency, features.astype(np.float64), alpha, exponent))
    assert (error <= (1 - alpha) * powers * rmax * sums + rounding).all()


def test_a_threshold_leaves_out_what_is_small_and_never_overshoots():
    """What is not pushed is counted where it stands: positive features are underestimated elsewhere, never over."""
    adjacency = as_adjacency(sp.csr_array(np.eye(40, k=1)))
    features = np.eye(40, 1, dtype=np.float32)
    rough = pushed(adjacency, features, alpha=0.2, rmax=0.05, exponent=0.0)
    missing = exact(adjacency, features.astype(np.float64), 0.2, 0.0) - rough
    assert missing.min() > -1e-7
    assert missing.max() > 1e-4
    assert rough[-1] == 0


def test_positive_and_negative_features_are_pushed_apart():
    """Together, residues of both signs would cancel where they meet."""
    adjacency = as_adjacency(sp.csr_array(np.eye(3, k=1)))
    features = np.array([[1], [0], [-1]], np.float32)
    chosen = {"alpha": 0.3, "rmax": 0.2, "exponent": 0.5}
    apart = [pushed(adjacency, np.maximum(sign * features, 0), **chosen) for sign in (1, -1)]
    np.testing.assert_allclose(pushed(adjacency, features, **chosen), apart[0] - apart[1], atol=1e-7)


def test_a_node_without_edges_gets_alpha_times_its_features():
    graph = small_graph()
    actual = pushed(graph.adjacency, graph.features, alpha=0.3, rmax=1e-4, exponent=0.5)
    np.testing.assert_allclose(actual[ISOLATED], 0.3 * graph.features.toarray()[ISOLATED], rtol=1e-6)


@pytest.mark.parametrize("workers", [1, 3])
def test_sparse_and_dense_features_give_the_same_bytes_for_any_number_of_threads(workers, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", str(workers))
    rng = np.random.default_rng(0)
    adjacency = random_graph(rng, 60)
    features = (rng.standard_normal((60, 70)) * (rng.random((60, 70)) < 0.3)).astype(np.float32)
    chosen = {"alpha": 0.1, "rmax": 1e-3, "exponent": 0.4}
    by_column = [pushed(adjacency, features[:, [column]], **chosen) for column in range(70)]
    for given_features in (features, sp.csr_array(features)):
        np.testing.assert_array_equal(pushed(adjacency, given_features, **chosen), np.hstack(by_column))
