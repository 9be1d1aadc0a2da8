"""What preprocessing does to features, dense or sparse, without a second copy of them in memory; and features made
from the graph where there are no others."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.kernels.compiled import FLOAT32, INT64, kernel, writable

Features: TypeAlias = Any  # float32 (n, d): ndarray or scipy CSR
BLOCK = 2**16  # rows of dense features at a time

FEW = 50  # features: below, none of them is dropped in training
MIN_DENSE = 0.25  # share of values that are not 0: from here on features are taken for measurements


def suited_scaling(features: Features) -> str:
    """What ``preprocess.features`` suits them.

    Marks and counts of what a node has become rows that sum to 1 (row-normalize); measurements, columns of mean 0 and
    deviation 1 (standardize). So do marks that a good part of the nodes share: scaled to rows they hardly differ, and
    nothing is learned from them (Amazon Photo, where a third of all are set). Sparse negative ones stay as they are.

    >>> [suited_scaling(np.array(rows)) for rows in ([[0.3, 50], [-1, 20]], np.eye(5), -np.eye(5))]
    ['standardize', 'row-normalize', 'as-is']
    """
    values = features.data if sp.issparse(features) else features
    if np.count_nonzero(values) >= MIN_DENSE * features.shape[0] * features.shape[1]:
        return "standardize"
    return "as-is" if values.size and values.min() < 0 else "row-normalize"


def row_normalize(features: Features) -> Features:
    """Each row divided by its sum, 0/0 = 0, in float32; sums in float64.

    >>> row_normalize(np.array([[1, 3], [0, 0]], np.float32)).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    if sp.issparse(features):
        data = np.empty(len(features.data), np.float32)
        _divide_rows(features.indptr.astype(np.int64, copy=False), features.data.astype(np.float32, copy=False), data)
        return csr_of(features.indptr, features.indices, data, features.shape[1])
    out = np.empty(features.shape, np.float32)
    for rows in _blocks(len(features)):
        sums = features[rows].sum(axis=1, dtype=np.float64)
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
        out[rows] = features[rows] * scale[:, None]
    return out


def standardize(features: Features) -> NDArray[np.float32]:
    """Each column minus its mean, divided by its standard deviation; a constant column becomes 0.

    Parameters
    ----------
    features : (n, d) finite numbers, an array or a scipy sparse matrix; n at least 1.

    Returns
    -------
    float32 (n, d), dense, of what was computed in float64.

    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    dense = features.toarray() if sp.issparse(features) else np.asarray(features)
    mean = dense.mean(axis=0, dtype=np.float64)
    variance = sum(((dense[rows] - mean) ** 2).sum(axis=0) for rows in _blocks(len(dense))) / len(dense)
    # Told by its values, as a rounded mean leaves a constant column a tiny variance.
    constant = dense.min(axis=0) == dense.max(axis=0)
    scale = np.divide(1, np.sqrt(variance), out=np.zeros_like(mean), where=~constant)
    found = np.empty(dense.shape, np.float32)
    for rows in _blocks(len(dense)):
        found[rows] = (dense[rows] - mean) * scale
    return found


def degree(adjacency: Adjacency) -> NDArray[np.float32]:
    """ln(1 + number of neighbours), as the one feature: float32 (n, 1)."""
    return np.log1p(np.diff(adjacency.indptr)).astype(np.float32)[:, None]


def onehot_degree(adjacency: Adjacency) -> Features:
    """A 1 in the column of the node's degree, one for each degree that there is: float32 CSR (n, degrees).

    >>> onehot_degree(Adjacency(np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1]))).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    degrees, column = np.unique(np.diff(adjacency.indptr), return_inverse=True)
    nodes = adjacency.nodes
    ones = np.ones(nodes, np.float32)
    return csr_of(np.arange(nodes + 1, dtype=np.int64), column.astype(np.int32), ones, len(degrees))


def adjacency_rows(adjacency: Adjacency) -> Features:
    """Each node's neighbours, equal weights that sum to 1: float32 CSR (n, n)."""
    indices = np.asarray(adjacency.indices, np.int32)
    return row_normalize(csr_of(adjacency.indptr, indices, np.ones(len(indices), np.float32), adjacency.nodes))


def csr_of(indptr: NDArray[np.int64], indices: NDArray[np.int32], data: NDArray[np.float32], width: int) -> Any:
    """A scipy CSR matrix over these very arrays: its own check would read them all, and copy two to one type."""
    matrix = sp.csr_array((len(indptr) - 1, width), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


def zero_rows(features: Features) -> int:
    """How many rows hold nothing but zeros."""
    if not sp.issparse(features):
        return int(sum((~features[rows].any(axis=1)).sum() for rows in _blocks(len(features))))
    stored = np.diff(features.indptr)
    if not features.data.all():  # some stored values are zeros: count the others
        running = np.concatenate([[0], np.cumsum(features.data != 0)])
        stored = np.diff(running[features.indptr])
    return int((stored == 0).sum())


def _blocks(count: int) -> list[slice]:
    return [slice(first, first + BLOCK) for first in range(0, count, BLOCK)]


@kernel(INT64, FLOAT32, writable(FLOAT32))
def _divide_rows(indptr, data, out):
    """Divide the values of each row by their sum; 0 / 0 = 0."""
    for row in range(len(indptr) - 1):
        total = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            total += data[i]
        scale = 1.0 / total if total != 0 else 0.0
        for i in range(indptr[row], indptr[row + 1]):
            out[i] = np.float32(data[i] * scale)
