"""Edges in any order -> symmetric CSR with sorted rows, in the memory of the result.

The edges are only ever read piece by piece, so they may be memory-mapped. Both directions of each
are counted, placed by counting sort, sorted row by row, and merged where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.kernels.compiled import IDS, INT64, kernel, writable
from grandplus.runtime import pools

PIECE = 2**22  # edges read at a time
BLOCK = 2**14  # rows sorted in a task


def symmetrize(
    edges: NDArray[Any], nodes: int, index_type: type[np.signedinteger[Any]]
) -> tuple[NDArray[np.int64], NDArray[Any], int]:
    """CSR of the undirected graph, each edge once in each direction, without self-loops.

    Parameters
    ----------
    edges : int32 or int64 (2, E)
        Ids from 0 to ``nodes`` - 1.
    nodes : int
        n.
    index_type : {int32, int64}
        Of the ids in the result.

    Returns
    -------
    indptr : int64 (n + 1,)
    indices : (2 m,)
        Sorted within rows.
    loops : int
        How many entries were self-loops.
    """
    indptr = np.zeros(nodes + 1, np.int64)
    loops = sum(_count(*piece, indptr) for piece in _pieces(edges))
    np.cumsum(indptr, out=indptr)
    indices = np.empty(2 * (edges.shape[1] - loops), index_type)
    free = indptr[:-1].copy()
    for piece in _pieces(edges):
        _place(*piece, free, indices)

    def sort(start: int) -> None:
        _sort(indptr[start : start + BLOCK + 1], indices)

    for _ in pools.map_threads(sort, range(0, nodes, BLOCK)):
        pass
    left = _merge(indptr, indices)
    return indptr, indices[:left], loops


def _pieces(edges: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, edges.shape[1], PIECE):
        yield np.ascontiguousarray(edges[:, start : start + PIECE])


@kernel(IDS, IDS, writable(INT64))
def _count(sources, targets, indptr):
    """Add each degree to the next node's entry of ``indptr``; returns how many edges are self-loops."""
    loops = 0
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u == v:
            loops += 1
        else:
            indptr[u + 1] += 1
            indptr[v + 1] += 1
    return loops


@kernel(IDS, IDS, writable(INT64), writable(IDS))
def _place(sources, targets, free, indices):
    """Write both directions of each edge to the first free entry of its row."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v:
            indices[free[u]] = v
            free[u] += 1
            indices[free[v]] = u
            free[v] += 1


@kernel(INT64, writable(IDS))
def _sort(indptr, indices):
    """Sort each row, by insertion where it is short."""
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        if end - start > 32:
            indices[start:end].sort()
            continue
        for i in range(start + 1, end):
            value, j = indices[i], i
            while j > start and indices[j - 1] > value:
                indices[j] = indices[j - 1]
                j -= 1
            indices[j] = value


@kernel(writable(INT64), writable(IDS))
def _merge(indptr, indices):
    """Drop repeated entries, in place; returns how many are left."""
    kept = end = 0
    for row in range(len(indptr) - 1):
        start, end = end, indptr[row + 1]
        for i in range(start, end):
            if i == start or indices[i] != indices[i - 1]:
                # indices[i - 1] still has its value: what was written lies before it, or was that value.
                indices[kept] = indices[i]
                kept += 1
        indptr[row + 1] = kept
    return kept
