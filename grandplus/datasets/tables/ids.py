"""From the ids of nodes in files to row numbers, which don't depend on the order of lines.

If all ids are whole numbers in their usual form ("7", not "007"; "7.0" only if all of a column are written so), they
are sorted by value. Otherwise all are text, sorted by its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import Ids
from grandplus.datasets.tables.lines import MARKS
from grandplus.datasets.tables.spellings import whole_numbers
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
    for pieces in table.pieces(columns):
        for number, column, piece in zip(range(len(columns)), columns, pieces, strict=True):
            ids[number].append(_ids(piece, table, column, row))
        row += len(pieces[0])
    return ids


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


def rows_of(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """The position of each id among known ones.

    Parameters
    ----------
    ids : pyarrow array (b,)
    known : pyarrow array (n,)
        Of the same type.

    Returns
    -------
    int64 (b,)
        -1 where an id is unknown.
    """
    return np.asarray(pc.fill_null(pc.index_in(ids, value_set=known), -1), np.int64)


def known_rows(ends: pa.Array, ids: pa.Array, edges: Table, nodes: str | None) -> NDArray[np.int64]:
    """The row numbers of the nodes at one end of the edges.

    Parameters
    ----------
    ends : pyarrow array (E,)
        Ids, in the order of the edge table.
    ids : pyarrow array (n,)
        Of all nodes.
    edges : Table
    nodes : str or None
        What to call the node table in an error.

    Returns
    -------
    int64 (E,)

    Raises
    ------
    GrandPlusError
        An end is none of ``ids``.
    """
    rows = rows_of(ends, ids)
    wrong = np.flatnonzero(rows < 0)
    if len(wrong):
        found = f"{edges.line(int(wrong[0]))} names node {ends[int(wrong[0])].as_py()!r}"
        fix = "add the node or drop the edge; if that line is a header, say --header yes"
        raise GrandPlusError(found, where=edges.file, expected=f"an id of {nodes}", fix=fix)
    return rows


def named_ids(rows: Sequence[NDArray[np.int64]], nodes: int) -> Ids:
    """How many nodes of the node table the edges name.

    Parameters
    ----------
    rows : sequence of int64 (E,)
        The row numbers at each end of the edges; -1 where the node table lacks the id.
    nodes : int
        Of the node table.

    Returns
    -------
    Ids
        Without those that only edges name.
    """
    named = np.zeros(nodes + 1, bool)  # the last for -1
    for ends in rows:
        named[ends] = True
    both = int(named[:nodes].sum())
    return Ids(only_edges=0, only_nodes=nodes - both, both=both)


def further_ids(
    ends: Sequence[pa.Array],
    rows: Sequence[NDArray[np.int64]],
    ids: pa.Array,
    edges: Table,
    nodes: str | None,
    *,
    complete: bool,
) -> pa.Array:
    """The ids that edges name and the node table lacks, each once.

    Parameters
    ----------
    ends : sequence of pyarrow arrays (E,)
        Ids at each end of the edges.
    rows : sequence of int64 (E,)
        Their row numbers, -1 for such ids.
    ids : pyarrow array (n,)
        Those of the node table.
    edges : Table
    nodes : str or None
        What to call the node table in an error.
    complete : bool
        Whether there must be none, as every node has features.

    Returns
    -------
    pyarrow array

    Raises
    ------
    GrandPlusError
        There are some though every node has features, or one looks like a comment.
    """
    if not any((row < 0).any() for row in rows):
        return ids[:0]
    if complete:
        for end in ends:
            known_rows(end, ids, edges, nodes)
    further = pc.unique(pa.concat_arrays([end.filter(pa.array(row < 0)) for end, row in zip(ends, rows, strict=True)]))
    if not pa.types.is_int64(further.type) and not _begin_as_comments(ids).any():
        marked = further.filter(pa.array(_begin_as_comments(further)))
        if len(marked):
            line = edges.line(pc.index(ends[0], marked[0]).as_py()) if pc.is_in(marked[:1], ends[0])[0].as_py() else ""
            found = f"{line or 'an edge'} names node {marked[0].as_py()!r}, which begins as a comment does"
            raise GrandPlusError(found, where=edges.file, expected=f"an id of {nodes}", fix="take out the comment")
    return further


def _begin_as_comments(ids: pa.Array) -> NDArray[np.bool_]:
    if pa.types.is_int64(ids.type):
        return np.zeros(len(ids), bool)
    marked = [pc.starts_with(ids, mark) for mark in MARKS]
    return np.asarray(pc.or_(*marked).to_numpy(zero_copy_only=False), bool)


def check_any_known(edges: Table, nodes: Table, named: Ids, further: pa.Array) -> None:
    """Check that the edges name nodes of the node table.

    Parameters
    ----------
    edges, nodes : Table
    named : Ids
    further : pyarrow array
        The ids that only edges name.

    Raises
    ------
    GrandPlusError
        They name none: the ids are other ones.
    """
    if len(further) and not named.both:
        found = f"names node {further[0].as_py()!r}, and no node of {nodes.file.name}"
        fix = "name the columns that hold the same ids with --ends and --id"
        raise GrandPlusError(found, where=edges.file, expected=f"ids of {nodes.file.name}", fix=fix)


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
    where = f"{table.file}, column {table.named(column)}"
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_floating(piece.type):
        piece = whole_numbers(piece)
    text = pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type)
    if not (text or pa.types.is_integer(piece.type)):
        raise GrandPlusError(f"holds {piece.type}", where=where, expected="ids: whole numbers or text")
    empty = pc.or_kleene(piece.is_null(), pc.equal(piece, "")) if text else piece.is_null()
    position = pc.index(empty, True).as_py()
    if position >= 0:
        raise GrandPlusError(f"{table.line(row + position)} has no id", where=where)
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
