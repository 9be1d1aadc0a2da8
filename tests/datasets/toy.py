"""A small graph for the readers of array files, and what each of them must make of it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading

ADJACENCY = sparse.csr_matrix(
    np.array([[0, 1, 0, 0], [1, 1, 0, 2], [0, 0, 0, 0], [0, 2, 0, 0]], dtype=np.float64)
)  # a self-loop, a node without an edge, an edge of weight 2
WEIGHTS_IGNORED = Reading(weights="ignore")
EDGES = [[0, 1, 1, 1, 3], [1, 0, 1, 3, 1]]
FEATURES = np.array([[0.5, 0.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 0.0], [0.0, 0.1, 0.0]])
ONE_HOT = np.array([[0, 1], [1, 0], [0, 0], [0, 1]])
NUMBERS = np.array([1, 0, -1, 1])


def check(graph: RawGraph, *, sparse_features: bool) -> None:
    assert graph.edges.dtype == np.int32
    assert graph.edges.tolist() == EDGES
    assert graph.nodes == 4
    assert sparse.issparse(graph.features) == sparse_features
    assert graph.features.dtype == np.float32
    dense = graph.features.toarray() if sparse_features else graph.features
    np.testing.assert_array_equal(dense, FEATURES.astype(np.float32))
    assert graph.labels.dtype == np.int64
    assert graph.labels.tolist() == NUMBERS.tolist()
    assert graph.classes == ["0", "1"]
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    assert graph.splits == []
