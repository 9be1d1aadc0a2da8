"""A grown graph as a graph of its own: what came later is merged into copies of the stored arrays."""

from __future__ import annotations

import numpy as np

from grandplus.graph.adjacency import Adjacency
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
        "edges": len(adjacency.indices) // 2,
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
    base, growth = grown.base, grown.growth
    is_old = np.repeat(growth.nodes, np.diff(growth.indptr)) < base.nodes  # else it is of the rows that follow
    stored = np.insert(base.indices.astype(grown.index_type), growth.places[is_old], growth.neighbors[is_old])
    indices = np.concatenate([stored, growth.neighbors[~is_old].astype(grown.index_type)])
    degrees = grown.degrees_of(np.arange(grown.nodes)) - 1
    return Adjacency(np.concatenate([[0], np.cumsum(degrees)]), indices)
