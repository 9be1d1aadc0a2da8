"""FastGCN's sampler: parts of Â, shares, and the mean of its estimates against the exact expectation."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from small_graph import ISOLATED, NODES, normalized, small_graph

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.fastgcn.sampler import Neighbourhoods, Sampler

GRAPH = small_graph()
DENSE = normalized(GRAPH)
DRAWS = 10_000


def graph_of(edges, nodes):
    starts, ends = np.array(edges).T
    adjacency = as_adjacency(sp.coo_array((np.ones(len(starts)), (starts, ends)), shape=(nodes, nodes)))
    return Graph(adjacency, np.zeros((nodes, 1), np.float32), np.zeros(nodes, np.int64), ["a"], np.arange(nodes))


@given(st.sets(st.integers(0, NODES - 1), min_size=1), st.sets(st.integers(0, NODES - 1), min_size=1))
def test_parts_are_those_of_the_dense_matrix(nodes, columns):
    neighbourhoods = Neighbourhoods(GRAPH.adjacency)
    nodes, columns = np.array(list(nodes)), np.array(sorted(columns))
    assert neighbourhoods.of(nodes).tolist() == np.flatnonzero(DENSE[nodes].any(axis=0)).tolist()
    scale = 1.0 + columns
    part = neighbourhoods.part(nodes, columns, scale)
    assert part.dtype == np.float32
    np.testing.assert_allclose(part.toarray(), DENSE[nodes][:, columns] * scale, rtol=1e-6)
    np.testing.assert_allclose(
        neighbourhoods.part(columns, nodes, np.ones(len(nodes))).toarray(), DENSE[columns][:, nodes], rtol=1e-6
    )


def test_shares_are_those_of_the_columns_norms_not_squared():
    norms = np.linalg.norm(DENSE, axis=0)
    shares = Sampler(Neighbourhoods(GRAPH.adjacency), 5, np.random.default_rng(0)).shares
    np.testing.assert_allclose(shares, norms / norms.sum(), rtol=1e-6)


def mean_and_error(graph, batch, samples):
    """Of the estimated Â(batch, :), dense: the mean of the draws, and its standard error."""
    sampler = Sampler(Neighbourhoods(graph.adjacency), samples, np.random.default_rng(0))
    total = squares = np.zeros((len(batch), graph.adjacency.nodes))
    for _ in range(DRAWS):
        sampled, part = sampler.draw(batch)
        assert len(sampled) <= samples
        estimate = np.zeros_like(total)
        estimate[:, sampled] = part.toarray()
        total, squares = total + estimate, squares + estimate**2
    mean = total / DRAWS
    return mean, np.sqrt((squares / DRAWS - mean**2).clip(0) / DRAWS)


@pytest.mark.parametrize(("ring", "samples"), [(False, 1), (True, 1), (True, 3)])
def test_estimates_are_unbiased_with_one_draw_or_equal_shares_if_the_neighbours_are_all_nodes(ring, samples):
    edges = [(i, (i + 1) % 8) for i in range(8)] + ([] if ring else [(0, 3), (0, 4), (2, 6)])
    graph = graph_of(edges, 8)
    mean, error = mean_and_error(graph, np.arange(8), samples)
    assert (np.abs(mean - normalized(graph)) <= 4.5 * error + 1e-7).all()


def inclusion(shares, samples):
    """The probability of each to be drawn, by all orders of draws without replacement."""
    found = np.zeros(len(shares))
    for order in itertools.permutations(range(len(shares)), samples):
        left, probability = shares.sum(), 1.0
        for node in order:
            probability *= shares[node] / left
            left -= shares[node]
        found[list(order)] += probability
    return found


def test_otherwise_the_mean_has_the_bias_that_the_docstring_states():
    graph = graph_of([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (4, 6), (1, 2)], 8)
    batch, samples = np.array([0, 3]), 2
    mean, error = mean_and_error(graph, batch, samples)
    shares = Sampler(Neighbourhoods(graph.adjacency), samples, np.random.default_rng(0)).shares
    candidates = np.array([0, 1, 2, 3, 4])
    ratio = np.zeros(8)
    ratio[candidates] = inclusion(shares[candidates], samples) / (samples * shares[candidates])
    assert ratio[candidates].min() > 1.2
    assert (np.abs(mean - normalized(graph)[batch] * ratio) <= 4.5 * error + 1e-7).all()


def test_a_batch_with_few_neighbours_takes_them_all():
    sampler = Sampler(Neighbourhoods(GRAPH.adjacency), 400, np.random.default_rng(0))
    batch = np.array([3, ISOLATED])
    sampled, part = sampler.draw(batch)
    assert sampled.tolist() == np.flatnonzero(DENSE[batch].any(axis=0)).tolist()
    np.testing.assert_allclose(part.toarray(), DENSE[batch][:, sampled] / (400 * sampler.shares[sampled]), rtol=1e-6)
