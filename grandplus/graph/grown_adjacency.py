"""An adjacency that has grown: the entries that came later, over a stored one that is never copied.

A row of the merged adjacency is the stored row with further neighbours in between. What is kept of each further
neighbour is its id and its place: before which stored entry it stands. So memory is proportional to what was added, and
whoever follows the places visits the neighbours in the order of the merged adjacency.

Of a graph with weights, the sums of the rows that changed are kept, too.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import INT32_IDS, Adjacency
from grandplus.graph.edge_weights import EdgeWeights, checked_edge_weights, row_sums
from grandplus.graph.entries import check_rows, directed_entries, largest_loops, unique_entries
from grandplus.kernels.compiled import IDS, INT64, kernel, writable
from grandplus.runtime.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Growth:
    """Entries of an adjacency beside the stored ones.

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
    weights : EdgeWeights or None
        Of a graph with weights: ``entries`` (e,) of the growth's neighbours, ``loops`` (m,) of the new nodes, and
        ``strengths`` (c,) of the growth's nodes.
    """

    base: Adjacency
    nodes: int
    growth: Growth
    weights: EdgeWeights | None = None

    @property
    def index_type(self) -> np.dtype[Any]:
        """Of node ids in the merged adjacency: int32 or int64."""
        return np.dtype(np.int32 if self.nodes <= INT32_IDS else np.int64)

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the stored structure's and of what came later; not that of the merged adjacency."""
        digest = hashlib.sha256(f"{self.base.fingerprint} {self.nodes}".encode())
        for array in (*self.growth.arrays, *(self.weights.arrays if self.weights else ())):
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

    def strengths_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The diagonal of D̃ for some nodes, the sums of their rows with the self-loop: float64 (b,)."""
        if self.weights is None or self.base.weights is None:
            return self.degrees_of(nodes).astype(np.float64)
        strengths, old = np.empty(len(nodes), np.float64), nodes < self.base.nodes
        strengths[old] = self.base.weights.strengths[nodes[old]]
        strengths[~old] = self.weights.loops[nodes[~old] - self.base.nodes]
        changed = np.isin(nodes, self.growth.nodes)
        strengths[changed] = self.weights.strengths[np.searchsorted(self.growth.nodes, nodes)[changed]]
        return strengths

    def neighbors_of(self, node: int) -> NDArray[Any]:
        """The neighbours of a node, ascending, without itself."""
        start, stop = self.base.indptr[node : node + 2] if node < self.base.nodes else (0, 0)
        stored, growth = self.base.indices[start:stop], self.growth
        found = np.searchsorted(growth.nodes, node)
        if found == len(growth.nodes) or growth.nodes[found] != node:
            return stored
        further = slice(*growth.indptr[found : found + 2])
        return np.insert(stored.astype(self.index_type), growth.places[further] - start, growth.neighbors[further])


def grow(
    base: Adjacency,
    edges: NDArray[Any],
    nodes: int,
    weights: Any = None,
    called: Callable[[int], object] = "row {}".format,
) -> tuple[GrownAdjacency, dict[str, int]]:
    """Add nodes and edges to an adjacency without copying it.

    Parameters
    ----------
    base : Adjacency
        Of n₀ nodes; it may be memory-mapped.
    edges : int (2, E)
        Row numbers, in any order, with duplicates and self-loops; in one direction or both, unless the base is
        directed.
    nodes : int
        n, at least n₀.
    weights : array_like of numbers (E,), optional
        If the edges of the base have weights.
    called : callable
        What to call a row in an error.

    Returns
    -------
    grown : GrownAdjacency
    facts : dict of int
        ``edges`` (that were added; undirected unless the base is directed), ``merged_duplicates`` (entries that repeat
        an edge, of the base or of their own) and ``dropped_self_loops``, which are used if the base has weights.

    Raises
    ------
    ArgumentError
        An edge names a node that is not there, or weights lack, are negative, or differ from those of the base.

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
    check_rows(edges, nodes)
    given = _given_weights(base, weights, edges.shape[1])
    (starts, ends), given = edges[:, given > 0], given[given > 0]
    at_itself = int((starts == ends).sum())
    listed = directed_entries(starts, ends, given, base.direction)
    sources, targets, entries, _ = unique_entries(*listed)
    places = np.zeros(len(sources), np.int64)
    _find_places(base.indptr, base.indices, sources, targets, places)
    new = places >= 0
    changed, first = np.unique(sources[new], return_index=True)
    growth = Growth(changed, np.append(first, new.sum()), targets[new], places[new])
    per_edge = 2 if base.symmetric else 1
    facts = {
        "edges": int(new.sum()) // per_edge,
        "merged_duplicates": (len(listed[0]) - int(new.sum())) // per_edge,
        "dropped_self_loops": at_itself if base.weights is None else 0,
    }
    if base.weights is None:
        return GrownAdjacency(base, nodes, growth), facts
    _check_known(base, sources[~new], targets[~new], entries[~new], -1 - places[~new], called)
    looped, of_loops = largest_loops(starts, ends, given)
    _check_loops(base.weights, looped, of_loops, called)
    loops, later = np.ones(nodes - base.nodes, np.float32), looped >= base.nodes
    loops[looped[later] - base.nodes] = of_loops[later]
    grown_weights = _weights_of_growth(base, growth, entries[new], loops)
    return GrownAdjacency(base, nodes, growth, grown_weights), facts


def _given_weights(base: Adjacency, weights: Any, edges: int) -> NDArray[np.float32]:
    if base.weights is None:
        given = np.ones(edges, np.float32) if weights is None else checked_edge_weights(weights, edges)
        other = np.flatnonzero((given != 0) & (given != 1))
        if len(other):
            found = f"edge {other[0] + 1} has weight {given[other[0]]:g}, and all edges of the graph have weight 1"
            raise ArgumentError(found, expected="weight 1", fix="import all edges as one graph, with their weights")
        return given
    if weights is None and edges:
        raise ArgumentError("the edges have no weights", expected="one for each, as the edges of the graph have")
    return checked_edge_weights([] if weights is None else weights, edges)


def _check_known(
    base: Adjacency,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    entries: NDArray[np.float32],
    stored: NDArray[np.int64],
    called: Callable[[int], object],
) -> None:
    """Check that entries that are stored already have the same weights there."""
    assert base.weights is not None
    known = base.weights.entries[stored]
    wrong = np.flatnonzero(known != entries)
    if len(wrong):
        edge = wrong[0]
        ends = f"{called(int(sources[edge]))} and {called(int(targets[edge]))}"
        found = f"the edge of {ends} has weight {entries[edge]:g}"
        _raise_changed(found, known[edge])


def _check_loops(
    weights: EdgeWeights, rows: NDArray[np.int64], loops: NDArray[np.float32], called: Callable[[int], object]
) -> None:
    old = rows < len(weights.loops)
    wrong = np.flatnonzero(weights.loops[rows[old]] != loops[old])
    if len(wrong):
        row = rows[wrong[0]]
        _raise_changed(f"the self-loop of {called(int(row))} has weight {loops[wrong[0]]:g}", weights.loops[row])


def _raise_changed(found: str, known: float) -> NoReturn:
    fix = "leave it out, or import a new version of the graph"
    raise ArgumentError(found, expected=f"{known:g}, its weight in the graph, as growth changes no edges", fix=fix)


def _weights_of_growth(
    base: Adjacency, growth: Growth, entries: NDArray[np.float32], loops: NDArray[np.float32]
) -> EdgeWeights:
    """With the sums of the merged rows, added in the order of their entries."""
    assert base.weights is not None
    strengths = np.empty(len(growth.nodes), np.float64)
    for i, node in enumerate(growth.nodes.tolist()):
        further = slice(*growth.indptr[i : i + 2])
        begin, end = base.indptr[node : node + 2] if node < base.nodes else (0, 0)
        row = np.insert(base.weights.entries[begin:end], growth.places[further] - begin, entries[further])
        loop = base.weights.loops[node] if node < base.nodes else loops[node - base.nodes]
        strengths[i] = row_sums(np.array([0, len(row)]), row, np.array([loop]))[0]
    return EdgeWeights(entries, loops, strengths)


@kernel(INT64, IDS, INT64, INT64, writable(INT64))
def _find_places(indptr, indices, sources, targets, places):
    """Before which stored entry of its row each target stands, 0 in a row that isn't; -1 - entry where it is stored."""
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
        places[i] = -1 - low if low < end and indices[low] == targets[i] else low
