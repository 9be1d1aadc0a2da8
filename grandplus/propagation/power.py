"""Exact products ΠX by power iteration, which inference needs (the paper's Eq. 15)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.kernels.compiled import FLOAT32, FLOAT64, UINT64, UNSIGNED_IDS, jitable, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.propagation.matrices import checked_weights
from grandplus.runtime import pools
from grandplus.runtime.errors import ArgumentError

BLOCK = 1024  # rows a task; each row is summed by one thread in one order, so any number gives the same bytes
BUFFERS = 3  # arrays of the features' shape: PⁿX, Pⁿ⁺¹X and the sum


def propagate(
    adjacency: Adjacency | Graph | sp.sparray | sp.spmatrix,
    features: Features,
    *,
    weights: ArrayLike,
    columns: int | None = None,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """ΠX = Σ wₙPⁿX with P = D̃⁻¹Ã, or D̃⁻¹W̃ of a graph with weights, exactly, by N sparse products.

    The result has the same bytes for any number of workers and of columns at a time.

    Parameters
    ----------
    adjacency : Graph, Adjacency or scipy sparse matrix, shape (n, n)
        The graph. A scipy matrix is made symmetric and its values are ignored; `Adjacency.of` gives one in which they
        are weights, or edges have a direction. Self-loops are added here, once.
    features : ndarray or scipy sparse matrix, shape (n, d)
        The matrix X; it may be memory-mapped.
    weights : array_like of float, shape (N + 1,)
        w_0..w_N, non-negative and summing to 1, as from ``propagation_weights``.
    columns : int, optional
        How many columns of X to propagate at a time, which takes memory for ``BUFFERS`` arrays of (n, columns); all
        by default.
    out : ndarray of float32, shape (n, d), optional
        Where the result goes. It may be memory-mapped, and it may be ``features`` itself.

    Returns
    -------
    ndarray of float32, shape (n, d)
        In C order, or ``out``.

    Raises
    ------
    ArgumentError
        The features are no matrix of numbers with a row for each node, the weights do not sum to 1, or ``columns`` or
        ``out`` is not as described.

    Examples
    --------
    One step on a path of three nodes: each node gets the mean of its neighbourhood, itself included.

    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> x = np.array([[0], [3], [9]], np.float32)
    >>> propagate(path, x, weights=[0.0, 1.0]).tolist()
    [[1.5], [4.0], [6.0]]
    """
    graph = as_adjacency(adjacency)
    w = checked_weights(weights)
    _check_features(features, graph.nodes)
    _check_columns(columns)
    if out is not None:
        _check_out(out, features.shape)
    width = features.shape[1]
    if out is None and (columns or width) >= width:
        return _product(graph, features, w)
    result = np.empty(features.shape, np.float32) if out is None else out
    step = columns or max(width, 1)
    for start in range(0, width, step):
        result[:, start : start + step] = _product(graph, features[:, start : start + step], w)
    return result


def column_sums(adjacency: Adjacency, weights: ArrayLike) -> NDArray[np.float64]:
    """The sums of Π's columns: how much of all nodes' walks ends at each node.

    Parameters
    ----------
    adjacency : Adjacency of n nodes
    weights : array_like of float, shape (N + 1,)
        w_0..w_N.

    Returns
    -------
    ndarray of float64, shape (n,)
        They sum to n.

    Examples
    --------
    An edge from node 0 to node 1, which a walk can't leave:

    >>> one_way = Adjacency.of(sp.csr_array([[0, 1], [0, 0]]), direction="out")
    >>> column_sums(one_way, [0.0, 1.0]).tolist()
    [0.5, 1.5]
    """
    strengths = np.asarray(adjacency.strengths)
    if adjacency.symmetric and adjacency.weights is None:  # D̃Π is symmetric, too: the sums are D̃ΠD̃⁻¹1
        return strengths * propagate(adjacency, (1 / strengths)[:, None].astype(np.float32), weights=weights)[:, 0]
    first, *others = checked_weights(weights)
    power = np.ones(adjacency.nodes)
    total = first * power
    walk, loops = adjacency.matrix(), adjacency.loops
    for weight in others:
        share = power / strengths
        power = walk.T @ share + loops * share
        total += weight * power
    return np.asarray(total)


def _check_features(features: Any, nodes: int) -> None:
    if not (sp.issparse(features) or isinstance(features, np.ndarray)):
        found = f"features is a {type(features).__name__}"
        raise ArgumentError(found, expected="a numpy array or a scipy sparse matrix")
    if features.ndim != 2 or features.dtype.kind not in "biuf":
        found = f"features has shape {features.shape} and type {features.dtype}"
        raise ArgumentError(found, expected="two dimensions, and numbers")
    if features.shape[0] != nodes:
        raise ArgumentError(f"features have {features.shape[0]} rows", expected=f"{nodes}, one a node")


def _check_columns(columns: Any) -> None:
    if columns is not None and not (isinstance(columns, int | np.integer) and columns >= 1):
        raise ArgumentError(f"columns is {columns!r}", expected="a whole number of at least 1, or None")


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(out, np.ndarray):
        raise ArgumentError(f"out is a {type(out).__name__}", expected="a numpy array")
    if out.shape != shape or out.dtype != np.float32 or not out.flags.writeable:
        found = f"out has shape {out.shape} and type {out.dtype}{'' if out.flags.writeable else ', and is read-only'}"
        raise ArgumentError(found, expected=f"an array to write in, of shape {shape} and type float32")


def _product(graph: Adjacency, features: Features, w: NDArray[np.float64]) -> NDArray[np.float32]:
    dense = features.toarray() if sp.issparse(features) else features
    current = np.array(dense, np.float32, order="C")
    following = np.empty_like(current)
    total = np.float32(w[0]) * current
    # Unsigned, since numba lets negative indices count from the end, which takes instructions.
    indptr, indices = graph.indptr.view(np.uint64), graph.indices.view(f"uint{8 * graph.indices.itemsize}")
    step_of_rows = _step if graph.weights is None else _step_with_weights
    edge_weights = None if graph.weights is None else graph.weights.arrays
    starts = range(0, graph.nodes, BLOCK)

    def step(start: int, weight: float) -> None:
        end = min(start + BLOCK, graph.nodes)
        step_of_rows(indptr, indices, edge_weights, current, following, total, weight, start, end)

    for weight in w[1:]:
        for _ in pools.map_threads(step, starts, [weight] * len(starts)):
            pass
        current, following = following, current
    return total


_DENSE = writable(matrix(FLOAT32))


def _step_rows(indptr, indices, weights, current, following, total, weight, start, end):
    """Rows ``start`` to ``end`` - 1 of P · current, which are also added to the total with their weight.

    Its time is that of reading neighbours' features, which lie anywhere in memory. So those of the next four
    neighbours are prefetched while those of four are added. Of a graph without weights, ``weights`` is None, numba
    leaves out the products with them when it compiles, and the sum is divided by the degree. With weights, each is
    divided first, as sums of large ones might be infinite.
    """
    width = current.shape[1]
    one, four = np.uint64(1), np.uint64(4)
    for row in range(start, end):
        first, last = indptr[row], indptr[row + one]
        result = following[row]
        inverse = 1.0 / _strength(weights, row, last - first + one)
        loop = _of_loop(weights, row, inverse)
        for column in range(width):
            result[column] = loop * current[row, column]
        rest = last - (last - first) % four
        for j in range(first, rest, 4):
            for k in range(j + four, min(j + four + four, np.uint64(len(indices)))):
                ahead = current[indices[k]]
                for column in range(0, width, LINE):
                    prefetch(ahead, column)
            a, b = current[indices[j]], current[indices[j + one]]
            c, d = current[indices[j + np.uint64(2)]], current[indices[j + np.uint64(3)]]
            p, q = _of_entry(weights, j, inverse), _of_entry(weights, j + one, inverse)
            r, s = _of_entry(weights, j + np.uint64(2), inverse), _of_entry(weights, j + np.uint64(3), inverse)
            for column in range(width):
                result[column] += (p * a[column] + q * b[column]) + (r * c[column] + s * d[column])
        for j in range(rest, last):
            neighbor, share = current[indices[j]], _of_entry(weights, j, inverse)
            for column in range(width):
                result[column] += share * neighbor[column]
        scale = np.float32(inverse) if weights is None else np.float32(1)
        for column in range(width):
            result[column] *= scale
            total[row, column] += np.float32(weight) * result[column]


@jitable
def _of_loop(weights, row, inverse):
    return np.float32(1) if weights is None else np.float32(weights[1][row] * inverse)


@jitable
def _of_entry(weights, j, inverse):
    return np.float32(1) if weights is None else np.float32(weights[0][j] * inverse)


@jitable
def _strength(weights, row, degree):
    return degree if weights is None else weights[2][row]


_ROWS = _DENSE, _DENSE, _DENSE, types.float64, types.uint64, types.uint64
_step = kernel(UINT64, UNSIGNED_IDS, types.none, *_ROWS)(_step_rows)
_step_with_weights = kernel(UINT64, UNSIGNED_IDS, types.Tuple([FLOAT32, FLOAT32, FLOAT64]), *_ROWS)(_step_rows)
