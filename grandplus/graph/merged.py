"""A grown graph as a graph of its own: what came later is merged into copies of the stored arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.edge_weights import EdgeWeights
from grandplus.graph.entries import pairs_of
from grandplus.graph.features import zero_rows
from grandplus.graph.fitted import RAW_ROWS
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.graph.grown_adjacency import GrownAdjacency


def merged_graph(grown: GrownGraph) -> Graph:
    """The graph of all nodes and edges.

    Old nodes keep their numbers, and new ones follow. The classes, and what was fitted to the features, stay those of
    the base.

    Parameters
    ----------
    grown : GrownGraph

    Returns
    -------
    Graph

    Examples
    --------
    >>> from grandplus.graph.adjacency import build_adjacency
    >>> adjacency, facts = build_adjacency(np.array([[0], [1]]), 2)
    >>> ids = np.array(["ann", "bob"], object)
    >>> graph = Graph(adjacency, np.eye(2, dtype=np.float32), np.array([0, 1]), ["a", "b"], ids, facts)
    >>> merged = merged_graph(graph.grown(["eve"], [["eve"], ["ann"]], np.array([[0.5, 0.5]])))
    >>> merged.node_ids.tolist(), merged.adjacency.indices.tolist(), merged.features[2].tolist()
    (['ann', 'bob', 'eve'], [1, 2, 0, 0], [0.5, 0.5])
    """
    base, adjacency = grown.base, merged_adjacency(grown.adjacency)
    features = grown.features_of(np.arange(adjacency.nodes))
    labels = np.concatenate([base.labels, grown.new_labels])
    of_graph = base.fitted.kind in RAW_ROWS
    facts = base.facts | {
        "nodes": adjacency.nodes,
        "edges": _edges(adjacency),
        "isolated_nodes": int((adjacency.degrees == 1).sum()),
        "unlabelled_nodes": int((labels < 0).sum()),
        "zero_feature_rows": zero_rows(features)
        if of_graph
        else base.facts.get("zero_feature_rows", 0) + grown.facts["zero_feature_rows"],
    }
    for fact in ("merged_duplicates", "dropped_self_loops"):
        facts[fact] = base.facts.get(fact, 0) + grown.facts[fact]
    ids = np.concatenate([base.node_ids, grown.new_ids])
    return Graph(adjacency, features, labels, base.classes, ids, facts, base.fitted)


def merged_adjacency(grown: GrownAdjacency) -> Adjacency:
    """The adjacency with all entries in rows, as if it was built of all edges at once.

    Parameters
    ----------
    grown : GrownAdjacency

    Returns
    -------
    Adjacency
    """
    base, growth, nodes = grown.base, grown.growth, np.arange(grown.nodes)
    is_old = np.repeat(growth.nodes, np.diff(growth.indptr)) < base.nodes  # else it is of the rows that follow

    def merged(stored: NDArray[Any], further: NDArray[Any]) -> NDArray[Any]:
        """Values of all entries, in their order."""
        kept = np.insert(stored, growth.places[is_old], further[is_old])
        return np.concatenate([kept, further[~is_old].astype(stored.dtype)])

    indptr = np.concatenate([[0], np.cumsum(grown.degrees_of(nodes) - 1)])
    indices, weights = merged(base.indices.astype(grown.index_type), growth.neighbors), None
    if base.weights is not None and grown.weights is not None:
        entries = merged(base.weights.entries, grown.weights.entries)
        loops = np.concatenate([base.weights.loops, grown.weights.loops])
        weights = EdgeWeights(entries, loops, grown.strengths_of(nodes))
    return Adjacency(indptr, indices, weights, base.direction)


def _edges(adjacency: Adjacency) -> int:
    """How many pairs of nodes have an edge."""
    if adjacency.symmetric:
        return len(adjacency.indices) // 2
    return pairs_of(np.repeat(np.arange(adjacency.nodes), np.diff(adjacency.indptr)), adjacency.indices)
