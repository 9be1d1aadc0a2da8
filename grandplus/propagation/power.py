"""Exact products ΠX by power iteration, as inference needs them (the paper's Eq. 15)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.kernels.compiled import FLOAT32, UINT64, UNSIGNED_IDS, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.propagation.matrices import checked_weights
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError

BLOCK = 1024  # rows a task; each row is summed by one thread in one order, so any number gives the same bytes
BUFFERS = 3  # of the features' shape: this order's, the next one's, and the total


def propagate(
    adjacency: Adjacency | Graph | sp.sparray | sp.spmatrix,
    features: Features,
    *,
    weights: ArrayLike,
    columns: int | None = None,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Σ wₙPⁿX with P = D̃⁻¹Ã, by N sparse products and two buffers.

    Parameters
    ----------
    adjacency : n × n; self-loops are added here, once
    features : (n, d), dense or sparse; may be memory-mapped
    weights : (N + 1,), w_0..w_N
    columns : of the features to propagate at a time, all by default: takes ``BUFFERS`` arrays of (n, columns)
    out : float32 (n, d) for the result; may be memory-mapped, and may be ``features`` itself

    Returns
    -------
    float32 (n, d), C order. The same bytes for any number of workers and columns at a time.

    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> propagate(path, np.eye(3, dtype=np.float32), weights=[0.0, 1.0])[0].tolist()
    [0.5, 0.5, 0.0]
    """
    graph = as_adjacency(adjacency)
    w = checked_weights(weights)
    if features.shape[0] != graph.nodes:
        raise GrandPlusError(f"features have {features.shape[0]} rows", expected=f"{graph.nodes}, one a node")
    width = features.shape[1]
    if out is None and (columns or width) >= width:
        return _mix(graph, features, w)
    result = np.empty(features.shape, np.float32) if out is None else out
    step = columns or max(width, 1)
    for start in range(0, width, step):
        result[:, start : start + step] = _mix(graph, features[:, start : start + step], w)
    return result


def _mix(graph: Adjacency, features: Features, w: NDArray[np.float64]) -> NDArray[np.float32]:
    dense = features.toarray() if sp.issparse(features) else features
    current = np.array(dense, np.float32, order="C")
    following = np.empty_like(current)
    total = np.float32(w[0]) * current
    # Unsigned, as numba lets negative numbers count from the end.
    indptr, indices = graph.indptr.view(np.uint64), graph.indices.view(f"uint{8 * graph.indices.itemsize}")
    starts = range(0, graph.nodes, BLOCK)

    def step(start: int, weight: float) -> None:
        end = min(start + BLOCK, graph.nodes)
        _step(indptr, indices, current, following, total, weight, start, end)

    for weight in w[1:]:
        for _ in pools.map_threads(step, starts, [weight] * len(starts)):
            pass
        current, following = following, current
    return total


_DENSE = writable(matrix(FLOAT32))


@kernel(UINT64, UNSIGNED_IDS, _DENSE, _DENSE, _DENSE, types.float64, types.uint64, types.uint64)
def _step(indptr, indices, current, following, total, weight, start, end):
    """Rows start..end of P · current, and their share of the total.

    Memory bounds it: the features of a neighbour lie anywhere. So those of the next four are
    prefetched while four are added.
    """
    width = current.shape[1]
    four = np.uint64(4)
    for row in range(start, end):
        first, last = indptr[row], indptr[row + np.uint64(1)]
        result = following[row]
        result[:] = current[row]
        rest = last - (last - first) % four
        for j in range(first, rest, 4):
            for k in range(j + four, min(j + four + four, np.uint64(len(indices)))):
                ahead = current[indices[k]]
                for column in range(0, width, LINE):
                    prefetch(ahead, column)
            a, b = current[indices[j]], current[indices[j + np.uint64(1)]]
            c, d = current[indices[j + np.uint64(2)]], current[indices[j + np.uint64(3)]]
            for column in range(width):
                result[column] += (a[column] + b[column]) + (c[column] + d[column])
        for j in range(rest, last):
            neighbor = current[indices[j]]
            for column in range(width):
                result[column] += neighbor[column]
        scale = np.float32(1.0 / (last - first + np.uint64(1)))
        for column in range(width):
            result[column] *= scale
            total[row, column] += np.float32(weight) * result[column]
