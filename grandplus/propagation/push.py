"""The kernel of GFPush: Algorithm 1 and top-k sparsification for a block of source nodes.

Its time is that of memory accesses rather than of arithmetic. This is how it saves them:

- **Local indices.** A row gives each node that it reaches a local index: 0, 1, 2, … in the order in which they are
  reached. Whatever the row keeps of a node, such as its residue, stands in arrays by local index. They are small, stay
  in the cache and are read from front to back. The one random access that an edge needs is to ``local``, which holds
  the local index of every node of the graph in 4 bytes.
- **Nothing to clear.** The local indices of a row start where those of the row before ended (at ``first``). So a lower
  one in ``local`` is of an earlier row and means: not reached yet.
- **Prefetching.** The queue of nodes to push is complete before the first of them is pushed. So their edges are
  prefetched some pushes ahead, and ``local`` some edges ahead. On a small graph both are in the cache anyway,
  and nothing is prefetched.
- **No branches on data.** A branch that depends on data is often mispredicted, which costs more than a useless write.
  So an entry is always written behind the last one, and a condition, 0 or 1, is added to the count. If it is 0, the
  next entry takes the same place. For this every list has room for one entry more than it can have.
- **Few look-ups of degrees.** Beside the local index, ``local`` holds the exponent of the node's degree, the whole part
  of its logarithm to base 2. A residue of at most 2^exponent · r_max is not pushed; only for larger ones is the degree
  itself looked up.
- **Unsigned integers.** Numba lets negative indices count from the end of an array, which takes instructions.

The same source serves a grown graph, in which a row of the adjacency has further neighbours (`Growth`). They are
visited where they would stand in the merged row, so sums are added in the same order and have the same bytes. Without
growth the argument ``growth`` is None, and numba leaves out what asks for it when it compiles.

Names in the kernel: ``residue`` is r⁽ⁿ⁾, whose reserve q⁽ⁿ⁾ is added to ``pi``, the sum Π̃_s = Σ wₙq⁽ⁿ⁾, at once.
``bound`` is at most d · r_max. The queue holds a node's local index, the share of its residue that each neighbour gets,
and where its neighbours stand in ``indices``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.grown_adjacency import GrownAdjacency, Growth
from grandplus.kernels.compiled import (
    FLOAT32,
    FLOAT64,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    UNSIGNED_IDS,
    jitable,
    kernel,
    matrix,
    writable,
)
from grandplus.kernels.largest import choose_largest
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.runtime.errors import ArgumentError

INDEX_BITS = 27  # of the 32 in an entry of ``local``; the others hold the exponent of the degree
INDICES = 2**INDEX_BITS
EDGES_AHEAD = 64
PUSHES_AHEAD = 8
LOOK_UPS_AHEAD = 16
CACHED_NODES = 2**13  # of a graph at most, for ``local`` to fit into the innermost cache
LINES = 4  # prefetched of a row of the adjacency; in longer rows the processor prefetches by itself
_0, _1 = np.uint64(0), np.uint64(1)
_INDEX_MASK = np.uint64(INDICES - 1)
_LOW_32 = np.uint64(2**32 - 1)


class Workspace:
    """The memory of one thread: 4 bytes for each node of the graph, and 57 for each node that a row may reach.

    The system provides the latter only as far as a row has filled them. On a grown graph they are 73.

    Parameters
    ----------
    graph : Adjacency or GrownAdjacency
    order : int
        N.
    rmax : float
    top_k : int
        The width of the rows.

    Raises
    ------
    ArgumentError
        A row might reach more nodes than there are local indices.
    """

    def __init__(self, graph: Adjacency | GrownAdjacency, order: int, rmax: float, top_k: int) -> None:
        # A push takes more than degree · rmax from the mass of its round, which is 1 at most.
        reached = int(min(graph.nodes, 1.001 * order / rmax + 64 if rmax > 0 else graph.nodes))
        if reached >= INDICES - 1:
            raise ArgumentError(f"a row may reach {reached} nodes", expected=f"fewer than {INDICES}", fix="raise rmax")
        self.first = 1  # local index, in ``local``, of the first node of the next row
        base, growth = base_and_growth(graph)
        self.local = np.zeros(graph.nodes, np.uint32)
        _write_exponents(base.indptr.view(np.uint64), self.local[: base.nodes])
        self.node, self.exponent = np.empty(reached + 1, np.uint32), np.empty(reached + 1, np.uint8)
        self.residue = np.zeros(reached + 1)
        self.pi, self.bound = (np.empty(reached + 1) for _ in range(2))
        queued = reached + PUSHES_AHEAD
        self.queue, self.share = np.empty(queued, np.uint32), np.empty(queued)
        self.start, self.end = (np.empty(queued, np.uint64) for _ in range(2))
        self.best = np.empty(2 * top_k + 32, np.uint64)
        self.growth = None
        if growth is not None:
            degrees = graph.degrees_of(growth.nodes).astype(np.float64)
            self.local[growth.nodes] = np.frexp(degrees)[1] - 1 << INDEX_BITS
            queued_further = (np.empty(queued, np.uint64) for _ in range(2))
            self.growth = *(array.view(np.uint64) for array in growth.arrays), *queued_further

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the order of the kernel's arguments."""
        reached = self.local, self.node, self.exponent, self.residue, self.pi, self.bound
        return *reached, self.queue, self.share, self.start, self.end, self.best


def base_and_growth(graph: Adjacency | GrownAdjacency) -> tuple[Adjacency, Growth | None]:
    """What is stored of a graph, and what it has grown by."""
    return (graph.base, graph.growth) if isinstance(graph, GrownAdjacency) else (graph, None)


@kernel(UINT64, writable(UINT32))
def _write_exponents(indptr, local):
    """The exponent of each degree, that of its floating-point number, above the bits of the local index."""
    for v in range(np.uint64(len(local))):
        degree = np.float64(indptr[v + _1] - indptr[v] + _1)
        exponent = (degree.view(np.uint64) >> np.uint64(52)) - np.uint64(1023)
        local[v] = exponent << np.uint64(INDEX_BITS)


def _push_block(
    indptr, indices, sources, w, rmax, first, growth,
    local, node, exponent, residue, pi, bound,
    queue, share, start, end, best,
    out_neighbors, out_values, out_error, out_edges,
):  # fmt: skip
    """Rows of ``sources``, with local indices from ``first`` on; returns the first one of the next block.

    Before and after, ``residue`` is all zero, and the local indices in ``local`` are lower than ``first``.
    """
    last = len(w) - 1
    for row in range(len(sources)):
        if first + np.uint64(len(node)) > INDICES:
            for u in range(len(local)):
                local[u] &= ~_INDEX_MASK
            first = _1
        # r^(0) = e_s
        count = _add(sources[row], 1.0, _0, first, local, node, exponent, residue)
        known, edges = _0, _0
        for order in range(last):
            for i in range(known, count):
                bound[i], pi[i] = (_1 << np.uint64(exponent[i])) * rmax, 0.0
            known = count
            pushes = _take_residues(count, w[order], residue, pi, bound, queue, share)
            pushes = _look_up_degrees(pushes, rmax, indptr, indices, growth, node, bound, queue, share, start, end)
            if pushes == _0:
                break
            for i in range(pushes):
                edges += end[i] - start[i] + _further(growth, i) + _1
            if len(local) <= CACHED_NODES:  # numba calls no function that a variable names
                count = _push_cached(
                    pushes, count, first, indices, growth, local, node, exponent, residue, queue, share, start, end
                )  # fmt: skip
            else:
                count = _push(
                    pushes, count, first, indices, growth, local, node, exponent, residue, queue, share, start, end
                )  # fmt: skip
        pi[known:count] = 0.0
        for i in range(count):
            pi[i] += w[last] * residue[i]
            residue[i] = 0.0
        kept = 0.0
        for i in range(choose_largest(count, node, pi, queue, best, out_neighbors.shape[1])):
            u = best[i] & _LOW_32
            value = pi[(local[u] & _INDEX_MASK) - first]
            out_neighbors[row, i], out_values[row, i] = u, value
            kept += value
        out_error[row] = max(0.0, 1.0 - kept)
        out_edges[row] = edges
        first += count
    return first


_ARGUMENTS = (
    *map(writable, (UINT32, UINT32, UINT8, FLOAT64, FLOAT64, FLOAT64)),
    *map(writable, (UINT32, FLOAT64, UINT64, UINT64, UINT64)),
    *map(writable, (matrix(UNSIGNED_IDS), matrix(FLOAT32), FLOAT32, INT64)),
)
_GRAPH = UINT64, UNSIGNED_IDS, UINT64, FLOAT64, types.float64, types.uint64
_GROWTH = types.Tuple((*[UINT64] * 4, *[writable(UINT64)] * 2))
push_block = kernel(*_GRAPH, types.none, *_ARGUMENTS)(_push_block)
push_block_of_grown = kernel(*_GRAPH, _GROWTH, *_ARGUMENTS)(_push_block)


@jitable
def _take_residues(count, weight, residue, pi, bound, queue, share):
    """Add wₙr⁽ⁿ⁾ to ``pi``, set the residues to 0 and queue those above their bound; returns how many these are."""
    pushes = _0
    for i in range(count):
        mass = residue[i]
        residue[i] = 0.0  # passed on, or dropped
        pi[i] += weight * mass
        queue[pushes], share[pushes] = i, mass
        pushes += np.uint64(mass > bound[i])
    return pushes


@jitable
def _look_up_degrees(
    pushes, rmax, indptr, indices, growth, node, bound, queue, share, start, end
):  # fmt: skip
    """Keep in the queue what is above d · r_max, and fill in shares and neighbours; returns how many are kept."""
    kept = _0
    for i in range(pushes):
        prefetch(indptr, node[queue[min(i + np.uint64(LOOK_UPS_AHEAD), pushes - _1)]])
        v, mass = np.uint64(node[queue[i]]), share[i]
        begin, stop = _row(indptr, growth, v)
        degree = stop - begin + _look_up_further(growth, v, kept) + _1
        part = mass / degree
        bound[queue[i]] = degree * rmax
        queue[kept], share[kept], start[kept], end[kept] = queue[i], part, begin, stop
        # A share may be so small that it is rounded to 0.
        kept += np.uint64((mass > degree * rmax) & (part > 0.0))
    for i in range(kept, kept + np.uint64(PUSHES_AHEAD)):
        start[i] = end[i] = _0
    for i in range(min(kept, np.uint64(PUSHES_AHEAD))):
        _prefetch_neighbors(indices, start[i])
    return kept


@jitable
def _row(indptr, growth, v):
    """Where the neighbours of a node begin and end in ``indices``; a new node has none there."""
    if growth is not None and v + _1 >= np.uint64(len(indptr)):
        return _0, _0
    return indptr[v], indptr[v + _1]


@jitable
def _look_up_further(growth, v, i):
    """Note for the i-th place of the queue where a node's further neighbours begin and end; returns their number."""
    if growth is None:
        return _0
    nodes, indptr, first, stop = growth[0], growth[1], growth[4], growth[5]
    low, high = _0, np.uint64(len(nodes))
    while low < high:
        middle = (low + high) >> _1
        if nodes[middle] < v:
            low = middle + _1
        else:
            high = middle
    first[i] = stop[i] = _0
    if low < np.uint64(len(nodes)) and nodes[low] == v:
        first[i], stop[i] = indptr[low], indptr[low + _1]
    return stop[i] - first[i]


@jitable
def _further(growth, i):
    """The number of further neighbours at the i-th place of the queue."""
    if growth is None:
        return _0
    return growth[5][i] - growth[4][i]


@jitable
def _prefetch_neighbors(indices, start):
    for line in range(LINES):  # as many for a short row: a branch on its length would often be mispredicted
        prefetch(indices, start + np.uint64(line * LINE))


@jitable
def _push(
    pushes, count, first, indices, growth, local, node, exponent, residue, queue, share, start, end
):  # fmt: skip
    """Push all nodes of the queue: add their shares to r⁽ⁿ⁺¹⁾; returns how many nodes are reached by now."""
    ahead = np.uint64(EDGES_AHEAD)
    for i in range(pushes):
        _prefetch_neighbors(indices, start[i + np.uint64(PUSHES_AHEAD)])
        following = start[i + _1]
        for j in range(following, min(end[i + _1], following + ahead)):
            prefetch(local, indices[j])
        begin, stop, mass = start[i], end[i], share[i]
        residue[queue[i]] += mass
        if growth is not None:
            count, begin = _add_merged(
                i, begin, mass, count, first, indices, growth, local, node, exponent, residue
            )  # fmt: skip
        middle = stop - min(ahead, stop - begin)
        for j in range(begin, middle):
            prefetch(local, indices[j + ahead])
            count = _add(indices[j], mass, count, first, local, node, exponent, residue)
        for j in range(middle, stop):
            count = _add(indices[j], mass, count, first, local, node, exponent, residue)
    return count


@jitable
def _push_cached(
    pushes, count, first, indices, growth, local, node, exponent, residue, queue, share, start, end
):  # fmt: skip
    """The same without prefetching."""
    for i in range(pushes):
        begin, stop, mass = start[i], end[i], share[i]
        residue[queue[i]] += mass
        if growth is not None:
            count, begin = _add_merged(
                i, begin, mass, count, first, indices, growth, local, node, exponent, residue
            )  # fmt: skip
        for j in range(begin, stop):
            count = _add(indices[j], mass, count, first, local, node, exponent, residue)
    return count


@jitable
def _add_merged(i, begin, mass, count, first, indices, growth, local, node, exponent, residue):
    """Add to the residues of the i-th node's further neighbours and of those that stand before them.

    Returns how many nodes have a local index, and where the other neighbours begin.
    """
    neighbors, places = growth[2], growth[3]
    for j in range(growth[4][i], growth[5][i]):
        for k in range(begin, places[j]):
            count = _add(indices[k], mass, count, first, local, node, exponent, residue)
        count = _add(neighbors[j], mass, count, first, local, node, exponent, residue)
        begin = places[j]
    return count, begin


@jitable
def _add(u, mass, count, first, local, node, exponent, residue):
    """Add to the residue of a node, which gets a local index if it has none; returns how many nodes have one."""
    entry = np.uint64(local[u])
    index = entry & _INDEX_MASK
    new = index < first
    i = count if new else index - first
    node[count], exponent[count] = u, entry >> np.uint64(INDEX_BITS)
    local[u] = entry - index + first + i
    residue[i] += mass
    return count + np.uint64(new)
