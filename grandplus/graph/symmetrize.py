"""Edges in any order -> symmetric CSR with sorted rows, by all threads.

Memory is bound by random access, so both directions of each edge are first distributed over blocks of consecutive rows,
which fit the cache (a radix pass); then each block is sorted by itself, and repeated entries are dropped. The blocks
lie where the result will be, so besides the result there are only two bytes for each of its entries.

The edges are only ever read piece by piece, so they may be memory-mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from grandplus.kernels.compiled import IDS, INT64, UINT16, jitable, kernel, writable
from grandplus.runtime import pools
from grandplus.runtime.errors import ArgumentError

PIECE = 2**22  # edges read at a time
ENTRIES = 2**19  # in a block, on average: 3 MB
ROWS = 2**16  # in a block, at most: their numbers within it have two bytes


def symmetrize(
    edges: NDArray[Any], nodes: int, index_type: type[np.signedinteger[Any]]
) -> tuple[NDArray[np.int64], NDArray[Any], int]:
    """CSR of the undirected graph, each edge once in each direction, without self-loops.

    Parameters
    ----------
    edges : int32 or int64 (2, E)
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

    Raises
    ------
    ArgumentError
        An id is not in 0 .. n - 1.

    Examples
    --------
    >>> indptr, indices, loops = symmetrize(np.array([[0, 1, 2], [1, 0, 2]]), 3, np.int32)
    >>> indptr.tolist(), indices.tolist(), loops
    ([0, 1, 2, 2], [1, 0], 1)
    """
    starts = range(0, edges.shape[1], PIECE)
    shift = _shift(edges.shape[1], nodes)
    blocks = -(-nodes >> shift) if nodes else 0
    counts = np.zeros((len(starts), blocks), np.int64)  # entries by piece and block, then where these begin

    def count(number: int, start: int) -> None:
        piece = _piece(edges, start)
        _check(piece, nodes)
        _count(*piece, shift, counts[number])

    _for_each(count, range(len(starts)), starts)
    bounds = np.append(0, np.cumsum(counts.sum(axis=0)))
    indices, local = np.empty(bounds[-1], index_type), np.empty(bounds[-1], np.uint16)
    free = bounds[:-1] + np.cumsum(counts, axis=0) - counts

    def distribute(number: int, start: int) -> None:
        _distribute(*_piece(edges, start), shift, free[number], indices, local)

    _for_each(distribute, range(len(starts)), starts)
    indptr = np.zeros(nodes + 1, np.int64)

    def sort(block: int) -> None:
        entries = slice(bounds[block], bounds[block + 1])
        degrees = indptr[1 + (block << shift) : 1 + (block + 1 << shift)]
        _sort(indices[entries].copy(), local[entries], indices[entries], degrees)

    _for_each(sort, range(blocks))
    np.cumsum(indptr, out=indptr)
    _close_gaps(indptr, bounds, shift, indices)
    return indptr, indices[: indptr[-1]], edges.shape[1] - len(indices) // 2


def _shift(edges: int, nodes: int) -> int:
    """The power of two of the rows in a block."""
    rows = min(ROWS, max(1, ENTRIES * nodes // max(2 * edges, 1)))
    return int(rows).bit_length() - 1


def _for_each(function: Callable[..., None], *arguments: Iterable[Any]) -> None:
    for _ in pools.map_threads(function, *arguments):
        pass


def _piece(edges: NDArray[Any], start: int) -> NDArray[Any]:
    return np.ascontiguousarray(edges[:, start : start + PIECE])


def _check(piece: NDArray[Any], nodes: int) -> None:
    for bad in (piece.min(), piece.max()):
        if not 0 <= bad < nodes:
            raise ArgumentError(f"an edge names node {bad}", expected=f"ids from 0 to {nodes - 1}")


@kernel(IDS, IDS, types.int64, writable(INT64))
def _count(sources, targets, shift, counts):
    """How many entries a piece of the edges has in each block."""
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v:
            counts[u >> shift] += 1
            counts[v >> shift] += 1


@kernel(IDS, IDS, types.int64, writable(INT64), writable(IDS), writable(UINT16))
def _distribute(sources, targets, shift, free, indices, local):
    """Write both directions of each edge to the first free entry of its block."""
    low = (1 << shift) - 1
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        if u != v:
            entry = free[u >> shift]
            free[u >> shift] = entry + 1
            indices[entry], local[entry] = v, u & low
            entry = free[v >> shift]
            free[v >> shift] = entry + 1
            indices[entry], local[entry] = u, v & low


@kernel(IDS, UINT16, writable(IDS), writable(INT64))
def _sort(targets, rows, indices, degrees):
    """Sort the entries of a block by row and within rows, each once, and count those of each row."""
    start = np.zeros(len(degrees) + 1, np.int64)
    for row in rows:
        start[row + 1] += 1
    for row in range(len(degrees)):
        start[row + 1] += start[row]
    free = start[:-1].copy()
    for i in range(len(rows)):
        indices[free[rows[i]]] = targets[i]
        free[rows[i]] += 1
    kept = 0
    for row in range(len(degrees)):
        _sort_row(indices[start[row] : start[row + 1]])
        first = kept
        for i in range(start[row], start[row + 1]):
            if kept == first or indices[i] != indices[kept - 1]:
                indices[kept] = indices[i]
                kept += 1
        degrees[row] = kept - first


@jitable
def _sort_row(row):
    """By insertion where it is short."""
    if len(row) > 32:
        row.sort()
        return
    for i in range(1, len(row)):
        value, j = row[i], i
        while j > 0 and row[j - 1] > value:
            row[j] = row[j - 1]
            j -= 1
        row[j] = value


@kernel(INT64, INT64, types.int64, writable(IDS))
def _close_gaps(indptr, bounds, shift, indices):
    """Move each block's entries, which are at its start, behind those of the blocks before it."""
    for block in range(len(bounds) - 1):
        to, end = indptr[block << shift], indptr[min(block + 1 << shift, len(indptr) - 1)]
        if to < bounds[block]:
            for i in range(end - to):
                indices[to + i] = indices[bounds[block] + i]
