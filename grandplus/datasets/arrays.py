"""What the readers of array files share: finding a file, checking what it holds, RawGraph's types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.errors import GrandPlusError
from grandplus.graph import INT32_IDS
from grandplus.settings import Source

_ROWS = 2**16  # rows of a large array that are looked at together


def pick(folder: Path, files: list[str], suffix: str) -> Path:
    """The one file of this name's end."""
    found = [name for name in files if name.endswith(suffix)]
    if len(found) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"one file *{suffix}")
    return folder / found[0]


def read_npy(file: Path) -> NDArray[Any]:
    """Memory-map an array; what it declares is there, or it is refused."""
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise GrandPlusError(f"is no readable array: {error}", where=file) from None


def edges_of(adjacency: Any, where: object) -> NDArray[Any]:
    """The entries of a sparse matrix that are not 0, as (2, E) int32, or int64 where the ids need it.

    Parameters
    ----------
    adjacency : scipy sparse, (n, n); its indices need not be right.

    Raises
    ------
    GrandPlusError : it is of another kind or not square, or an index is out of range.
    """
    if not sparse.issparse(adjacency):
        raise GrandPlusError(f"holds a {type(adjacency).__name__}", where=where, expected="a sparse matrix")
    nodes, columns = adjacency.shape
    if nodes != columns:
        raise GrandPlusError(f"has shape {nodes} x {columns}", where=where, expected="a square matrix")
    edges = np.empty((2, adjacency.nnz), np.int32 if nodes <= INT32_IDS else np.int64)
    if adjacency.format == "coo":
        edges[0], edges[1] = adjacency.row, adjacency.col
    elif adjacency.format in ("csr", "csc"):
        check_compressed(adjacency.indptr, adjacency.indices, nodes, where)
        edges[0] = np.repeat(np.arange(nodes, dtype=edges.dtype), np.diff(adjacency.indptr))
        edges[1] = adjacency.indices
    else:
        raise GrandPlusError(f"is in format {adjacency.format}", where=where, expected="csr, csc or coo")
    return edges if adjacency.data.all() else edges[:, adjacency.data != 0]


def check_compressed(
    indptr: NDArray[Any], indices: NDArray[Any], columns: int, where: object, prefix: str = ""
) -> None:
    """Refuse what is no CSR (or, with rows and columns exchanged, CSC) structure.

    prefix : of the arrays' names in an error.
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
        place = int(np.flatnonzero((indices < 0) | (indices >= columns))[0])
        found = f"row {_row_of(place, indptr)} of {prefix}indices holds {indices[place]}"
        raise GrandPlusError(found, where=where, expected=f"0 to {columns - 1}")


def _row_of(place: int, indptr: NDArray[Any]) -> int:
    return int(np.searchsorted(indptr, place, side="right")) - 1


def features_of(found: Any, nodes: int, where: object) -> Any:
    """float32 (n, d): an array as it is, or CSR without duplicates and explicit zeros.

    Raises
    ------
    GrandPlusError : it is of another kind or has other than ``nodes`` rows, or a value is not finite.
    """
    if not (sparse.issparse(found) or isinstance(found, np.ndarray)):
        raise GrandPlusError(f"holds a {type(found).__name__}", where=where, expected="an array or a sparse matrix")
    if found.ndim != 2 or found.dtype.kind not in "fiub" or found.shape[0] != nodes:
        expected = f"numbers in {nodes} rows, as by the adjacency"
        raise GrandPlusError(f"is {described(found)}", where=where, expected=expected)
    if not sparse.issparse(found):
        with np.errstate(over="ignore"):  # what becomes infinite is found below
            features: Any = found.astype(np.float32, copy=False)
        for first in range(0, nodes, _ROWS):
            finite = np.isfinite(features[first : first + _ROWS]).all(axis=1)
            if not finite.all():
                _not_finite(first + int(finite.argmin()), where)
        return features
    features = found.tocsr().astype(np.float32, copy=False)
    finite = np.isfinite(features.data)
    if not finite.all():
        _not_finite(_row_of(int(finite.argmin()), features.indptr), where)
    features.sum_duplicates()
    features.eliminate_zeros()
    return features


def _not_finite(row: int, where: object) -> None:
    raise GrandPlusError(f"row {row} holds a value that is not finite in float32", where=where, expected="numbers")


def labels_of(found: Any, nodes: int, where: object) -> tuple[NDArray[np.int64], int]:
    """Class numbers, int64 (n,) with -1 where unknown, and the number of classes.

    Parameters
    ----------
    found : (n,) class numbers or -1; or (n, classes), at most one 1 in a row among zeros, none where unknown.

    Raises
    ------
    GrandPlusError : it is something else; with the row.
    """
    if not isinstance(found, np.ndarray):
        raise GrandPlusError(f"holds a {type(found).__name__}", where=where, expected="an array of labels")
    one_hot = found.ndim == 2 and found.dtype.kind in "fiub"
    if not (one_hot or (found.ndim == 1 and found.dtype.kind in "iu")) or len(found) != nodes:
        expected = f"{nodes} class numbers or one-hot rows, as by the adjacency"
        raise GrandPlusError(f"is {described(found)}", where=where, expected=expected)
    if not one_hot:
        wrong = np.flatnonzero(found < -1)
        if len(wrong):
            raise GrandPlusError(
                f"row {wrong[0]} is {found[wrong[0]]}", where=where, expected="-1, for unknown, or more"
            )
        return found.astype(np.int64), int(found.max(initial=-1)) + 1
    used = (found != 0).sum(axis=1)
    wrong = np.flatnonzero((used > 1) | ((found == 1).sum(axis=1) != used))
    if len(wrong):
        row = found[wrong[0]].tolist()
        raise GrandPlusError(f"row {wrong[0]} is {row}", where=where, expected="at most a single 1 among zeros")
    return np.where(used == 1, found.argmax(axis=1), -1).astype(np.int64), found.shape[1]


def class_names(source: Source, count: int, where: object) -> list[str]:
    """The card's names of the classes, else their numbers."""
    names = source.classes or [str(number) for number in range(count)]
    if len(names) != count:
        raise GrandPlusError(f"has {count} classes", where=where, expected=f"{len(names)}, as the card names them")
    return list(names)


def described(found: Any) -> str:
    return f"{found.dtype} {' x '.join(map(str, found.shape)) or 'scalar'}"
