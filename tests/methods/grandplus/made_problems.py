"""Small problems of tests, with classes that can be learnt."""

import numpy as np
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.protocol import Task
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights

NODES, FEATURES, CLASSES = 90, 40, ["a", "b", "c"]


def communities(make=sp.csr_array):
    """Communities whose nodes have sparse features of their class, among others; ``make`` makes the matrix."""
    rng = np.random.default_rng(0)
    labels = np.arange(NODES) % 3
    same = labels[:, None] == labels
    edges = sp.csr_array(np.triu(rng.random((NODES, NODES)) < np.where(same, 0.2, 0.03), 1))
    shares = np.where(np.arange(FEATURES) % 3 == labels[:, None], 0.3, 0.1)
    features = (rng.random((NODES, FEATURES)) * (rng.random((NODES, FEATURES)) < shares)).astype(np.float32)
    graph = Graph(as_adjacency(edges), make(features), labels, CLASSES, np.arange(NODES))
    rows = gfpush(graph, np.arange(NODES), weights=propagation_weights("avg", order=2), rmax=1e-6, top_k=12)
    split = Split(np.arange(12), np.arange(12, 40), np.arange(40, NODES), np.arange(12, NODES))
    return Task(graph, split, rows)
