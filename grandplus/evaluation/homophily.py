"""How often edges join nodes of the same class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph

BLOCK = 2**22  # entries of the adjacency at a time
NAN = float("nan")


@dataclass(frozen=True)
class Homophily:
    """Edges between labelled nodes, and how many of them join nodes of the same class.

    Attributes
    ----------
    edges : int
    alike : int
        Of these, how many join nodes of the same class.
    by_chance : float
        The share that would, if edges joined ends at random: Σₖ (Dₖ / 2|E|)², where Dₖ is the number of ends at nodes
        of class k. NaN without an edge.

    References
    ----------
    Zhu, J. et al. Beyond homophily in graph neural networks: current limitations and effective designs. NeurIPS 2020.

    Platonov, O. et al. Characterizing graph datasets for node classification: homophily-heterophily dichotomy and
    beyond. NeurIPS 2023.
    """

    edges: int
    alike: int
    by_chance: float

    @classmethod
    def of_counts(cls, edges: int, alike: int, ends: NDArray[np.int64]) -> Self:
        """From the number of ends of edges at nodes of each class, shape (C,)."""
        return cls(edges, alike, float(np.square(ends / (2 * edges)).sum()) if edges else NAN)

    @property
    def share(self) -> float:
        """The edge homophily (Zhu et al.); NaN without an edge."""
        return self.alike / self.edges if self.edges else NAN

    @property
    def adjusted(self) -> float:
        """The adjusted homophily (Platonov et al.): 0 by chance and at most 1; NaN if all ends are of one class."""
        return self.adjusted_of(self.share)

    def adjusted_of(self, share: float) -> float:
        """What the adjusted homophily would be if this share of the edges joined nodes of the same class."""
        return NAN if self.by_chance == 1 else (share - self.by_chance) / (1 - self.by_chance)


def homophily(graph: Graph) -> Homophily:
    """Count the edges between labelled nodes.

    Parameters
    ----------
    graph : Graph

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array(np.ones(4), offsets=1, shape=(5, 5)))
    >>> graph = Graph(path, np.ones((5, 1), np.float32), np.array([0, 0, 1, 1, -1]), ["a", "b"], np.arange(5))
    >>> found = homophily(graph)
    >>> found.edges, round(found.share, 4), found.by_chance, round(found.adjusted, 4)
    (3, 0.6667, 0.5, 0.3333)
    """
    labels, indptr, indices = np.asarray(graph.labels), graph.adjacency.indptr, graph.adjacency.indices
    same, ends_of = 0, np.zeros(max(len(graph.classes), 1), np.int64)
    for first in range(0, len(indices), BLOCK):
        ends = labels[indices[first : first + BLOCK]]
        entries = np.arange(first, first + len(ends))
        starts = labels[np.searchsorted(indptr, entries, side="right") - 1]
        labelled = (starts >= 0) & (ends >= 0)
        same += int((labelled & (starts == ends)).sum())
        for side in (starts,) if graph.adjacency.symmetric else (starts, ends):
            ends_of += np.bincount(side[labelled], minlength=len(ends_of))
    entries_of_each = 2 if graph.adjacency.symmetric else 1  # an edge of an undirected graph has one at both ends
    return Homophily.of_counts(int(ends_of.sum()) // 2, same // entries_of_each, ends_of)
