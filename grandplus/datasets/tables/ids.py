"""Node ids as files have them -> rows, in an order that the order of the files doesn't change.

Ids are whole numbers, sorted as such, where all of them are written in the one way that a number has ("7", not
"007" or "7.0"); else text, sorted by its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError


def ids_of(table: Table, columns: Sequence[int]) -> list[list[pa.Array]]:
    """Pieces of each column, of int64 or strings.

    Raises
    ------
    GrandPlusError : a line has no id, or the column is of another type.
    """
    found: list[list[pa.Array]] = [[] for _ in columns]
    row = 0
    for pieces in table.pieces(columns):
        for number, column, piece in zip(range(len(columns)), columns, pieces, strict=True):
            found[number].append(_ids(piece, table, column, row))
        row += len(pieces[0])
    return found


def same_type(*columns: Iterable[pa.Array]) -> list[pa.Array]:
    """Each column of ids in one piece; all int64 where all are numbers, else all strings.

    Parameters
    ----------
    columns : pieces, each int64 or strings without null
    """
    found = [[_numbers_if_all(piece) for piece in column] for column in columns]
    numbers = all(pa.types.is_int64(piece.type) for column in found for piece in column)
    kind = pa.int64() if numbers else pa.large_string()
    return [pa.concat_arrays([pa.array([], kind), *(piece.cast(kind) for piece in column)]) for column in found]


def order_of(ids: pa.Array) -> NDArray[np.int64]:
    """Which of ``ids`` is first, second, ... when they are sorted."""
    return np.asarray(pc.sort_indices(ids), np.int64)


def rows_of(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """Place of each id in ``known``, of the same type; -1 where it isn't there."""
    return np.asarray(pc.fill_null(pc.index_in(ids, value_set=known), -1), np.int64)


def known_rows(ends: pa.Array, ids: pa.Array, edges: Table, nodes: str | None) -> NDArray[np.int64]:
    """Nodes that the ends of edges name, by number.

    Parameters
    ----------
    ends : in the order of the edge table
    nodes : what to call the table that ``ids`` are from in an error

    Raises
    ------
    GrandPlusError : an end is none of ``ids``.
    """
    rows = rows_of(ends, ids)
    wrong = np.flatnonzero(rows < 0)
    if len(wrong):
        found = f"{edges.line(int(wrong[0]))} names node {ends[int(wrong[0])].as_py()!r}"
        fix = "add the node or drop the edge; if that line is a header, call its columns source and target"
        raise GrandPlusError(found, where=edges.file, expected=f"an id of {nodes}", fix=fix)
    return rows


def refuse_repeated(ids: pa.Array, nodes: Table) -> None:
    """A node has one line."""
    twice = first_repeated(ids)
    if twice:
        found = f"{nodes.line(twice[1])} has the id {ids[twice[0]].as_py()} of {nodes.line(twice[0])}"
        expected = "one line a node, with one label (multi-label data has no place in the method)"
        raise GrandPlusError(found, where=nodes.file, expected=expected)


def first_repeated(ids: pa.Array) -> tuple[int, int] | None:
    """Places of an id that stands twice."""
    at = rows_of(ids, pc.unique(ids))
    firsts = np.unique(at, return_index=True)[1]
    if len(firsts) == len(ids):
        return None
    again = int(np.setdiff1d(np.arange(len(ids)), firsts)[0])
    return int(firsts[at[again]]), again


def as_numpy(ids: pa.Array) -> NDArray[Any]:
    """int64, or strings as objects."""
    return np.asarray(ids.to_numpy(zero_copy_only=False))


def _ids(piece: pa.Array, table: Table, column: int, row: int) -> pa.Array:
    where = f"{table.file}, column {table.named(column)}"
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    text = pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type)
    if not (text or pa.types.is_integer(piece.type)):
        raise GrandPlusError(f"holds {piece.type}", where=where, expected="ids: whole numbers or text")
    empty = pc.or_kleene(piece.is_null(), pc.equal(piece, "")) if text else piece.is_null()
    place = pc.index(empty, True).as_py()
    if place >= 0:
        raise GrandPlusError(f"{table.line(row + place)} has no id", where=where)
    try:
        return piece.cast(pa.large_string() if text else pa.int64())
    except pa.ArrowException as error:
        raise GrandPlusError(f"holds an id that is too large: {error}", where=where) from None


def _numbers_if_all(piece: pa.Array) -> pa.Array:
    if pa.types.is_int64(piece.type):
        return piece
    try:
        numbers = piece.cast(pa.int64())
    except pa.ArrowInvalid:
        return piece
    return numbers if numbers.cast(piece.type).equals(piece) else piece
