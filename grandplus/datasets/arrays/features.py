"""A matrix of features, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.matrices import described, row_of
from grandplus.graph.features import as_floats
from grandplus.runtime.errors import GrandPlusError

LARGEST_FEATURE = 1e15  # a larger one is taken for a mistake: its square is near the limit of float32
ROWS_AT_A_TIME = 2**16  # of a large array, in checks


def _cell(row: int, column: int) -> str:
    return f"row {row}, column {column}"


def features_of(matrix: Any, nodes: int, where: object, cell: Callable[[int, int], str] = _cell) -> Any:
    """Check a matrix of features, and make it float32, or float64 where float32 would lose the variance of a column.

    Parameters
    ----------
    matrix : (n, d) ndarray or scipy sparse
    nodes : int
        n.
    where : object
        The file.
    cell : callable
        What to call the cell of a row and a column in an error.

    Returns
    -------
    float32 or float64 (n, d)
        An ndarray, or a scipy CSR matrix without duplicates and explicit zeros.

    Raises
    ------
    GrandPlusError
        It is of another kind or has another number of rows, or a value is not finite; with its row and column.
    """
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)):
        raise GrandPlusError(f"holds a {type(matrix).__name__}", where=where, expected="an array or a sparse matrix")
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub" or matrix.shape[0] != nodes:
        expected = f"numbers in {nodes} rows, as by the adjacency"
        raise GrandPlusError(f"is {described(matrix)}", where=where, expected=expected)
    return (_sparse_features if sparse.issparse(matrix) else _dense_features)(matrix, where, cell)


def _dense_features(matrix: NDArray[Any], where: object, cell: Callable[[int, int], str]) -> NDArray[Any]:
    for first in range(0, len(matrix), ROWS_AT_A_TIME):
        rows = matrix[first : first + ROWS_AT_A_TIME]
        right = _are_features(rows)
        if not right.all():
            row, column = map(int, np.argwhere(~right)[0])
            raise_no_feature(matrix[first + row, column], cell(first + row, column), where)
    return as_floats(matrix)


def _sparse_features(matrix: Any, where: object, cell: Callable[[int, int], str]) -> Any:
    given = matrix.tocsr()
    right = _are_features(given.data)
    if not right.all():
        position = int(right.argmin())
        row = row_of(position, given.indptr)
        raise_no_feature(given.data[position], cell(row, int(given.indices[position])), where)
    features = given.astype(_floats_of(given), copy=False)
    features.sum_duplicates()
    if not features.data.all():
        features.eliminate_zeros()  # which writes even where there are none, and what is given may be read-only
    return features


def _are_features(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are finite and not too large; float16 and whole numbers don't hold the limit."""
    wide = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    return np.asarray(np.abs(wide) <= LARGEST_FEATURE)


def _floats_of(matrix: Any) -> Any:
    """The type of floats for sparse features; only columns without a zero may be large numbers that are alike."""
    if matrix.dtype == np.float32:
        return np.float32
    filled = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == matrix.shape[0])
    return as_floats(matrix[:, filled].toarray()).dtype if len(filled) else np.float32


def raise_no_feature(value: object, position: str, where: object) -> NoReturn:
    """Raise the error of a value that can't be a feature.

    Parameters
    ----------
    value : object
    position : str
        Its row or line, and its column.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    expected = f"a number from {-LARGEST_FEATURE:g} to {LARGEST_FEATURE:g}"
    raise GrandPlusError(
        f"{position} is {value}", where=where, expected=expected, fix="correct it, or leave the column out"
    )
