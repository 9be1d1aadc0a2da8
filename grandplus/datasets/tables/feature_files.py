"""Features in a file of their own, for the nodes of a node table.

``.npy`` and a scipy ``.npz`` have a row for each line of the node table; ``.json`` and ``.parquet`` have a list for
each id. Lists of whole numbers from 0 on name the features that a node has, each counted once. Lists of fractions are
the values of the features, and so are lists of equal length in which a number repeats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.features import LARGEST_FEATURE, features_of, raise_no_feature
from grandplus.datasets.arrays.files import read_npy
from grandplus.datasets.arrays.json_files import read_json_object
from grandplus.datasets.arrays.npz import read_scipy_npz
from grandplus.datasets.tables.ids import as_numpy, first_repeated, ids_of, rows_of, same_type
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.parquet import is_parquet
from grandplus.graph.features import as_floats
from grandplus.runtime.errors import GrandPlusError

MAX_FEATURES = 2**31 - 1  # as columns are int32


class Lists(NamedTuple):
    """Features of nodes by id, as the file has them.

    Attributes
    ----------
    file : Path
    ids : pyarrow array (m,)
        Each once.
    lengths : int64 (m,)
        Of the lists.
    values : (sum of lengths,)
        The numbers of all lists, one list after the other.
    """

    file: Path
    ids: pa.Array
    lengths: NDArray[np.int64]
    values: NDArray[Any]

    def rows(self, ids: pa.Array, width: int | None = None) -> Any:
        """A row for each of some nodes, see `read`.

        If the number of features is known, lists of that length have values, and all others name features; there may
        be more columns then, of features that aren't known.
        """
        held, wanted = same_type([self.ids], [ids])
        missing = np.flatnonzero(rows_of(wanted, held) < 0)
        if len(missing):
            found = f"lacks node {wanted[int(missing[0])].as_py()!r}"
            raise GrandPlusError(found, where=self.file, expected="features of every node")
        names = as_numpy(held)
        make = of_lists if width is None else vectors_of if (self.lengths == width).all() else self._named(width)
        features = make(self.lengths, self.values, lambda row: f"node {names[row]}", self.file)
        return features[rows_of(wanted, held)]

    def _named(self, width: int) -> Callable[..., Any]:
        """What makes features of lists that name them, of at least so many columns."""
        if self.values.dtype.kind not in "iu" or self.values.min(initial=0) < 0:
            found = f"has lists of {self.lengths.min()} to {self.lengths.max()} values"
            raise GrandPlusError(
                found, where=self.file, expected=f"{width} of each node, or numbers of features from 0"
            )

        def padded(*arguments: Any) -> Any:
            features = positions_of(*arguments)
            features.resize(features.shape[0], max(features.shape[1], width))
            return features

        return padded


def lists_by_id(file: Path) -> Lists | None:
    """The features of a file that names its nodes.

    Parameters
    ----------
    file : Path

    Returns
    -------
    Lists or None
        None if the file has a row for each line of the node table.

    Raises
    ------
    GrandPlusError
        The file is damaged, or has a node twice.
    """
    if file.suffix in _BY_POSITION:
        return None
    lists = _parquet(file) if is_parquet(file) else _json(file)
    twice = first_repeated(lists.ids)
    if twice:
        raise GrandPlusError(f"has node {lists.ids[twice[0]].as_py()} twice", where=file)
    return lists


def read(file: Path, ids: pa.Array) -> Any:
    """Read the features of some nodes.

    Parameters
    ----------
    file : Path
    ids : pyarrow array (n,)
        The ids of the nodes, in the order of the node table.

    Returns
    -------
    (n, d) ndarray or scipy CSR of the floats of `grandplus.graph.features.as_floats`
        A row for each id.

    Raises
    ------
    GrandPlusError
        The file is damaged, lacks a node, or a value is no feature; with the row and column. Or ids that count the
        nodes are in another order, so that a row may be of the line or of the id.
    """
    lists = lists_by_id(file)
    if lists is not None:
        return lists.rows(ids)
    _check_order(ids, file)
    return _BY_POSITION[file.suffix](file, ids)


def _check_order(ids: pa.Array, file: Path) -> None:
    """Ids that count the nodes are in the order of the lines; else a row may be of the line or of the id."""
    (numbers,) = same_type([ids])
    if not len(numbers) or not pa.types.is_int64(numbers.type):
        return
    given = numbers.to_numpy()
    wrong = np.flatnonzero(given != given.min() + np.arange(len(given)))
    if given.min() in (0, 1) and given.max() == given.min() + len(given) - 1 and len(wrong):
        row = int(wrong[0])
        found = f"has a row for each node, but row {row} may be of node {given[row]}, as the node table has it there"
        fix = "sort the lines of the node table by their ids, and the rows of the features with them"
        raise GrandPlusError(f"{found}, or of node {given.min() + row}", where=file, expected="one order", fix=fix)


def of_lists(lengths: NDArray[np.int64], values: NDArray[Any], name: Callable[[int], str], where: object) -> Any:
    """Features that are given as a list for each node.

    Parameters
    ----------
    lengths : int64 (n,)
        Of the lists.
    values : (sum of lengths,)
        The numbers of all lists, one list after the other.
    name : callable
        What to call a node in an error.
    where : object
        The file.

    Returns
    -------
    (n, d) ndarray or scipy CSR of the floats of `grandplus.graph.features.as_floats`

    Raises
    ------
    GrandPlusError
        The lists hold no numbers, or have different lengths though they hold values.

    Examples
    --------
    >>> of_lists(np.array([2, 1]), np.array([0, 3, 1]), str, "f.json").toarray().tolist()
    [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    >>> of_lists(np.array([2, 2]), np.array([0.5, 3, 1, 1]), str, "f.json").tolist()
    [[0.5, 3.0], [1.0, 1.0]]
    """
    if values.dtype.kind not in "fiu":
        raise GrandPlusError(f"holds lists of {values.dtype}", where=where, expected="lists of numbers")
    equal = not np.any(lengths != lengths[:1])
    if values.dtype.kind != "f" and values.min(initial=0) >= 0 and not (equal and have_repeats(lengths, values)):
        return positions_of(lengths, values, name, where)
    return vectors_of(lengths, values, name, where)


def have_repeats(lengths: NDArray[np.int64], values: NDArray[Any]) -> bool:
    """Whether a list has a number twice, so that its numbers are values and not those of features.

    Parameters
    ----------
    lengths : int64 (n,)
    values : (sum of lengths,)

    Returns
    -------
    bool
    """
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((values, rows))
    return bool(np.any((np.diff(rows[order]) == 0) & (np.diff(values[order]) == 0)))


def vectors_of(lengths: NDArray[np.int64], values: NDArray[Any], name: Callable[[int], str], where: object) -> Any:
    """Features whose values are listed for each node.

    Parameters
    ----------
    lengths, values, name, where
        As of `of_lists`.

    Returns
    -------
    (n, d) ndarray or scipy CSR of the floats of `grandplus.graph.features.as_floats`

    Raises
    ------
    GrandPlusError
        There is no list, the lists have different lengths, or a value is no feature.
    """
    if not len(lengths):
        raise GrandPlusError("holds no list", where=where, expected="a list of features for each node")
    wrong = np.flatnonzero(lengths != lengths[:1])
    if len(wrong):
        found = f"{name(int(wrong[0]))} has {lengths[wrong[0]]} features"
        raise GrandPlusError(found, where=where, expected=f"{lengths[0]}, as {name(0)}")
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST_FEATURE))
    if len(wrong):
        row, column = divmod(int(wrong[0]), int(lengths[0]))
        raise_no_feature(values[wrong[0]], f"{name(row)}, column {column}", where)
    dense = as_floats(values.reshape(len(lengths), -1))
    return sparse.csr_matrix(dense) if np.count_nonzero(dense) * 4 < dense.size else dense


def positions_of(lengths: NDArray[np.int64], values: NDArray[Any], name: Callable[[int], str], where: object) -> Any:
    """Features that are 1 if a node's list names them, by their numbers from 0.

    Parameters
    ----------
    lengths, values, name, where
        As of `of_lists`; the values are whole numbers that are not negative.

    Returns
    -------
    scipy CSR, float32 (n, d)

    Raises
    ------
    GrandPlusError
        A number is too large.
    """
    width = int(values.max(initial=0)) + 1
    if width > MAX_FEATURES:
        row = int(np.repeat(np.arange(len(lengths)), lengths)[int(values.argmax())])
        raise GrandPlusError(
            f"{name(row)} has feature {width - 1}", where=where, expected=f"at most {MAX_FEATURES - 1}"
        )
    ones, indptr = np.ones(len(values), np.float32), np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_matrix((ones, values.astype(np.int32), indptr), shape=(len(lengths), width))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _npy(file: Path, ids: pa.Array) -> Any:
    return features_of(read_npy(file), len(ids), file, _of_node(ids))


def _npz(file: Path, ids: pa.Array) -> Any:
    return features_of(read_scipy_npz(file), len(ids), file, _of_node(ids))


def _of_node(ids: pa.Array) -> Callable[[int, int], str]:
    return lambda row, column: f"row {row}, of node {ids[row]}, column {column}"


def _json(file: Path) -> Lists:
    """{id: list}"""
    content = read_json_object(file, fix="write the features as .npz or .parquet instead, or set GRANDPLUS_MEMORY")
    if not all(isinstance(row, list) for row in content.values()):
        raise GrandPlusError("holds something else", where=file, expected="{id: [numbers], ...}")
    lists = [_numbers(row, key, file) for key, row in content.items()]
    lengths = np.array([len(row) for row in lists], np.int64)
    values = np.array(list(itertools.chain.from_iterable(lists)) or np.zeros(0, np.int64))
    return Lists(file, pa.array(list(content), pa.large_string()), lengths, values)


def _numbers(row: list[Any], key: str, file: Path) -> list[Any]:
    for column, value in enumerate(row):
        if type(value) not in (int, float) or not abs(value) <= LARGEST_FEATURE:
            raise_no_feature(repr(value)[:40], f"node {key}, column {column}", file)
    return row


def _parquet(file: Path) -> Lists:
    """A column of ids and one of lists."""
    table = look(file)
    lists = [column for column, kind in enumerate(pq.read_schema(file).types) if is_list(kind)]
    if len(lists) != 1:
        raise GrandPlusError(f"has {len(lists)} columns of lists", where=file, expected="one, with the features")
    others = [column for column in range(table.width) if column not in lists]
    named = [column for column in others if table.names and table.names[column].lower() in ("id", "node", "node_id")]
    if len(named or others) != 1:
        raise GrandPlusError(f"has columns {', '.join(table.names or [])}", where=file, expected="one called id")
    (ids_of_lists,) = ids_of(table, named or others)
    pieces = [piece for (piece,) in table.pieces(lists)]
    column = pa.chunked_array(pieces, pieces[0].type).combine_chunks()
    if column.null_count:
        raise GrandPlusError(f"row {int(np.argmax(column.is_null()))} has no list", where=file)
    lengths = np.asarray(pa.compute.list_value_length(column).cast(pa.int64()))
    values = column.flatten()
    if values.null_count:
        raise GrandPlusError("a list lacks a number", where=file, expected="numbers")
    ids = pa.chunked_array(ids_of_lists).combine_chunks()
    return Lists(file, ids, lengths, values.to_numpy(zero_copy_only=False))


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of Parquet holds lists, which may be features; a struct is none.

    Parameters
    ----------
    kind : pyarrow type

    Returns
    -------
    bool

    Examples
    --------
    >>> is_list(pa.list_(pa.int64())), is_list(pa.struct({"a": pa.int64()}))
    (True, False)
    """
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


_BY_POSITION: dict[str, Callable[[Path, pa.Array], Any]] = {".npy": _npy, ".npz": _npz}
