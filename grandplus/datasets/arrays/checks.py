"""What the readers of array files share: finding a file, checking what it holds, RawGraph's types."""

from __future__ import annotations

import tokenize
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.source import Source
from grandplus.graph.adjacency import INT32_IDS
from grandplus.runtime.errors import GrandPlusError

# What reading an array of numpy's can raise, whose header is a piece of Python.
NPY_DAMAGE = (EOFError, OSError, SyntaxError, TypeError, ValueError, tokenize.TokenError)
LARGEST = 1e15  # a feature beyond it is taken for a mistake: its square is near the end of float32
_ROWS = 2**16  # rows of a large array that are looked at together


def pick(folder: Path, files: list[str], suffix: str) -> Path:
    """The one file of this name's end."""
    found = [name for name in files if name.endswith(suffix)]
    if len(found) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"one file *{suffix}")
    return folder / found[0]


def has_one_of_each(files: list[Path], suffixes: tuple[str, ...]) -> bool:
    """Whether there is one file with each end of a name, and no other."""
    ends = [suffix for file in files for suffix in suffixes if file.name.endswith(suffix)]
    return len(files) == len(ends) == len(set(ends)) == len(suffixes)


def read_npy(file: Path) -> NDArray[Any]:
    """Memory-map an array; what it declares is there, or it is refused."""
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except NPY_DAMAGE as error:
        raise GrandPlusError(f"is no readable array: {error}", where=file) from None


def edges_of(adjacency: Any, source: Source, where: object) -> NDArray[Any]:
    """The entries of a sparse matrix that are not 0, as (2, E) int32, or int64 where the ids need it.

    Parameters
    ----------
    adjacency : scipy sparse, (n, n); its indices need not be right.

    Raises
    ------
    GrandPlusError : it is of another kind or not square, an index is out of range, or it has weights that the
        card doesn't ignore.
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
    if source.read.weights is None:
        other = np.flatnonzero((adjacency.data != 0) & (adjacency.data != 1))
        if len(other):
            refuse_weights(f"has an edge of weight {adjacency.data[other[0]]:g}", where)
    return edges if adjacency.data.all() else edges[:, adjacency.data != 0]


def refuse_weights(found: str, where: object) -> NoReturn:
    fix = "import it with --weights ignore (source.read.weights in the card) to count every edge once"
    raise GrandPlusError(found, where=where, expected="edges without weights, as the method has none", fix=fix)


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
            rows = features[first : first + _ROWS]
            right = (np.abs(rows) <= LARGEST).all(axis=1)
            if not right.all():
                row = int(right.argmin())
                column = int((np.abs(rows[row]) <= LARGEST).argmin())
                refuse_feature(found[first + row, column], f"row {first + row}, column {column}", where)
        return features
    with np.errstate(over="ignore"):
        features = found.tocsr().astype(np.float32, copy=False)
    right = np.abs(features.data) <= LARGEST
    if not right.all():
        place = int(right.argmin())
        row = _row_of(place, features.indptr)
        refuse_feature(features.data[place], f"row {row}, column {features.indices[place]}", where)
    features.sum_duplicates()
    if not features.data.all():
        features.eliminate_zeros()  # which writes even where there are none, and what is given may be read-only
    return features


def refuse_feature(value: object, at: str, where: object) -> NoReturn:
    expected = f"a number from {-LARGEST:g} to {LARGEST:g}"
    raise GrandPlusError(f"{at} is {value}", where=where, expected=expected, fix="correct it, or leave the column out")


def labels_of(found: Any, nodes: int, source: Source, where: object) -> tuple[NDArray[np.int64], list[str]]:
    """Class of each node, int64 (n,) with -1 where unknown, and the classes' names.

    Parameters
    ----------
    found : (n,) class numbers, or -1 or NaN where unknown; or (n, classes), at most one 1 in a row among zeros,
        none where unknown. Without names in the card, numbers that no node has are no classes.

    Raises
    ------
    GrandPlusError : it is something else; with the row.
    """
    if not isinstance(found, np.ndarray):
        raise GrandPlusError(f"holds a {type(found).__name__}", where=where, expected="an array of labels")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim not in (1, 2) or found.dtype.kind not in "fiub" or len(found) != nodes:
        expected = f"{nodes} class numbers or one-hot rows, as by the adjacency"
        raise GrandPlusError(f"is {described(found)}", where=where, expected=expected)
    numbers = _numbers(found, where) if found.ndim == 1 else _of_one_hot(found, where)
    if source.classes is not None:
        count = found.shape[1] if found.ndim == 2 else int(numbers.max(initial=-1)) + 1
        if count != len(source.classes):
            expected = f"{len(source.classes)}, as the card names them"
            raise GrandPlusError(f"has {count} classes", where=where, expected=expected)
        return numbers, list(source.classes)
    used = np.unique(numbers[numbers >= 0])
    return np.where(numbers >= 0, np.searchsorted(used, numbers), -1), [str(number) for number in used]


def _numbers(found: NDArray[Any], where: object) -> NDArray[np.int64]:
    if found.dtype.kind == "f":
        found = np.where(np.isnan(found), -1, found)
    wrong = np.flatnonzero((found < -1) | (found != np.floor(found)) | (found >= 2.0**63))
    if len(wrong):
        expected = "a class: a whole number, or -1 for unknown"
        raise GrandPlusError(f"row {wrong[0]} is {found[wrong[0]]}", where=where, expected=expected)
    return found.astype(np.int64)


def _of_one_hot(found: NDArray[Any], where: object) -> NDArray[np.int64]:
    used = (found != 0).sum(axis=1)
    ones = (found == 1).sum(axis=1)
    wrong = np.flatnonzero((used > 1) | (ones != used))
    if len(wrong):
        row = wrong[0]
        if ones[row] == used[row]:
            refuse_multi_label(f"row {row} has {used[row]} labels", where)
        text = f"row {row} is {found[row].tolist()}"
        raise GrandPlusError(text, where=where, expected="at most a single 1 among zeros")
    return np.where(used == 1, found.argmax(axis=1), -1).astype(np.int64)


def refuse_multi_label(found: str, where: object) -> NoReturn:
    expected = "one label a node at most, as the method's classes exclude each other (multi-label data)"
    raise GrandPlusError(found, where=where, expected=expected, fix="keep one label a node")


def described(found: Any) -> str:
    return f"{found.dtype} {' x '.join(map(str, found.shape)) or 'scalar'}"
