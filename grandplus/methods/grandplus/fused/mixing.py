"""The kernels of random propagation: rows of Π̃ are drawn, and the features of surviving neighbours are summed."""

from __future__ import annotations

import numpy as np
from numba import types

from grandplus.kernels.compiled import FLOAT32, IDS, INT32, INT64, jitable, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.kernels.random import uniform

NODES_AHEAD, LINES = 8, 4  # whose features are prefetched, and cache lines of each

_DRAWN = INT32, INT64, FLOAT32  # rows: where each begins, the surviving neighbours, and their values
_SPARSE_FEATURES = INT64, INT32, FLOAT32


@kernel(
    INT64, matrix(IDS), matrix(FLOAT32), types.float64, types.boolean, types.float64, types.uint64,
    *map(writable, _DRAWN),
)  # fmt: skip
def draw(positions, neighbors, values, dropnode, renormalize, scale, state, indptr, survivors, shares):
    """The v with z_v = 1 and their Π̃(s,v), renormalised if so wanted."""
    end = np.uint64(0)  # unsigned, as numba checks signed indices for being negative
    indptr[0] = 0
    for row in range(len(positions)):
        position, start, total = np.uint64(positions[row]), end, 0.0
        for i in range(np.uint64(neighbors.shape[1])):
            if neighbors[position, i] < 0:
                break
            survivors[end], shares[end] = neighbors[position, i], values[position, i]
            if dropnode > 0:
                state, number = uniform(state)
                survives = number >= dropnode
            else:
                survives = True
            total += values[position, i] * survives
            end += np.uint64(survives)  # without a branch, as the processor can't predict it
        factor = scale / total if renormalize and total > 0 else scale
        for i in range(start, end):
            shares[i] = np.float32(shares[i] * factor)
        indptr[row + 1] = end


@kernel(
    *_DRAWN, *_SPARSE_FEATURES, types.int64, types.float64, types.uint64,
    *map(writable, (INT32, INT32, FLOAT32)),
)  # fmt: skip
def mix_to_sparse(
    rows, survivors, shares, indptr, indices, data, width, dropout, state, out_indptr, out_indices, out_data
):
    """Row by row: sum into a dense row, note which columns were met, gather these and leave zeros."""
    sums = np.zeros(width, np.float32)
    unmet = np.ones(width, np.uint8)
    dropout_scale = np.float32(1 / (1 - dropout))
    end = np.uint64(0)
    out_indptr[0] = 0
    for row in range(len(rows) - 1):
        start = end
        for i in range(rows[row], rows[row + 1]):
            _prefetch_features(survivors, i + NODES_AHEAD, indptr, indices, data)
            node, share = survivors[i], shares[i]
            for j in range(np.uint64(indptr[node]), np.uint64(indptr[node + 1])):
                column = np.uint32(indices[j])
                out_indices[end] = column
                end += np.uint64(unmet[column])  # without a branch, as the processor can't predict it
                unmet[column] = 0
                sums[column] += share * data[j]
        kept = start
        for i in range(start, end):
            column = np.uint32(out_indices[i])
            out_indices[kept] = column
            out_data[kept] = sums[column] * dropout_scale
            state, number = uniform(state)
            kept += np.uint64(number >= dropout)
            sums[column] = 0
            unmet[column] = 1
        end = kept
        out_indptr[row + 1] = end


@kernel(INT64, *map(writable, (INT32, INT32, INT64)))
def number(survivors, numbers, out_indices, out_nodes):
    """Number nodes in the order in which they are met; returns how many there are. ``numbers`` is -1 at the end."""
    met = 0
    for i in range(len(survivors)):
        node = survivors[i]
        if numbers[node] < 0:
            numbers[node] = met
            out_nodes[met] = node
            met += 1
        out_indices[i] = numbers[node]
    for i in range(met):
        numbers[out_nodes[i]] = -1
    return met


@kernel(INT64, *_SPARSE_FEATURES, INT32, writable(INT32), writable(FLOAT32))
def take_rows(nodes, indptr, indices, data, out_indptr, out_indices, out_data):
    """The features of some nodes."""
    for row in range(len(nodes)):
        _prefetch_features(nodes, row + NODES_AHEAD, indptr, indices, data)
        start, out_start = np.uint64(indptr[nodes[row]]), np.uint64(out_indptr[row])
        for j in range(np.uint64(out_indptr[row + 1]) - out_start):
            out_indices[out_start + j], out_data[out_start + j] = indices[start + j], data[start + j]


@kernel(*_DRAWN, *_SPARSE_FEATURES, writable(matrix(FLOAT32)))
def mix_to_dense(rows, survivors, shares, indptr, indices, data, out):
    """Sums of sparse features."""
    for row in range(len(out)):
        line = out[row]
        line[:] = 0
        for i in range(rows[row], rows[row + 1]):
            _prefetch_features(survivors, i + NODES_AHEAD, indptr, indices, data)
            node, share = survivors[i], shares[i]
            for j in range(np.uint64(indptr[node]), np.uint64(indptr[node + 1])):
                line[np.uint32(indices[j])] += share * data[j]


@kernel(*_DRAWN, matrix(FLOAT32), writable(matrix(FLOAT32)))
def mix_dense(rows, survivors, shares, features, out):
    """Sums of dense features."""
    for row in range(len(out)):
        out[row] = 0
        for i in range(rows[row], rows[row + 1]):
            node, share = survivors[i], shares[i]
            for column in range(features.shape[1]):
                out[row, column] += share * features[node, column]


@jitable
def _prefetch_features(nodes, i, indptr, indices, data):
    """The features of nodes lie anywhere in memory: load those of a later node while earlier ones are summed."""
    if i < len(nodes):
        start = indptr[nodes[i]]
        for line in range(LINES):
            prefetch(indices, start + line * LINE)
            prefetch(data, start + line * LINE)
