"""An adjacency that has grown: the entries that came later, over a stored one that is never copied.

A row of the merged adjacency is the stored row with further neighbours in between. What is kept of each further
neighbour is its id and its place: before which stored entry it stands. So memory is proportional to what was added, and
whoever follows the places visits the neighbours in the order of the merged adjacency.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import INT32_IDS, Adjacency
from grandplus.kernels.compiled import IDS, INT64, kernel, writable
from grandplus.runtime.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Growth:
    """Entries of a symmetric adjacency beside the stored ones, in both directions.

    Attributes
    ----------
    nodes : int64 (c,)
        The nodes with further neighbours, ascending.
    indptr : int64 (c + 1,)
        Where those of each begin and end.
    neighbors : int64 (e,)
        Ascending for each node.
    places : int64 (e,)
        The stored entry before which each stands; 0 for the neighbours of a new node.
    """

    nodes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    neighbors: NDArray[np.int64]
    places: NDArray[np.int64]

    @property
    def arrays(self) -> tuple[NDArray[np.int64], ...]:
        """All of them, in the order of the attributes."""
        return tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, eq=False)
class GrownAdjacency:
    """A stored adjacency with the nodes and edges that came later, made by `grow`.

    Attributes
    ----------
    base : Adjacency
        The stored one. Its nodes keep their numbers.
    nodes : int
        n, with the new nodes, which come last.
    growth : Growth
    """

    base: Adjacency
    nodes: int
    growth: Growth

    @property
    def index_type(self) -> np.dtype[Any]:
        """Of node ids in the merged adjacency: int32 or int64."""
        return np.dtype(np.int32 if self.nodes <= INT32_IDS else np.int64)

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the stored structure's and of what came later; not that of the merged adjacency."""
        digest = hashlib.sha256(f"{self.base.fingerprint} {self.nodes}".encode())
        for array in self.growth.arrays:
            digest.update(array.data)
        return digest.hexdigest()

    def degrees_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Degrees of some nodes in Ã, so with the self-loop: int64 (b,)."""
        degrees, old = np.ones(len(nodes), np.int64), nodes < self.base.nodes
        degrees[old] = self.base.degrees_of(nodes[old])
        found = np.searchsorted(self.growth.nodes, nodes)
        changed = np.isin(nodes, self.growth.nodes)
        degrees[changed] += np.diff(self.growth.indptr)[found[changed]]
        return degrees

    def neighbors_of(self, node: int) -> NDArray[Any]:
        """The neighbours of a node, ascending, without itself."""
        start, stop = self.base.indptr[node : node + 2] if node < self.base.nodes else (0, 0)
        stored, growth = self.base.indices[start:stop], self.growth
        found = np.searchsorted(growth.nodes, node)
        if found == len(growth.nodes) or growth.nodes[found] != node:
            return stored
        further = slice(*growth.indptr[found : found + 2])
        return np.insert(stored.astype(self.index_type), growth.places[further] - start, growth.neighbors[further])


def grow(base: Adjacency, edges: NDArray[Any], nodes: int) -> tuple[GrownAdjacency, dict[str, int]]:
    """Add nodes and edges to an adjacency without copying it.

    Parameters
    ----------
    base : Adjacency
        Of n₀ nodes; it may be memory-mapped.
    edges : int (2, E)
        Row numbers, in any order, in one direction or both, with duplicates and self-loops.
    nodes : int
        n, at least n₀.

    Returns
    -------
    grown : GrownAdjacency
    facts : dict of int
        ``edges`` (undirected, that were added), ``merged_duplicates`` (entries that repeat an edge, of the base or of
        their own) and ``dropped_self_loops``.

    Raises
    ------
    ArgumentError
        An edge names a node that is not there.

    Examples
    --------
    A path 0 - 1 - 2, to which node 3 comes with an edge to 1; and an edge between 0 and 2:

    >>> base = Adjacency(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> grown, facts = grow(base, np.array([[3, 0, 0], [1, 2, 1]]), nodes=4)
    >>> [grown.neighbors_of(node).tolist() for node in range(4)]
    [[1, 2], [0, 2, 3], [0, 1], [1]]
    >>> facts
    {'edges': 2, 'merged_duplicates': 1, 'dropped_self_loops': 0}
    """
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    for bad in (edges.min(initial=0), edges.max(initial=0)):
        if not 0 <= bad < max(nodes, 1):
            raise ArgumentError(f"an edge names node {bad}", expected=f"numbers from 0 to {nodes - 1}")
    kept = edges[:, edges[0] != edges[1]]
    sources, targets = np.ascontiguousarray(np.unique(np.concatenate([kept, kept[::-1]], axis=1), axis=1))
    places = np.zeros(len(sources), np.int64)
    _find_places(base.indptr, base.indices, sources, targets, places)
    new = places >= 0
    changed, starts = np.unique(sources[new], return_index=True)
    growth = Growth(changed, np.append(starts, new.sum()), targets[new], places[new])
    facts = {
        "edges": int(new.sum()) // 2,
        "merged_duplicates": kept.shape[1] - int(new.sum()) // 2,
        "dropped_self_loops": edges.shape[1] - kept.shape[1],
    }
    return GrownAdjacency(base, nodes, growth), facts


@kernel(INT64, IDS, INT64, INT64, writable(INT64))
def _find_places(indptr, indices, sources, targets, places):
    """Before which stored entry of its row each target stands; -1 where it is stored, and 0 in a row that isn't."""
    for i in range(len(sources)):
        if sources[i] >= len(indptr) - 1:
            continue
        low, high = indptr[sources[i]], indptr[sources[i] + 1]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < targets[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = -1 if low < end and indices[low] == targets[i] else low
