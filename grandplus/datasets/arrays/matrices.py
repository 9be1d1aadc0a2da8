"""What arrays and compressed sparse matrices are, for checks and in errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.runtime.errors import GrandPlusError


def described(array: Any) -> str:
    """Type and shape of an array or sparse matrix, for an error.

    Examples
    --------
    >>> described(np.zeros((3, 2))), described(np.int64(1))
    ('float64 3 x 2', 'int64 scalar')
    """
    return f"{array.dtype} {' x '.join(map(str, array.shape)) or 'scalar'}"


def check_compressed(
    indptr: NDArray[Any], indices: NDArray[Any], columns: int, where: object, prefix: str = ""
) -> None:
    """Check the structure of a CSR matrix, or with rows and columns exchanged, of a CSC matrix.

    Parameters
    ----------
    indptr : (rows + 1,)
    indices : (stored values,)
    columns : int
        Of the matrix.
    where : object
        The file.
    prefix : str
        Of the names of the arrays in an error.

    Raises
    ------
    GrandPlusError
        The arrays are no such structure, with the offending row.
    """
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind != "i":
            raise GrandPlusError(f"{prefix}{name} is {described(array)}", where=where, expected="integers in a row")
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(indices):
        found = f"{prefix}indptr goes from {indptr[:1].tolist()} to {indptr[-1:].tolist()}"
        raise GrandPlusError(found, where=where, expected=f"0 to {len(indices)}, the length of {prefix}indices")
    falls = np.flatnonzero(np.diff(indptr) < 0)
    if len(falls):
        found = f"{prefix}indptr falls at row {falls[0]}, from {indptr[falls[0]]} to {indptr[falls[0] + 1]}"
        raise GrandPlusError(found, where=where, expected="rising numbers")
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        position = int(np.flatnonzero((indices < 0) | (indices >= columns))[0])
        found = f"row {row_of(position, indptr)} of {prefix}indices holds {indices[position]}"
        raise GrandPlusError(found, where=where, expected=f"0 to {columns - 1}")


def row_of(position: int, indptr: NDArray[Any]) -> int:
    """The row of a stored value of a CSR matrix.

    Examples
    --------
    >>> row_of(2, np.array([0, 2, 2, 3]))
    2
    """
    return int(np.searchsorted(indptr, position, side="right")) - 1
