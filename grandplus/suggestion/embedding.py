"""Rows of ΠX for distances: few columns, and of length 1."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features, blocks_of
from grandplus.kernels.compiled import FLOAT32, INT32, INT64, kernel, matrix, writable
from grandplus.kernels.products import multiply_rows
from grandplus.kernels.vectors import LANES, fma, load, splat, store
from grandplus.propagation.power import propagate
from grandplus.runtime.errors import ArgumentError

DIMENSIONS = 8 * LANES  # columns of X, at most; of more, random combinations keep the distances nearly


def unit_rows(
    graph: Adjacency, features: Features, nodes: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Rows of ΠX, scaled to length 1; a row of zeros stays.

    Of more than ``DIMENSIONS`` columns, X is multiplied with a matrix of normal random numbers, which keeps the
    distances of rows nearly: W. B. Johnson, J. Lindenstrauss. Extensions of Lipschitz mappings into a Hilbert space.
    1984. The columns are propagated a few at a time, so that memory holds few of them for all nodes.

    Parameters
    ----------
    graph : Adjacency of n nodes
    features : (n, d) ndarray or scipy sparse matrix
    nodes : int64 (m,)
    weights : float64 (N + 1,)
        w_0..w_N of Π.

    Returns
    -------
    float32 (m, min(d, DIMENSIONS))

    Raises
    ------
    ArgumentError
        The features are no matrix of finite numbers with a row for each node.

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> pair = as_adjacency(sp.csr_array(np.array([[0, 1], [1, 0]])))
    >>> unit_rows(pair, np.array([[6.0, 0], [0, 8]]), np.array([1]), np.array([0.0, 1])).round(3).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    width = min(features.shape[1], DIMENSIONS)
    rows = np.empty((len(nodes), width), np.float32)
    for start in range(0, width, LANES):
        columns = slice(start, min(start + LANES, width))
        few = features[:, columns] if width == features.shape[1] else _combined(features, columns)
        rows[:, columns] = propagate(graph, few, weights=weights)[nodes]
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ArgumentError(f"features are not finite for node {nodes[~finite][0]}", expected="finite numbers")
    lengths = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1, keepdims=True))
    np.divide(rows, lengths, out=rows, where=lengths > 0, casting="same_kind")
    return rows


def _combined(features: Features, columns: slice) -> NDArray[np.float32]:
    """Some columns of XR, each a combination of X's with normal random coefficients."""
    table = np.random.default_rng([0, columns.start]).standard_normal((features.shape[1], LANES), np.float32)
    out = np.empty((features.shape[0], LANES), np.float32)
    for rows in blocks_of(len(out)):
        if sp.issparse(features):
            part = sp.csr_array(features[rows], dtype=np.float32)
            indptr, indices = part.indptr.astype(np.int64), part.indices.astype(np.int32, copy=False)
            _multiply(indptr, indices, part.data, table, out[rows])
        else:
            _multiply_dense(np.ascontiguousarray(features[rows], np.float32), table, out[rows])
    return out


@kernel(INT64, INT32, FLOAT32, matrix(FLOAT32), writable(matrix(FLOAT32)))
def _multiply(indptr, indices, data, table, out):
    """The product of a sparse matrix with a table, in a fixed order."""
    multiply_rows(indptr, indices, data, 0, len(out), table, out)


@kernel(matrix(FLOAT32), matrix(FLOAT32), writable(matrix(FLOAT32)))
def _multiply_dense(rows, table, out):
    """The same of dense rows, for a table of ``LANES`` columns."""
    for row in range(len(out)):
        total = splat(np.float32(0))
        for column in range(rows.shape[1]):
            total = fma(splat(rows[row, column]), load(table, np.uint64(column), np.uint64(0)), total)
        store(out, np.uint64(row), np.uint64(0), total)
