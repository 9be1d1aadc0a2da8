"""What the readers of array files share: finding a file, checking what it holds, and the types of `RawGraph`."""

from __future__ import annotations

import contextlib
import tokenize
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.edge_weights import check_unnamed, weights_read
from grandplus.datasets.source import Source
from grandplus.graph.adjacency import INT32_IDS
from grandplus.graph.features import as_floats
from grandplus.runtime.errors import GrandPlusError

# What numpy can raise when it reads a damaged array, whose header is a Python expression.
NPY_DAMAGE = (EOFError, OSError, SyntaxError, TypeError, ValueError, tokenize.TokenError)
LARGEST_FEATURE = 1e15  # a larger one is taken for a mistake: its square is near the limit of float32
ROWS_AT_A_TIME = 2**16  # of a large array, in checks


def pick(folder: Path, files: list[str], suffix: str) -> Path:
    """The one file whose name ends so.

    Parameters
    ----------
    folder : Path
    files : list of str
        Names of files in the folder.
    suffix : str
        The end of the name.

    Returns
    -------
    Path

    Raises
    ------
    GrandPlusError
        There is none, or several.
    """
    matching = [name for name in files if name.endswith(suffix)]
    if len(matching) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"one file *{suffix}")
    return folder / matching[0]


def by_role(folder: Path, files: list[str], roles: Collection[str], *, packed: str = "") -> dict[str, Path]:
    """The files whose names, without folders, are some known ones.

    Parameters
    ----------
    folder : Path
    files : list of str
        Names of files in the folder.
    roles : collection of str
        The known names.
    packed : str
        What a name may end with besides, like ".gz".

    Returns
    -------
    dict of Path
        By the known name.

    Raises
    ------
    GrandPlusError
        Two files have the same known name.
    """
    held: dict[str, Path] = {}
    for name in files:
        role = PurePosixPath(name).name.removesuffix(packed)
        if role in held:
            found = f"is there twice: {held[role].relative_to(folder)} and {name}"
            raise GrandPlusError(
                found, where=role, expected="the files of one graph, and one split", fix="give these alone"
            )
        if role in roles:
            held[role] = folder / name
    return held


def has_one_of_each(files: list[Path], suffixes: tuple[str, ...]) -> bool:
    """Whether there is one file for each end of a name, and no other file.

    Examples
    --------
    >>> has_one_of_each([Path("a_adj.npz"), Path("a_feat.npy")], ("_adj.npz", "_feat.npy"))
    True
    """
    ends = [suffix for file in files for suffix in suffixes if file.name.endswith(suffix)]
    return len(files) == len(ends) == len(set(ends)) == len(suffixes)


def read_npy(file: Path) -> NDArray[Any]:
    """Memory-map an array of a ``.npy`` file, which must be as large as it declares.

    Parameters
    ----------
    file : Path

    Returns
    -------
    ndarray

    Raises
    ------
    GrandPlusError
        The file is missing or damaged, or holds Python objects.
    """
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except NPY_DAMAGE as error:
        raise GrandPlusError(f"is no readable array: {error}", where=file) from None


def edges_of(adjacency: Any, source: Source, where: object) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """The entries of an adjacency that are not 0, and their weights if these are used.

    Parameters
    ----------
    adjacency : (n, n) scipy sparse
        Its indices are checked.
    source : Source
        ``source.read.weights`` says what becomes of weights.
    where : object
        What to call the matrix in an error.

    Returns
    -------
    edges : int32 (2, E), or int64 if the ids need it
    weights : float32 (E,) or None

    Raises
    ------
    GrandPlusError
        It is of another kind or not square, an index is out of range, or it has weights that are refused.
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
    check_unnamed(source.read, where)
    weights = weights_read(adjacency.data, source.read, where)
    if adjacency.data.all():
        return edges, weights
    kept = adjacency.data != 0
    return edges[:, kept], None if weights is None else weights[kept]


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
        found = f"row {_row_of(position, indptr)} of {prefix}indices holds {indices[position]}"
        raise GrandPlusError(found, where=where, expected=f"0 to {columns - 1}")


def _row_of(position: int, indptr: NDArray[Any]) -> int:
    return int(np.searchsorted(indptr, position, side="right")) - 1


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
        row = _row_of(position, given.indptr)
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


def labels_of(
    array: Any, nodes: int, source: Source, where: object, name: Callable[[int], str] = "row {}".format
) -> tuple[NDArray[np.int64], list[str]]:
    """Check an array of labels, and number the classes.

    Parameters
    ----------
    array : (n,) or (n, classes) ndarray
        Class numbers, with -1, NaN or a number that ``source.read.na`` lists where unknown; or rows with at most one 1
        among zeros, and none where unknown.
    nodes : int
        n.
    source : Source
        If it doesn't name the classes, numbers that no node has are no classes.
    where : object
        The file.
    name : callable
        What to call a row in an error.

    Returns
    -------
    labels : int64 (n,)
        -1 where unknown.
    classes : list of str
        Names, by class number.

    Raises
    ------
    GrandPlusError
        It is something else; with the row.
    """
    if not isinstance(array, np.ndarray):
        raise GrandPlusError(f"holds a {type(array).__name__}", where=where, expected="an array of labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.dtype.kind not in "fiub" or len(array) != nodes:
        expected = f"{nodes} class numbers or one-hot rows, as by the adjacency"
        raise GrandPlusError(f"is {described(array)}", where=where, expected=expected)
    numbers = _numbers(_known(array, source), where, name) if array.ndim == 1 else _of_one_hot(array, where, name)
    if source.classes is not None:
        count = array.shape[1] if array.ndim == 2 else int(numbers.max(initial=-1)) + 1
        if count != len(source.classes):
            expected = f"{len(source.classes)}, as the card names them"
            raise GrandPlusError(f"has {count} classes", where=where, expected=expected)
        return numbers, list(source.classes)
    used = np.unique(numbers[numbers >= 0])
    return np.where(numbers >= 0, np.searchsorted(used, numbers), -1), [str(number) for number in used]


def _known(array: NDArray[Any], source: Source) -> NDArray[Any]:
    """With -1 in place of the numbers that the card says stand for an unknown label."""
    listed = []
    for text in source.read.na or []:
        with contextlib.suppress(ValueError):  # it is no number, so that no label is it
            listed.append(float(text))
    return np.where(np.isin(array, listed), -1, array) if listed else array


def _numbers(array: NDArray[Any], where: object, name: Callable[[int], str]) -> NDArray[np.int64]:
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
    wrong = np.flatnonzero((array < -1) | (array != np.floor(array)) | (array >= 2.0**63))
    if len(wrong):
        expected = "a class: a whole number, or -1 for unknown"
        raise GrandPlusError(f"{name(int(wrong[0]))} is {array[wrong[0]]}", where=where, expected=expected)
    return array.astype(np.int64)


def _of_one_hot(rows: NDArray[Any], where: object, name: Callable[[int], str]) -> NDArray[np.int64]:
    used = (rows != 0).sum(axis=1)
    ones = (rows == 1).sum(axis=1)
    wrong = np.flatnonzero((used > 1) | (ones != used))
    if len(wrong):
        row = int(wrong[0])
        if ones[row] == used[row]:
            raise_multi_label(f"{name(row)} has {used[row]} labels", where)
        text = f"{name(row)} is {rows[row].tolist()}"
        raise GrandPlusError(text, where=where, expected="at most a single 1 among zeros")
    return np.where(used == 1, rows.argmax(axis=1), -1).astype(np.int64)


def raise_multi_label(found: str, where: object) -> NoReturn:
    """Raise the error of nodes with several labels.

    Parameters
    ----------
    found : str
        Which labels there are.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    expected = "one label a node at most, as the method's classes exclude each other (multi-label data)"
    raise GrandPlusError(found, where=where, expected=expected, fix="keep one label a node")


def described(array: Any) -> str:
    """Type and shape of an array or sparse matrix, for an error.

    Examples
    --------
    >>> described(np.zeros((3, 2))), described(np.int64(1))
    ('float64 3 x 2', 'int64 scalar')
    """
    return f"{array.dtype} {' x '.join(map(str, array.shape)) or 'scalar'}"
