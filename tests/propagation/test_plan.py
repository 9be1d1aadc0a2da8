"""What inference is said to need of memory."""

import numpy as np
import scipy.sparse as sp

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.propagation.plan import BASE, plan

NODES, CLASSES, WIDTH, PARAMETERS = 1000, ["a", "b", "c"], 16, 4096


def peak(weights):
    """Predicted for a ring, whose 2,000 entries have weights, or none."""
    nodes = np.arange(NODES)
    ring = sp.csr_array((np.full(NODES, 2.5), (nodes, (nodes + 1) % NODES)), shape=(NODES, NODES))
    features = np.ones((NODES, WIDTH), np.float32)
    adjacency = Adjacency.of(ring, weights=weights)
    return plan(Graph(adjacency, features, nodes % 3, CLASSES, nodes), WIDTH, PARAMETERS).peak


def test_the_adjacency_counts_with_its_weights(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1GiB")
    structure = 8 * (NODES + 1) + 4 * 2 * NODES
    columns = 4 * NODES * WIDTH * (3 + 1)  # three buffers, and all columns
    expected = BASE + PARAMETERS + structure + 4 * NODES * len(CLASSES) + columns
    assert peak("ignore") == expected
    assert peak("use") == expected + 4 * 2 * NODES + (4 + 8) * NODES  # of entries; of loops and strengths
