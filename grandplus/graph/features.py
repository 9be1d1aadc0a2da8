"""Features of nodes, dense or sparse: helpers that make no second copy of them in memory."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.kernels.compiled import FLOAT32, INT64, kernel, writable

Features: TypeAlias = Any  # float32 (n, d): ndarray or scipy CSR
BLOCK = 2**16  # rows of dense features at a time
MIN_STEPS = 2**14  # of float32 from the least to the greatest value of a column, if they aren't kept in float64

MIN_FEATURES_FOR_DROPOUT = 50  # with fewer, an input is too small to do without some of them in training
MIN_SHARE_OF_MEASUREMENTS = 0.25  # share of values other than 0, from which on features are taken for measurements


class Ranges:
    """The range of each column of some features, to choose the type of float that keeps the columns' variance.

    float32 is right for nearly all data. It has no number between 1600000000 and 1600000128, so a column of timestamps
    would lose what tells its values apart before its mean is subtracted.

    Parameters
    ----------
    width : int
        Number of columns.

    Examples
    --------
    >>> ranges = Ranges(2)
    >>> ranges.add(np.array([[1600000000, 0.1], [1600000001, 0.2]]))
    >>> ranges.dtype.name, ranges.constant().tolist()
    ('float64', [])
    """

    def __init__(self, width: int) -> None:
        self._low, self._high = np.full(width, np.inf), np.full(width, -np.inf)
        self._exact = np.ones(width, bool)  # in float32

    def add(self, values: NDArray[Any], columns: list[int] | slice = slice(None)) -> None:
        """Take some rows into account.

        Parameters
        ----------
        values : (b, d) ndarray
            Finite numbers.
        columns : list of int or slice
            The numbers of these d columns; by default all.
        """
        if not len(values):
            return
        self._low[columns] = np.minimum(self._low[columns], values.min(axis=0))
        self._high[columns] = np.maximum(self._high[columns], values.max(axis=0))
        if values.dtype != np.float32:
            self._exact[columns] &= (values.astype(np.float32) == values).all(axis=0)

    def forget(self, columns: list[int] | slice) -> None:
        """As if nothing was added of some columns."""
        self._low[columns], self._high[columns], self._exact[columns] = np.inf, -np.inf, True

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32, or float64 if a column has too few steps in float32."""
        step = np.maximum(np.abs(self._low), np.abs(self._high)) * float(np.finfo(np.float32).eps)
        rough = ~self._exact & (self._high > self._low) & (self._high - self._low < MIN_STEPS * step)
        return np.dtype(np.float64 if rough.any() else np.float32)

    def constant(self) -> NDArray[np.int64]:
        """The columns that have one value only."""
        return np.flatnonzero(self._low == self._high)


def as_floats(matrix: NDArray[Any]) -> NDArray[Any]:
    """Dense features in float32, or in float64 if float32 would lose the variance of a column.

    Parameters
    ----------
    matrix : (n, d) ndarray
        Finite numbers.

    Returns
    -------
    float32 or float64 (n, d)
        The same array if it has that type.

    Examples
    --------
    >>> [as_floats(np.array([[first], [first + 1]])).dtype.name for first in (0, 2020, 2**30)]
    ['float32', 'float32', 'float64']
    """
    if matrix.dtype == np.float32:
        return matrix
    ranges = Ranges(matrix.shape[1])
    for rows in blocks_of(len(matrix)):
        ranges.add(matrix[rows])
    return matrix.astype(ranges.dtype, copy=False)


def suited_scaling(features: Features) -> str:
    """The value of ``preprocess.features`` that suits some features.

    Marks and counts become rows that sum to 1 (row-normalize), and measurements columns of mean 0 and deviation 1
    (standardize). Marks that many nodes share are standardized too: if a third of all marks are set, as in Amazon
    Photo, rows that sum to 1 hardly differ, and nothing is learned from them. Sparse features with negative values
    stay as they are.

    Parameters
    ----------
    features : (n, d) ndarray or scipy CSR

    Returns
    -------
    {"row-normalize", "standardize", "as-is"}

    Examples
    --------
    >>> [suited_scaling(np.array(rows)) for rows in ([[0.3, 50], [-1, 20]], np.eye(5), -np.eye(5))]
    ['standardize', 'row-normalize', 'as-is']
    """
    values = features.data if sp.issparse(features) else features
    if np.count_nonzero(values) >= MIN_SHARE_OF_MEASUREMENTS * features.shape[0] * features.shape[1]:
        return "standardize"
    return "as-is" if values.size and values.min() < 0 else "row-normalize"


def row_normalize(features: Features) -> Features:
    """Divide each row by its sum; a row of sum 0 becomes 0.

    Parameters
    ----------
    features : float32 (n, d) ndarray or scipy CSR

    Returns
    -------
    float32 (n, d), of the same kind
        Sums are computed in float64.

    Examples
    --------
    >>> row_normalize(np.array([[1, 3], [0, 0]], np.float32)).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    if sp.issparse(features):
        data = np.empty(len(features.data), np.float32)
        _divide_rows(features.indptr.astype(np.int64, copy=False), features.data.astype(np.float32, copy=False), data)
        return csr_of(features.indptr, features.indices, data, features.shape[1])
    out = np.empty(features.shape, np.float32)
    for rows in blocks_of(len(features)):
        sums = features[rows].sum(axis=1, dtype=np.float64)
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
        out[rows] = features[rows] * scale[:, None]
    return out


def degree_column(adjacency: Adjacency) -> NDArray[np.int64]:
    """The number of neighbours of each node, as a column.

    Parameters
    ----------
    adjacency : Adjacency of n nodes

    Returns
    -------
    int64 (n, 1)
    """
    return np.diff(adjacency.indptr)[:, None]


def neighbor_marks(adjacency: Adjacency) -> Features:
    """The adjacency as features: a 1 for each neighbour of a node.

    Parameters
    ----------
    adjacency : Adjacency of n nodes

    Returns
    -------
    float32 (n, n) scipy CSR
    """
    indices = np.asarray(adjacency.indices, np.int32)
    return csr_of(adjacency.indptr, indices, np.ones(len(indices), np.float32), adjacency.nodes)


def csr_of(indptr: NDArray[np.int64], indices: NDArray[np.int32], data: NDArray[np.float32], width: int) -> Any:
    """A scipy CSR matrix over these very arrays.

    scipy's constructor would read them all to check them, and copy two of them to one type.

    Parameters
    ----------
    indptr : int64 (n + 1,)
    indices : int32 (stored values,)
    data : float32 (stored values,)
    width : int
        Number of columns.

    Returns
    -------
    float32 (n, width) scipy CSR
    """
    matrix = sp.csr_array((len(indptr) - 1, width), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


def rows_of(features: Features, nodes: NDArray[np.integer[Any]]) -> Features:
    """Rows of some features, without a copy of the others.

    Parameters
    ----------
    features : float32 (n, d) ndarray or scipy CSR
    nodes : int (m,)

    Returns
    -------
    float32 (m, d), of the same kind

    Examples
    --------
    >>> rows_of(sp.csr_array(np.array([[0, 1], [0, 0], [2, 3]], np.float32)), np.array([2, 0])).toarray().tolist()
    [[2.0, 3.0], [0.0, 1.0]]
    """
    if not sp.issparse(features):
        return np.asarray(features[nodes])
    # scipy would first copy all indices to the type of indptr.
    starts = features.indptr[nodes].astype(np.int64)
    lengths = features.indptr[nodes + 1].astype(np.int64) - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    stored = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
    return sp.csr_array((features.data[stored], features.indices[stored], indptr), (len(nodes), features.shape[1]))


def zero_rows(features: Features) -> int:
    """The number of rows that hold nothing but zeros.

    Parameters
    ----------
    features : (n, d) ndarray or scipy CSR

    Returns
    -------
    int
    """
    if not sp.issparse(features):
        return int(sum((~features[rows].any(axis=1)).sum() for rows in blocks_of(len(features))))
    stored = np.diff(features.indptr)
    if not features.data.all():  # some stored values are zeros: count the others
        running = np.concatenate([[0], np.cumsum(features.data != 0)])
        stored = np.diff(running[features.indptr])
    return int((stored == 0).sum())


def mean_squared_norm(features: Features) -> float:
    """The mean of ‖x‖² over the rows x of some features.

    Parameters
    ----------
    features : (n, d) ndarray or scipy CSR

    Returns
    -------
    float

    Examples
    --------
    >>> mean_squared_norm(np.array([[3, 4], [0, 1]], np.float32))
    13.0
    """
    parts = [features.data] if sp.issparse(features) else (features[rows] for rows in blocks_of(len(features)))
    total = math.fsum(np.square(part, dtype=np.float64).sum() for part in parts)
    return total / max(int(features.shape[0]), 1)


def blocks_of(rows: int, size: int = BLOCK) -> list[slice]:
    """Slices that together cover a number of rows, each small enough for a temporary copy."""
    return [slice(first, min(first + size, rows)) for first in range(0, rows, size)]


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
