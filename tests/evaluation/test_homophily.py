"""Homophily against dense sums and the published formula."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.evaluation.homophily import Homophily, homophily
from grandplus.graph.adjacency import as_adjacency, build_adjacency
from grandplus.graph.graph import Graph


def graph_of(dense, labels, classes=("a", "b", "c")):
    nodes = len(labels)
    return Graph(
        as_adjacency(sp.csr_array(np.triu(dense, 1))), np.ones((nodes, 1)), labels, [*classes], np.arange(nodes)
    )


@pytest.mark.parametrize("block", [7, 2**22])
def test_it_is_that_of_all_edges(monkeypatch, block):
    monkeypatch.setattr("grandplus.evaluation.homophily.BLOCK", block)
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((40, 40)) < 0.2, 1)
    labels = rng.integers(-1, 3, 40)
    known = (upper | upper.T) & (labels >= 0) & (labels >= 0)[:, None]
    alike = known & (labels == labels[:, None])
    degrees = np.array([known[labels == label].sum() for label in range(3)])
    by_chance = ((degrees / known.sum()) ** 2).sum()  # of Platonov et al., with 2|E| ends
    found = homophily(graph_of(upper, labels))
    assert (found.edges, found.alike) == (known.sum() // 2, alike.sum() // 2)
    assert found.share == pytest.approx(alike.sum() / known.sum(), abs=1e-12)
    assert found.adjusted == pytest.approx((found.share - by_chance) / (1 - by_chance), abs=1e-12)


def test_of_a_directed_graph_every_edge_counts_once():
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 3]])
    adjacency, _ = build_adjacency(edges, 4, None, "out")
    graph = Graph(adjacency, np.ones((4, 1)), np.array([0, 0, 1, -1]), ["a", "b"], np.arange(4))
    found = homophily(graph)
    assert (found.edges, found.alike) == (3, 2)
    assert found.by_chance == (5 / 6) ** 2 + (1 / 6) ** 2


def test_what_can_not_be_told_is_nan():
    pair = np.array([[0, 1], [1, 0]], bool)
    one_class, unknown = graph_of(pair, np.zeros(2, int)), graph_of(pair, np.full(2, -1))
    assert homophily(one_class).share == 1
    assert math.isnan(homophily(one_class).adjusted)
    assert homophily(unknown).edges == 0
    assert math.isnan(homophily(unknown).share)


def test_by_chance_it_is_0_and_at_most_1():
    ends = np.array([4, 4])
    assert Homophily.of_counts(4, 2, ends).adjusted == 0
    assert Homophily.of_counts(4, 4, ends).adjusted == 1
    assert Homophily.of_counts(4, 0, ends).adjusted == -1
