"""From the ids of nodes in files to row numbers, which don't depend on the order of lines.

If all ids are whole numbers in their usual form ("7", not "007"; "7.0" only if all of a column are written so), or with
an exponent as R writes them ("1e+05"), they are sorted by value. Otherwise all are text, sorted by its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.tables.spellings import check_not_rounded, spelled_out, whole_numbers
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError


def ids_of(table: Table, columns: Sequence[int]) -> list[list[pa.Array]]:
    """Read columns of ids.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Their numbers, from 0.

    Returns
    -------
    list of lists of pyarrow arrays
        The pieces of each column, of int64 or strings.

    Raises
    ------
    GrandPlusError
        A line has no id, or the column is of another type.
    """
    ids: list[list[pa.Array]] = [[] for _ in columns]
    row = 0
    for pieces in pieces_of_ids(table, columns):
        for number, (column, piece) in enumerate(zip(columns, pieces, strict=True)):
            position = pc.index(piece.is_null(), True).as_py()
            if position >= 0:
                where = f"{table.file}, column {table.named(column)}"
                raise GrandPlusError(f"{table.line(row + position)} has no id", where=where)
            ids[number].append(piece)
        row += len(pieces[0])
    return ids


def pieces_of_ids(table: Table, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
    """Read columns of ids piece by piece.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Their numbers, from 0.

    Yields
    ------
    list of pyarrow arrays
        A piece of each column, of int64 or strings; null where a line has no id.

    Raises
    ------
    GrandPlusError
        A column is of another type.
    """
    row = 0
    for pieces in table.pieces(columns):
        yield [_ids(piece, table, column, row) for column, piece in zip(columns, pieces, strict=True)]
        row += len(pieces[0])


def same_type(*columns: Iterable[pa.Array]) -> list[pa.Array]:
    """Columns of ids, each in one piece: int64 if all ids of all columns are numbers, else strings.

    Parameters
    ----------
    *columns : iterable of pyarrow arrays
        The pieces of a column, of int64 or strings without null.

    Returns
    -------
    list of pyarrow arrays

    Examples
    --------
    >>> [ids.to_pylist() for ids in same_type([pa.array(["1", "2"])], [pa.array(["x"])])]
    [['1', '2'], ['x']]
    >>> [ids.to_pylist() for ids in same_type([pa.array(["1", "2"])], [pa.array(["3"])])]
    [[1, 2], [3]]
    """
    texts = [list(column) for column in columns]
    as_numbers = [[_numbers_if_all(piece) for piece in _whole(column)] for column in texts]
    numbers = all(pa.types.is_int64(piece.type) for column in as_numbers for piece in column)
    kind = pa.int64() if numbers else pa.large_string()
    pieces = as_numbers if numbers else texts  # 4.0 among text is text
    return [pa.concat_arrays([pa.array([], kind), *(piece.cast(kind) for piece in column)]) for column in pieces]


def order_of(ids: pa.Array) -> NDArray[np.int64]:
    """The positions of ids in their sorted order.

    Parameters
    ----------
    ids : pyarrow array (n,)

    Returns
    -------
    int64 (n,)
        The position of the first, the second, …
    """
    return np.asarray(pc.sort_indices(ids), np.int64)


def rows_of(ids: pa.Array, known: pa.Array) -> NDArray[np.int32]:
    """The position of each id among known ones.

    Parameters
    ----------
    ids : pyarrow array (b,)
    known : pyarrow array (n,)
        Of the same type.

    Returns
    -------
    int32 (b,)
        -1 where an id is unknown.
    """
    return np.asarray(pc.fill_null(pc.index_in(ids, value_set=known), -1))


def check_unique(ids: pa.Array, nodes: Table) -> None:
    """Check that each node has one line.

    Parameters
    ----------
    ids : pyarrow array (n,)
        In the order of the node table.
    nodes : Table

    Raises
    ------
    GrandPlusError
        An id repeats; with both lines.
    """
    twice = first_repeated(ids)
    if twice:
        found = f"{nodes.line(twice[1])} has the id {ids[twice[0]].as_py()} of {nodes.line(twice[0])}"
        expected = "one line a node, with one label (multi-label data has no place in the method)"
        raise GrandPlusError(found, where=nodes.file, expected=expected)


def first_repeated(ids: pa.Array) -> tuple[int, int] | None:
    """The first two positions of an id that repeats.

    Parameters
    ----------
    ids : pyarrow array (n,)

    Returns
    -------
    tuple of int, or None
        None if no id repeats.

    Examples
    --------
    >>> first_repeated(pa.array(["a", "b", "a"]))
    (0, 2)
    """
    distinct = rows_of(ids, pc.unique(ids))
    firsts = np.unique(distinct, return_index=True)[1]
    if len(firsts) == len(ids):
        return None
    again = int(np.setdiff1d(np.arange(len(ids)), firsts)[0])
    return int(firsts[distinct[again]]), again


def as_numpy(ids: pa.Array) -> NDArray[Any]:
    """Ids as a numpy array: int64, or strings as objects."""
    return np.asarray(ids.to_numpy(zero_copy_only=False))


def _whole(pieces: list[pa.Array]) -> list[pa.Array]:
    """Whole numbers that are written as floats are whole numbers, if all of a column are."""
    numbers = [whole_numbers(piece) for piece in pieces]
    return numbers if all(pa.types.is_int64(piece.type) for piece in numbers) else pieces


def _ids(piece: pa.Array, table: Table, column: int, row: int) -> pa.Array:
    """A piece that begins with this row."""
    where = f"{table.file}, column {table.named(column)}"
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_floating(piece.type):
        piece = whole_numbers(piece)
    text = pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type)
    if not (text or pa.types.is_integer(piece.type)):
        raise GrandPlusError(f"holds {piece.type}", where=where, expected="ids: whole numbers or text")
    if text:
        check_not_rounded(piece, lambda position: table.line(row + position), where)
        piece = pc.if_else(pc.equal(piece, ""), None, piece)
    try:
        return piece.cast(pa.large_string() if text else pa.int64())
    except pa.ArrowException as error:
        raise GrandPlusError(f"holds an id that is too large: {error}", where=where) from None


def _numbers_if_all(piece: pa.Array) -> pa.Array:
    if pa.types.is_int64(piece.type):
        return piece
    numbers = _as_numbers(piece)
    if numbers is None:
        numbers = _as_numbers(spelled_out(piece))
    return piece if numbers is None else numbers


def _as_numbers(piece: pa.Array) -> pa.Array | None:
    try:
        numbers = piece.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if numbers.cast(piece.type).equals(piece) else None
