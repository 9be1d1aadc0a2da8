"""What subgraphs and means over neighbours cost, in machine code.

Node ids are unsigned, since numba lets negative indices count from the end, which takes instructions.
"""

from __future__ import annotations

import numpy as np
from numba import types

from grandplus.kernels.compiled import (
    FLOAT32,
    INT32,
    INT64,
    UINT8,
    UINT64,
    UNSIGNED_IDS,
    jitable,
    kernel,
    matrix,
    writable,
)
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.kernels.random import SPREAD, mix, uniform

AHEAD = np.uint64(4)  # neighbours
LARGEST = 1e4  # of the factors of edges, as in the authors' program


@kernel(
    UINT64,
    UNSIGNED_IDS,
    INT64,
    types.int64,
    types.int64,
    types.uint64,
    types.uint64,
    writable(matrix(UINT8)),
    types.int64,
    types.uint8,
)
def walk(indptr, indices, starts, walks, depth, seed, number, marks, lane, bit):
    """Set a bit of the nodes that the walks of a subgraph visit."""
    state = mix(seed + mix(number * SPREAD))
    for _ in range(walks):
        state, share = uniform(state)
        node = np.uint64(starts[np.uint64(share * len(starts))])
        marks[node, lane] |= bit
        for _ in range(depth):
            first, neighbors = indptr[node], indptr[node + np.uint64(1)] - indptr[node]
            if neighbors == np.uint64(0):
                break
            state, share = uniform(state)
            node = np.uint64(indices[first + np.uint64(share * np.float64(neighbors))])
            marks[node, lane] |= bit


@kernel(UINT64, UNSIGNED_IDS, UINT64, types.uint64, types.uint64, writable(INT32), writable(INT32))
def count(indptr, indices, words, start, end, of_nodes, of_edges):
    """Add how many subgraphs of a batch have a node, and both ends of an edge."""
    for node in range(start, end):
        word = words[node]
        if word == np.uint64(0):
            continue
        of_nodes[node] += _bits(word)
        for j in range(indptr[node], indptr[node + np.uint64(1)]):
            of_edges[j] += _bits(word & words[np.uint64(indices[j])])


@jitable
def _bits(word):
    """How many bits are set; the compiler has an instruction for it."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(UINT64, UNSIGNED_IDS, INT64, UINT8, writable(INT64))
def count_entries(indptr, indices, nodes, marks, out_indptr):
    """Where the rows of a subgraph's adjacency begin."""
    for row in range(len(nodes)):
        node, entries = np.uint64(nodes[row]), 0
        for j in range(indptr[node], indptr[node + np.uint64(1)]):
            entries += marks[np.uint64(indices[j])] != 0
        out_indptr[row + 1] = out_indptr[row] + entries


@kernel(
    UINT64,
    UNSIGNED_IDS,
    INT64,
    UINT8,
    INT64,
    INT32,
    INT32,
    INT64,
    writable(INT64),
    writable(INT64),
    writable(INT64),
    writable(FLOAT32),
)
def fill(indptr, indices, nodes, marks, place, of_nodes, of_edges, out_indptr, following, out_indices, order, values):
    """The columns of a subgraph's adjacency, its values, and where the value of the opposite entry stands.

    Rows are ascending, so an entry's opposite is the next one in the row of its column.
    """
    for row in range(len(nodes)):
        node, entry = np.uint64(nodes[row]), np.uint64(out_indptr[row])
        first, last = indptr[node], indptr[node + np.uint64(1)]
        for j in range(first, last):
            neighbor = np.uint64(indices[j])
            if marks[neighbor] == 0:
                continue
            column = np.uint64(place[neighbor])
            out_indices[entry] = column
            order[np.uint64(following[column])] = entry
            following[column] += 1
            factor = min(np.float64(of_nodes[node]) / np.float64(of_edges[j]), LARGEST)
            values[entry] = factor / np.float64(last - first)
            entry += np.uint64(1)


@kernel(UINT64, UNSIGNED_IDS, INT64, matrix(FLOAT32), writable(matrix(FLOAT32)))
def means(indptr, indices, nodes, values, out):
    """The mean of the neighbours' values of some nodes; ``out`` comes with zeros.

    Its time is that of reading values, which lie anywhere in memory. So those of a later neighbour are prefetched.
    """
    width = np.uint64(values.shape[1])
    for row in range(len(nodes)):
        first, last = indptr[np.uint64(nodes[row])], indptr[np.uint64(nodes[row]) + np.uint64(1)]
        result = out[row]
        for j in range(first, last):
            ahead = values[indices[min(j + AHEAD, np.uint64(len(indices)) - np.uint64(1))]]
            for column in range(0, width, LINE):
                prefetch(ahead, column)
            neighbor = values[indices[j]]
            for column in range(width):
                result[column] += neighbor[column]
        scale = np.float32(1.0 / max(last - first, np.uint64(1)))
        for column in range(width):
            result[column] *= scale
