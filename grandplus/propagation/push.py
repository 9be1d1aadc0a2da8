"""The kernel of GFPush: Algorithm 1 and top-k for a block of sources.

What a row costs is set by the memory it has to wait for, not by its arithmetic. So:

- A row numbers the nodes it reaches from 0, in the order in which it reaches them. Their masses lie
  side by side, in cache, and every pass but one runs straight through them. The one access at random
  that an edge takes is to ``place``, four bytes a node that tell a node's number.
- ``place`` is never cleared: a row's numbers start from where the last row's ended, and whatever is
  lower is of an earlier row.
- Which nodes are pushed in a round is known before the first is. Their edges are prefetched some
  pushes ahead, and ``place`` some edges ahead.
- What depends on the data is added up rather than branched on: a new node's number is taken by
  adding 0 or 1 to the count. All numbers are unsigned, as numba lets negative ones count from the end.
- Beside its number, a node's place holds the logarithm of its degree. So few degrees are looked up:
  those of nodes that hold more than r_max times the power of two below theirs.
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
from grandplus.kernels.prefetch import LINE, prefetch

NUMBER_BITS = 27  # of 32; the rest hold the logarithm of the degree
NUMBERS = 2**NUMBER_BITS
EDGES_AHEAD = 64
PUSHES_AHEAD = 8
LOOK_UPS_AHEAD = 16
LINES = 4  # prefetched of a row of the adjacency; the processor goes on by itself in longer ones
_0, _1 = np.uint64(0), np.uint64(1)
_NUMBER = np.uint64(NUMBERS - 1)
_LOW_32 = np.uint64(2**32 - 1)


@kernel(UINT64, writable(UINT32))
def write_degrees(indptr, place):
    """The whole part of the logarithm of each degree, which is its exponent as a float, above the numbers' bits."""
    for v in range(np.uint64(len(place))):
        degree = np.float64(indptr[v + _1] - indptr[v] + _1)
        exponent = (degree.view(np.uint64) >> np.uint64(52)) - np.uint64(1023)
        place[v] = exponent << np.uint64(NUMBER_BITS)


# Lists of the nodes that a row reaches have room for one more than there can be, and those of
# pushes for PUSHES_AHEAD more: what is added up rather than branched on writes there in vain.


@kernel(
    UINT64, UNSIGNED_IDS, UINT64, FLOAT64, types.float64,
    types.uint64, *map(writable, (UINT32, UINT32, UINT8, FLOAT64, FLOAT64, FLOAT64)),
    *map(writable, (UINT32, FLOAT64, UINT64, UINT64, UINT64)),
    *map(writable, (matrix(UNSIGNED_IDS), matrix(FLOAT32), FLOAT32, INT64)),
)  # fmt: skip
def push_block(
    indptr, indices, sources, w, rmax,
    first, place, node, code, residue, mixed, limit, push, push_share, push_start, push_end, best,
    out_neighbors, out_weights, out_error, out_edges,
):  # fmt: skip
    """Rows of ``sources``, numbered from ``first``; returns the first number of the next block.

    ``residue`` is all zero before and after, and ``place`` below ``first``.
    """
    last = len(w) - 1
    for row in range(len(sources)):
        if first + np.uint64(len(node)) > NUMBERS:
            for u in range(len(place)):
                place[u] &= ~_NUMBER
            first = _1
        # r^(0) = e_s
        count = _give(sources[row], 1.0, _0, first, place, node, code, residue)
        known, edges = _0, _0
        for order in range(last):
            for i in range(known, count):
                limit[i], mixed[i] = (_1 << np.uint64(code[i])) * rmax, 0.0
            known = count
            pushes = _take_residues(count, w[order], residue, mixed, limit, push, push_share)
            pushes = _look_up(
                pushes, rmax, indptr, indices, node, limit, push, push_share, push_start, push_end
            )  # fmt: skip
            if pushes == _0:
                break
            for i in range(pushes):
                edges += push_end[i] - push_start[i] + _1
            count = _pass_on(
                pushes, count, first, indices, place, node, code, residue, push, push_share, push_start, push_end
            )
        mixed[known:count] = 0.0
        for i in range(count):
            mixed[i] += w[last] * residue[i]
            residue[i] = 0.0
        kept = 0.0
        for i in range(_choose(count, node, mixed, push, best, out_neighbors.shape[1])):
            u = best[i] & _LOW_32
            mass = mixed[(place[u] & _NUMBER) - first]
            out_neighbors[row, i], out_weights[row, i] = u, mass
            kept += mass
        out_error[row] = max(0.0, 1.0 - kept)
        out_edges[row] = edges
        first += count
    return first


@jitable
def _take_residues(count, weight, residue, mixed, limit, push, push_share):
    """Mix in r^(n), clear it, and list the nodes to push with what they hold."""
    pushes = _0
    for i in range(count):
        mass = residue[i]
        residue[i] = 0.0  # passed on, or dropped
        mixed[i] += weight * mass
        push[pushes], push_share[pushes] = i, mass
        pushes += np.uint64(mass > limit[i])
    return pushes


@jitable
def _look_up(
    pushes, rmax, indptr, indices, node, limit, push, push_share, push_start, push_end
):  # fmt: skip
    """Of nodes that may be pushed, keep those that are: where their neighbours lie, and what each gets."""
    kept = _0
    for i in range(pushes):
        prefetch(indptr, node[push[min(i + np.uint64(LOOK_UPS_AHEAD), pushes - _1)]])
        v, mass = np.uint64(node[push[i]]), push_share[i]
        start, end = indptr[v], indptr[v + _1]
        degree = end - start + _1
        share = mass / degree
        limit[push[i]] = degree * rmax
        push[kept], push_share[kept], push_start[kept], push_end[kept] = push[i], share, start, end
        # A share may be so small that it is rounded to nothing.
        kept += np.uint64((mass > degree * rmax) & (share > 0.0))
    for i in range(kept, kept + np.uint64(PUSHES_AHEAD)):
        push_start[i] = push_end[i] = _0
    for i in range(min(kept, np.uint64(PUSHES_AHEAD))):
        _prefetch_row(indices, push_start[i])
    return kept


@jitable
def _prefetch_row(indices, start):
    for line in range(LINES):  # however short the row is: where it ends can't be foreseen, and a wrong guess costs more
        prefetch(indices, start + np.uint64(line * LINE))


@jitable
def _pass_on(
    pushes, count, first, indices, place, node, code, residue, push, push_share, push_start, push_end
):  # fmt: skip
    """Give shares to the neighbours of all nodes to push; returns the new count of reached nodes."""
    ahead = np.uint64(EDGES_AHEAD)
    for i in range(pushes):
        _prefetch_row(indices, push_start[i + np.uint64(PUSHES_AHEAD)])
        following = push_start[i + _1]
        for j in range(following, min(push_end[i + _1], following + ahead)):
            prefetch(place, indices[j])
        start, end, share = push_start[i], push_end[i], push_share[i]
        residue[push[i]] += share
        middle = end - min(ahead, end - start)
        for j in range(start, middle):
            prefetch(place, indices[j + ahead])
            count = _give(indices[j], share, count, first, place, node, code, residue)
        for j in range(middle, end):
            count = _give(indices[j], share, count, first, place, node, code, residue)
    return count


@jitable
def _give(u, share, count, first, place, node, code, residue):
    at = np.uint64(place[u])
    number = at & _NUMBER
    new = number < first
    i = count if new else number - first
    node[count], code[count] = u, at >> np.uint64(NUMBER_BITS)
    place[u] = at - number + first + i
    residue[i] += share
    return count + np.uint64(new)


@jitable
def _choose(count, node, mixed, rank, best, top_k):
    """The ``top_k`` largest, in order, to the front of ``best``; returns how many there are.

    Each is a key that ranks by the float32 weight and then by the node, lowest first. Candidates
    gather until there is no more room; then the best stay, and the last of them is what any other
    has to reach. ``rank`` is overwritten with the weights' bits, which are in the same order.
    """
    weight = rank.view(np.float32)
    for i in range(count):
        weight[i] = mixed[i]
    found, least = 0, _least(count, rank, best.view(np.uint32)[: len(best)], top_k)
    for i in range(count):
        if rank[i] >= least and mixed[i] > 0.0:
            best[found] = (_LOW_32 - np.uint64(rank[i])) << np.uint64(32) | np.uint64(node[i])
            found += 1
            if found == len(best):
                best.sort()
                found = top_k
                least = np.uint32(_LOW_32 - (best[top_k - 1] >> np.uint64(32)))
    best[:found].sort()
    return min(found, top_k)


@jitable
def _least(count, rank, group, top_k):
    """A bound that the ``top_k`` largest reach, and few others: the ``top_k``-th largest of groups' maxima."""
    groups = np.uint64(len(group))
    group[:] = 0
    for start in range(_0, count, groups):
        for i in range(min(groups, count - start)):
            group[i] = max(group[i], rank[start + i])
    group.sort()
    return group[len(group) - top_k]
