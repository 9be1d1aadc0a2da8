"""How far to look is told by validation nodes, and by a linear classifier, before anything is trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.evaluation.orders import FAMILIES, suited_order, usual_order
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.propagation.settings import GFPush

NODES, EDGES, CLASSES = 1200, 3600, 3


def graph(homophily: float, noise: float) -> Graph:
    """Edges within a class with a probability, else to any node; features of classes, and noise."""
    rng = np.random.default_rng(5)
    labels = np.arange(NODES) % CLASSES
    first, second = rng.integers(NODES, size=(2, EDGES))
    inside = rng.random(EDGES) < homophily
    second = np.where(inside, second - labels[second] + labels[first], second)  # the same class, close by
    adjacency = as_adjacency(sp.coo_array((np.ones(len(first)), (first, second)), (NODES, NODES)))
    X = np.eye(CLASSES, 20)[labels] + noise * rng.standard_normal((NODES, 20))
    return Graph(adjacency, X.astype(np.float32), labels, ["a", "b", "c"], np.arange(NODES))


def split(seed: int = 0) -> Split:
    nodes = np.random.default_rng(seed).permutation(NODES)
    return Split(train=nodes[:60], val=nodes[60:180], test=nodes[180:], unlabelled=nodes[60:])


@pytest.mark.parametrize("matrix", FAMILIES)
def test_edges_that_say_nothing_are_not_looked_at(matrix):
    assert suited_order(graph(homophily=0, noise=0.4), split(), matrix, GFPush()) == 0


def test_features_of_much_noise_are_averaged_over_many_nodes():
    noisy = graph(homophily=0.8, noise=2)
    assert suited_order(noisy, split(), "avg", GFPush(top_k=256)) == 8
    assert suited_order(noisy, split(), "single", GFPush(top_k=256)) in (4, 8)


@pytest.mark.parametrize("matrix", FAMILIES)
def test_the_usual_order_stays_where_no_other_is_clearly_better(matrix):
    for seed in range(3):
        assert suited_order(graph(homophily=0.8, noise=0.3), split(seed), matrix, GFPush()) == usual_order(matrix)


def test_no_other_labels_are_looked_at():
    given = graph(homophily=0, noise=0.4)
    hidden = given.labels.copy()
    hidden[split().test] = -1
    assert suited_order(replace(given, labels=hidden), split(), "avg", GFPush()) == 0


def test_a_validation_node_without_a_row_is_no_trouble(recwarn):
    """With a large r_max nothing is left of some rows."""
    assert suited_order(graph(homophily=0, noise=0.4), split(), "single", GFPush(rmax=0.05)) == 0
    assert not recwarn.list
