"""The sampler's counts against exact probabilities, and its estimates against what they estimate."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.graphsaint import kernels
from grandplus.methods.graphsaint import sampler as module
from grandplus.methods.graphsaint.sampler import Sampler

NODES, WALKS, DEPTH = 12, 3, 2
ISOLATED = 11


@pytest.fixture
def adjacency():
    dense = sp.random_array((NODES, NODES), density=0.2, rng=np.random.default_rng(0)).toarray()
    dense[ISOLATED] = dense[:, ISOLATED] = 0
    return as_adjacency(sp.csr_array(dense))


def dense_of(adjacency):
    shape = (adjacency.nodes, adjacency.nodes)
    return sp.csr_array((np.ones(len(adjacency.indices)), adjacency.indices, adjacency.indptr), shape=shape).toarray()


def likely(adjacency, starts, some):
    """How likely at least one of the walks visits one of some nodes: those that avoid them are followed, in float64."""
    steps = dense_of(adjacency)
    steps[steps.sum(axis=1) == 0, steps.sum(axis=1) == 0] = 1
    steps /= steps.sum(axis=1, keepdims=True)
    avoid = np.ones(adjacency.nodes)
    avoid[some] = 0
    at = np.bincount(starts, minlength=adjacency.nodes) / len(starts) * avoid
    for _ in range(DEPTH):
        at = at @ steps * avoid
    return 1 - at.sum() ** WALKS


def rows_of(adjacency):
    return np.repeat(np.arange(adjacency.nodes), np.diff(adjacency.indptr))


@pytest.mark.parametrize("starts", [np.arange(NODES), np.array([2, 7, ISOLATED])], ids=["all", "some"])
def test_estimates_are_right_on_average_by_exact_probabilities(adjacency, starts):
    """Of 10,000 draws the counts, and with them the expected means and losses, are those of exact probabilities."""
    sampler = Sampler(adjacency, starts, walks=WALKS, depth=DEPTH, seed=5)
    while sampler.drawn < 10_000:
        sampler.count(int(sampler.of_nodes.sum()) // NODES + 1)
    rows, columns = rows_of(adjacency), adjacency.indices
    nodes = np.array([likely(adjacency, starts, [node]) for node in range(NODES)])
    either = np.array([likely(adjacency, starts, list(edge)) for edge in zip(rows, columns, strict=True)])
    edges = nodes[rows] + nodes[columns] - either
    for counts, exact in ((sampler.of_nodes, nodes), (sampler.of_edges, edges)):
        deviation = np.sqrt(exact * (1 - exact) / sampler.drawn)
        assert (np.abs(counts / sampler.drawn - exact) <= 4.5 * deviation + 1e-12).all()
    x = np.random.default_rng(1).normal(size=(NODES, 3))
    reached = np.flatnonzero(nodes > 0)
    factors = (sampler.of_nodes[rows] / np.maximum(sampler.of_edges, 1)) * edges / np.maximum(nodes[rows], 1e-300)
    expected, full = (np.zeros((NODES, 3)) for _ in range(2))
    degrees = np.maximum(np.diff(adjacency.indptr), 1)
    np.add.at(expected, rows, factors[:, None] * x[columns] / degrees[rows, None])
    np.add.at(full, rows, (edges > 0)[:, None] * x[columns] / degrees[rows, None])
    np.testing.assert_allclose(expected[reached], full[reached], atol=0.1)
    losses = np.random.default_rng(2).random(len(reached))
    assert (nodes[reached] * sampler.loss_weights(reached) * losses).sum() == pytest.approx(losses.mean(), rel=0.02)


def test_over_the_counted_subgraphs_estimates_are_exact(adjacency):
    """Their mean is the mean over all neighbours of which an edge was drawn, and the mean loss, but for rounding."""
    starts = np.arange(NODES)
    sampler = Sampler(adjacency, starts, walks=WALKS, depth=DEPTH, seed=0)
    sampler.count(200)
    x = np.random.default_rng(1).normal(size=(NODES, 2)).astype(np.float32)
    losses, total_loss, total = np.random.default_rng(2).random(NODES), 0.0, np.zeros((NODES, 2))
    weights = sampler.loss_weights(starts)
    for number in range(sampler.drawn):
        subgraph = sampler.subgraph(number)
        product = subgraph.adjacency(torch.device("cpu")) @ torch.from_numpy(x[subgraph.nodes])
        total[subgraph.nodes] += product.numpy()
        total_loss += (weights * losses)[subgraph.nodes].sum()
    assert (sampler.of_edges > 0).all()
    means = dense_of(adjacency) @ x / np.maximum(np.diff(adjacency.indptr), 1)[:, None]
    np.testing.assert_allclose(total / sampler.of_nodes[:, None], means, rtol=1e-5, atol=1e-5)
    assert total_loss / sampler.drawn == pytest.approx(losses.mean(), rel=1e-6)


def test_counts_are_those_of_the_subgraphs(adjacency):
    sampler = Sampler(adjacency, np.arange(5), walks=WALKS, depth=DEPTH, seed=3)
    sampler.count(30)
    nodes, edges = np.zeros(NODES, int), np.zeros(len(adjacency.indices), int)
    for number in range(sampler.drawn):
        inside = np.isin(np.arange(NODES), sampler.subgraph(number).nodes)
        nodes += inside
        edges += inside[rows_of(adjacency)] & inside[adjacency.indices]
    np.testing.assert_array_equal(sampler.of_nodes, nodes)
    np.testing.assert_array_equal(sampler.of_edges, edges)
    assert nodes.sum() >= 30 * np.count_nonzero(nodes)


def test_a_subgraph_has_all_edges_among_its_nodes_and_knows_their_opposites(adjacency):
    sampler = Sampler(adjacency, np.arange(NODES), walks=WALKS, depth=DEPTH, seed=1)
    sampler.count(20)
    dense, degrees = dense_of(adjacency), np.diff(adjacency.indptr)
    shares = np.zeros((NODES, NODES))
    shares[rows_of(adjacency), adjacency.indices] = sampler.of_edges
    for number in range(10):
        subgraph = sampler.subgraph(number)
        nodes, inside = subgraph.nodes, np.ix_(subgraph.nodes, subgraph.nodes)
        expected = np.zeros(subgraph.shape)
        edge = dense[inside] > 0
        expected[edge] = (sampler.of_nodes[nodes] / np.maximum(degrees[nodes], 1))[:, None].repeat(len(nodes), 1)[edge]
        expected[edge] /= shares[inside][edge]
        x = torch.randn(len(nodes), 4, generator=torch.Generator().manual_seed(number), requires_grad=True)
        matrix = subgraph.adjacency(torch.device("cpu"))
        np.testing.assert_allclose(matrix.matrix.to_dense().numpy(), expected, rtol=1e-6)
        gradient = torch.randn(len(nodes), 4, generator=torch.Generator().manual_seed(99))
        (matrix @ x).backward(gradient)
        np.testing.assert_allclose(x.grad, expected.T @ gradient.double().numpy(), rtol=1e-4, atol=1e-5)


def test_factors_are_at_most_those_of_the_authors_program(adjacency):
    sampler = Sampler(adjacency, np.arange(NODES), walks=WALKS, depth=DEPTH, seed=1)
    sampler.count(20)
    sampler.of_nodes[:] = 10**6
    sampler.of_edges[:] = 1
    for number in range(5):
        subgraph = sampler.subgraph(number)
        degrees = np.diff(adjacency.indptr)[subgraph.nodes].repeat(np.diff(subgraph.indptr))
        np.testing.assert_allclose(subgraph.values, 1e4 / degrees, rtol=1e-6)


def test_a_walk_ends_at_a_node_without_edges(adjacency):
    sampler = Sampler(adjacency, np.array([ISOLATED]), walks=WALKS, depth=DEPTH, seed=0)
    sampler.count(5)
    assert np.flatnonzero(sampler.of_nodes).tolist() == [ISOLATED]
    assert sampler.subgraph(0).nodes.tolist() == [ISOLATED]
    assert sampler.subgraph(0).values.size == 0


def test_any_number_of_threads_gives_the_same_counts(adjacency, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 5)
    counts = []
    for workers in ("1", "3"):
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        sampler = Sampler(adjacency, np.arange(NODES), walks=WALKS, depth=DEPTH, seed=4)
        sampler.count(40)
        counts.append((sampler.of_nodes.tobytes(), sampler.of_edges.tobytes()))
    assert counts[0] == counts[1]


def test_subgraphs_begin_again_after_the_last_one(adjacency):
    sampler = Sampler(adjacency, np.arange(NODES), walks=WALKS, depth=DEPTH, seed=4)
    sampler.count(5)
    np.testing.assert_array_equal(sampler.subgraph(sampler.drawn + 3).nodes, sampler.subgraph(3).nodes)


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF])
def test_bits_are_counted(word):
    with np.errstate(over="ignore"):
        assert kernels._bits(np.uint64(word)) == word.bit_count()
