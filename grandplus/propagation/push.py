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

So it is with ``weights``: of a graph with weights (`EdgeWeights`), a node passes each neighbour the share W̃_vu / D̃_v of
its residue. It is pushed above the same bound c_v · r_max, where c_v is how many entries its row has, self-loop
included; without weights c_v = d_v. A push takes more than c_v · r_max from the mass of its round, which is 1 at most.
So a round visits fewer than 1 / r_max entries, and drops at most r_max · Σ_v c_v. The theorem's bounds hold with the
number of entries, Σ_v c_v, in place of Σ_v d_v: a row takes O(N / r_max), and its error is at most N · r_max · Σ_v c_v.

Names in the kernel: ``residue`` is r⁽ⁿ⁾, whose reserve q⁽ⁿ⁾ is added to ``pi``, the sum Π̃_s = Σ wₙq⁽ⁿ⁾, at once.
``bound`` is at most d · r_max. The queue holds a node's local index, the share of its residue that each neighbour gets,
and where its neighbours stand in ``indices``.
"""

from __future__ import annotations

import numpy as np
from numba import types

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


def _push_block(
    indptr, indices, sources, w, rmax, first, growth, weights,
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
            pushes = _look_up_degrees(
                pushes, rmax, indptr, indices, growth, weights, node, bound, queue, share, start, end
            )  # fmt: skip
            if pushes == _0:
                break
            for i in range(pushes):
                edges += end[i] - start[i] + _further(growth, i) + _1
            if len(local) <= CACHED_NODES:  # numba calls no function that a variable names
                count = _push_cached(
                    pushes, count, first, indices, growth, weights,
                    local, node, exponent, residue, queue, share, start, end,
                )  # fmt: skip
            else:
                count = _push(
                    pushes, count, first, indices, growth, weights,
                    local, node, exponent, residue, queue, share, start, end,
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
_WEIGHTS = types.Tuple([FLOAT32, FLOAT32, FLOAT64] * 2)
# By whether the graph has grown, and whether it has weights.
PUSH_BLOCK = {
    (growth, weighted): kernel(
        *_GRAPH, _GROWTH if growth else types.none, _WEIGHTS if weighted else types.none, *_ARGUMENTS
    )(_push_block)
    for growth in (False, True)
    for weighted in (False, True)
}


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
    pushes, rmax, indptr, indices, growth, weights, node, bound, queue, share, start, end
):  # fmt: skip
    """Keep in the queue what is above d · r_max, and fill in shares and neighbours; returns how many are kept."""
    kept = _0
    for i in range(pushes):
        later = node[queue[min(i + np.uint64(LOOK_UPS_AHEAD), pushes - _1)]]
        prefetch(indptr, later)
        if weights is not None:
            prefetch(weights[1], later)
            prefetch(weights[2], later)
        v, mass = np.uint64(node[queue[i]]), share[i]
        begin, stop = _row(indptr, growth, v)
        degree = stop - begin + _look_up_further(growth, v, kept) + _1
        part = mass / _strength(growth, weights, v, degree)
        bound[queue[i]] = degree * rmax
        queue[kept], share[kept], start[kept], end[kept] = queue[i], part, begin, stop
        # A share may be so small that it is rounded to 0.
        kept += np.uint64((mass > degree * rmax) & (part > 0.0))
    for i in range(kept, kept + np.uint64(PUSHES_AHEAD)):
        start[i] = end[i] = _0
    for i in range(min(kept, np.uint64(PUSHES_AHEAD))):
        _prefetch_neighbors(indices, weights, start[i])
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
def _strength(growth, weights, v, degree):
    """The sum of a node's row of W̃."""
    if weights is None:
        return degree
    loops, strengths, new_loops, new_strengths = weights[1], weights[2], weights[4], weights[5]
    if growth is not None:
        nodes = growth[0]
        found = np.uint64(np.searchsorted(nodes, v))
        if found < np.uint64(len(nodes)) and nodes[found] == v:
            return new_strengths[found]
        if v >= np.uint64(len(loops)):
            return np.float64(new_loops[v - np.uint64(len(loops))])
    return strengths[v]


@jitable
def _of_loop(growth, weights, v, mass):
    """What a node passes to itself."""
    if weights is None:
        return mass
    loops, new_loops = weights[1], weights[4]
    if growth is not None and v >= np.uint64(len(loops)):
        return mass * new_loops[v - np.uint64(len(loops))]
    return mass * loops[v]


@jitable
def _of_entry(weights, j, mass):
    """What the neighbour of a stored entry is passed."""
    if weights is None:
        return mass
    return mass * weights[0][j]


@jitable
def _of_further(weights, j, mass):
    """What a further neighbour is passed."""
    if weights is None:
        return mass
    return mass * weights[3][j]


@jitable
def _further(growth, i):
    """The number of further neighbours at the i-th place of the queue."""
    if growth is None:
        return _0
    return growth[5][i] - growth[4][i]


@jitable
def _prefetch_neighbors(indices, weights, start):
    for line in range(LINES):  # as many for a short row: a branch on its length would often be mispredicted
        prefetch(indices, start + np.uint64(line * LINE))
        if weights is not None:
            prefetch(weights[0], start + np.uint64(line * LINE))


@jitable
def _push(
    pushes, count, first, indices, growth, weights,
    local, node, exponent, residue, queue, share, start, end,
):  # fmt: skip
    """Push all nodes of the queue: add their shares to r⁽ⁿ⁺¹⁾; returns how many nodes are reached by now."""
    ahead = np.uint64(EDGES_AHEAD)
    for i in range(pushes):
        _prefetch_neighbors(indices, weights, start[i + np.uint64(PUSHES_AHEAD)])
        following = start[i + _1]
        for j in range(following, min(end[i + _1], following + ahead)):
            prefetch(local, indices[j])
        begin, stop, mass = start[i], end[i], share[i]
        residue[queue[i]] += _of_loop(growth, weights, np.uint64(node[queue[i]]), mass)
        if growth is not None:
            count, begin = _add_merged(
                i, begin, mass, count, first, indices, growth, weights, local, node, exponent, residue
            )  # fmt: skip
        middle = stop - min(ahead, stop - begin)
        for j in range(begin, middle):
            prefetch(local, indices[j + ahead])
            count = _add(indices[j], _of_entry(weights, j, mass), count, first, local, node, exponent, residue)
        for j in range(middle, stop):
            count = _add(indices[j], _of_entry(weights, j, mass), count, first, local, node, exponent, residue)
    return count


@jitable
def _push_cached(
    pushes, count, first, indices, growth, weights,
    local, node, exponent, residue, queue, share, start, end,
):  # fmt: skip
    """The same without prefetching."""
    for i in range(pushes):
        begin, stop, mass = start[i], end[i], share[i]
        residue[queue[i]] += _of_loop(growth, weights, np.uint64(node[queue[i]]), mass)
        if growth is not None:
            count, begin = _add_merged(
                i, begin, mass, count, first, indices, growth, weights, local, node, exponent, residue
            )  # fmt: skip
        for j in range(begin, stop):
            count = _add(indices[j], _of_entry(weights, j, mass), count, first, local, node, exponent, residue)
    return count


@jitable
def _add_merged(
    i, begin, mass, count, first, indices, growth, weights, local, node, exponent, residue
):  # fmt: skip
    """Add to the residues of the i-th node's further neighbours and of those that stand before them.

    Returns how many nodes have a local index, and where the other neighbours begin.
    """
    neighbors, places = growth[2], growth[3]
    for j in range(growth[4][i], growth[5][i]):
        for k in range(begin, places[j]):
            count = _add(indices[k], _of_entry(weights, k, mass), count, first, local, node, exponent, residue)
        count = _add(neighbors[j], _of_further(weights, j, mass), count, first, local, node, exponent, residue)
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
