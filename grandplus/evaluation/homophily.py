"""How often edges join nodes of the same class."""

from __future__ import annotations

import numpy as np

from grandplus.graph.graph import Graph

BLOCK = 2**22  # entries of the adjacency at a time


def edge_homophily(graph: Graph) -> float:
    """The share of edges that join nodes of the same class, of those between labelled nodes.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    float
        NaN where no edge joins two labelled nodes.

    References
    ----------
    Zhu, J. et al. Beyond homophily in graph neural networks: current limitations and effective designs. NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array(np.ones(4), offsets=1, shape=(5, 5)))
    >>> edge_homophily(Graph(path, np.ones((5, 1), np.float32), np.array([0, 0, 1, 1, -1]), ["a", "b"], np.arange(5)))
    0.6666666666666666
    """
    labels, indptr, indices = np.asarray(graph.labels), graph.adjacency.indptr, graph.adjacency.indices
    same = known = 0
    for first in range(0, len(indices), BLOCK):
        ends = labels[indices[first : first + BLOCK]]
        entries = np.arange(first, first + len(ends))
        starts = labels[np.searchsorted(indptr, entries, side="right") - 1]
        labelled = (starts >= 0) & (ends >= 0)
        known += int(labelled.sum())
        same += int((labelled & (starts == ends)).sum())
    return same / known if known else float("nan")
