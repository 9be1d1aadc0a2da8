"""The largest entries of a list, in order, for kernels."""

from __future__ import annotations

import numpy as np

from grandplus.kernels.compiled import jitable

SORTED_BY_INSERTION = 96  # keys at most; for its stack numba's own sort takes memory first
BOUND_BITS = 14  # of the bound that the largest values reach
_1, _32 = np.uint64(1), np.uint64(32)
_LOW_32 = np.uint64(2**32 - 1)
_HIGHEST_BIT = np.uint64(2**29)  # of a float32 from 0 to 1


@jitable
def choose_largest(count, node, values, rank, best, top_k):
    """The ``top_k`` largest entries, in order, to the front of ``best``; returns how many there are.

    Each is a key of 64 bits, the lowest first: the complement of the float32 value's bits, whose order is that of the
    values, and the node. Candidates are gathered until ``best`` is full. Then it is sorted, the first ``top_k`` stay,
    and the last of these is the bound for all that follow.

    Parameters
    ----------
    count : uint64
        How many entries there are.
    node : ndarray of uint32, shape (count,) or more
        Each once. Of equal values those of the lowest nodes are chosen, in their order.
    values : ndarray of float64, shape (count,) or more
        From 0 to 1. Zeros are not chosen.
    rank : ndarray of uint32, shape (count,) or more
        Memory for the values' bits.
    best : ndarray of uint64, shape (2 * top_k + 32,)
        The lower 32 bits of a key are the node.
    top_k : int
    """
    value = rank.view(np.float32)
    for i in range(count):
        value[i] = values[i]
    kept, length, least = np.uint64(top_k), np.uint64(0), np.uint64(0)
    if count > kept:
        least = _lower_bound(count, rank, best.view(np.uint32)[: len(best)], kept)
    for i in range(count):
        if rank[i] >= least:
            best[length] = (_LOW_32 - np.uint64(rank[i])) << _32 | np.uint64(node[i])
            length += np.uint64(values[i] > 0.0)
            if length == len(best):
                _sort(best, length)
                length, least = kept, _LOW_32 - (best[kept - _1] >> _32)
    _sort(best, length)
    return min(length, kept)


@jitable
def _lower_bound(count, rank, group, top_k):
    """A bound that the ``top_k`` largest and few others reach, since ``top_k`` of the maxima of groups do.

    It is the largest such number whose lower bits are 0. Each bit is found by counting, which takes no branch on data.
    """
    groups = np.uint64(len(group))
    group[:] = 0
    for start in range(np.uint64(0), count, groups):
        for i in range(min(groups, count - start)):
            group[i] = max(group[i], rank[start + i])
    bound = np.uint64(0)
    for bit in range(BOUND_BITS):
        higher, reached = bound | _HIGHEST_BIT >> np.uint64(bit), 0
        for i in range(groups):
            reached += group[i] >= higher
        if reached >= top_k:
            bound = higher
    return bound


@jitable
def _sort(keys, length):
    """Sort the first ``length`` keys."""
    if length > SORTED_BY_INSERTION:
        keys[:length].sort()
        return
    for i in range(_1, length):
        key, j = keys[i], np.uint64(i)
        while j > np.uint64(0) and keys[j - _1] > key:
            keys[j] = keys[j - _1]
            j -= _1
        keys[j] = key
