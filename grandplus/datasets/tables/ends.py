"""The ends of edges in a table, without the lines that name no node at an end: these are no edges.

pandas, R and databases write a missing value as nothing or as one of several words, and some programs write -1. Where
ids are text, such a word may be an id, too. It is one if the node table has it; if not, it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.tables.class_names import UNKNOWN
from grandplus.datasets.tables.ids import pieces_of_ids, same_type
from grandplus.datasets.tables.table import Table
from grandplus.graph.ids import hint
from grandplus.runtime.errors import GrandPlusError

_MINUS_ONE = ("-1", "-1.0")
NO_IDS = ("", *UNKNOWN, *_MINUS_ONE)
_WORDS = pa.array(sorted(set(NO_IDS) - set(_MINUS_ONE)), pa.large_string())
_TOTALS = pa.array(["total", "totals", "grand total", "subtotal", "sum"], pa.large_string())
_NUMBER = r"^[+-]?[0-9]+(\.[0-9]*)?([eE]\+?[0-9]+)?$"


def ends_of_edges(
    edges: Table, columns: Sequence[int], known: Sequence[pa.Array], nodes: str | None
) -> tuple[list[list[pa.Array]], dict[str, int]]:
    """Read the two columns of ends; the table notes which rows are left out.

    Parameters
    ----------
    edges : Table
    columns : sequence of int
        Their numbers, from 0.
    known : sequence of pyarrow arrays
        The ids of the node table, in pieces; none without one.
    nodes : str or None
        What to call the node table in an error.

    Returns
    -------
    ends : list of lists of pyarrow arrays
        The pieces of each column, of int64 or strings.
    dropped : dict of int
        How many lines are no edges, as an account has it.

    Raises
    ------
    GrandPlusError
        An end may be an id or a word for a missing value.
    """
    ends = [list(pieces) for pieces in zip(*pieces_of_ids(edges, columns), strict=True)] or [[] for _ in columns]
    (ids,) = same_type(known)
    numbers = pa.types.is_int64(ids.type)
    words = [_unknown_words(pieces, ids) for pieces in ends]
    if not len(ids):
        numbers = all(_hold_numbers(pieces, mask) for pieces, mask in zip(ends, words, strict=True))
    missing = words
    if numbers:
        missing = [mask | minus for mask, minus in zip(words, _minus_ones(ends, ids), strict=True)]
    elif any(mask.any() for mask in words):
        _check_empty(edges, ends, words, nodes)
    without = np.logical_or.reduce(missing)
    heads = _repeat_header(edges, columns, ends, ids)
    missing, without = [*missing, heads], without | heads
    rows = np.flatnonzero(without)
    if len(rows):
        column = next(number for number, mask in enumerate(missing) if mask[rows[0]]) % len(ends)
        text = pa.chunked_array(ends[column])[int(rows[0])].as_py()
        shown = f"has {text!r} at an end" if text not in (None, "") else "has no id at an end"
        line, no_edge = ("line", "is no edge") if len(rows) == 1 else ("lines", "are no edges")
        dropped = {f"{line} of {edges.file.name} that {no_edge} ({edges.line(int(rows[0]))} {shown})": len(rows)}
        edges.left_out[:] = rows.tolist()
        ends = [_without(pieces, without) for pieces in ends]
    else:
        dropped = {}
    return ends, dropped


def check_ends(ends: Sequence[pa.Array], ids: pa.Array, edges: Table, nodes: Table) -> None:
    """Check that no end is text where all ids of nodes are numbers, and no id the word of a total in one table only.

    Parameters
    ----------
    ends : sequence of pyarrow arrays (E,)
    ids : pyarrow array (n,)
        Of the node table, of the same type.
    edges, nodes : Table

    Raises
    ------
    GrandPlusError
        One is; with its line.
    """
    if pa.types.is_int64(ids.type):
        return
    named = pa.chunked_array(ends)
    if _are_numbers(ids):
        for end in ends:
            doubtful = pc.invert(pc.match_substring_regex(end, _NUMBER))
            _check_none(doubtful, end, edges, f"a whole number, as all ids of {nodes.file.name} are", ids)
    words = pa.concat_arrays([_TOTALS, _WORDS]) if _are_numbers(named) else _TOTALS
    for texts, others, table, other in (*((end, ids, edges, nodes) for end in ends), (ids, named, nodes, edges)):
        doubtful = pc.is_in(pc.utf8_lower(texts), value_set=_TOTALS)
        if table is nodes:
            doubtful = pc.or_(doubtful, pc.is_in(texts, value_set=words))
        doubtful = pc.and_(doubtful, pc.invert(pc.is_in(texts, value_set=pc.unique(others))))
        _check_none(doubtful, texts, table, f"an id of {other.file.name}", others)


def _are_numbers(ids: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pc.all(pc.match_substring_regex(ids, _NUMBER)).as_py())


def _check_none(
    doubtful: pa.Array, ids: pa.Array, table: Table, expected: str, others: pa.Array | pa.ChunkedArray
) -> None:
    row = pc.index(doubtful, True).as_py()
    if row >= 0:
        found = f"{table.line(row)} names node {ids[row].as_py()!r}"
        fix = f"take the line out, or add the node to the other table ({hint(pc.unique(others), ids[row].as_py())})"
        raise GrandPlusError(found, where=table.file, expected=expected, fix=fix)


def _unknown_words(pieces: list[pa.Array], ids: pa.Array) -> NDArray[np.bool_]:
    """Which ends are missing, or a word for it that the node table doesn't have."""
    words = _WORDS
    if not pa.types.is_int64(ids.type):
        words = words.filter(pc.invert(pc.is_in(words, value_set=ids)))
    parts = [
        piece.is_null() if pa.types.is_int64(piece.type) else pc.or_(piece.is_null(), pc.is_in(piece, value_set=words))
        for piece in pieces
    ]
    return _joined(parts)


def _repeat_header(
    edges: Table, columns: Sequence[int], ends: list[list[pa.Array]], ids: pa.Array
) -> NDArray[np.bool_]:
    """Which lines are the header again, as in files that were joined; none if a node is called as a column is."""
    repeats = np.zeros(sum(map(len, ends[0])), bool)
    names = [(edges.names or [""] * edges.width)[column] for column in columns]
    if not all(names) or any(pa.types.is_int64(piece.type) for pieces in ends for piece in pieces):
        return repeats
    masks = [
        _joined([pc.fill_null(pc.equal(piece, name), False) for piece in pieces])
        for name, pieces in zip(names, ends, strict=True)
    ]
    repeats = np.logical_and(*masks)
    known = pc.is_in(pa.array(names, pa.large_string()), value_set=ids.cast(pa.large_string()))
    return np.zeros_like(repeats) if pc.any(known).as_py() else repeats


def _minus_ones(ends: list[list[pa.Array]], ids: pa.Array) -> list[NDArray[np.bool_]]:
    """Which ends are -1, if it is the only negative id of all."""
    nothing = [np.zeros(sum(map(len, pieces)), bool) for pieces in ends]
    if len(ids) and pc.min(ids).as_py() < 0:
        return nothing
    masks = [_joined([_is_minus_one(piece) for piece in pieces]) for pieces in ends]
    negative = [_joined([_is_negative(piece) for piece in pieces]) for pieces in ends]
    return masks if all((one == other).all() for one, other in zip(masks, negative, strict=True)) else nothing


def _is_minus_one(piece: pa.Array) -> pa.Array:
    if pa.types.is_int64(piece.type):
        return pc.fill_null(pc.equal(piece, -1), False)
    return pc.is_in(piece, value_set=pa.array(_MINUS_ONE, pa.large_string()))


def _is_negative(piece: pa.Array) -> pa.Array:
    if pa.types.is_int64(piece.type):
        return pc.fill_null(pc.less(piece, 0), False)
    return pc.fill_null(pc.starts_with(piece, "-"), False)


def _hold_numbers(pieces: list[pa.Array], words: NDArray[np.bool_]) -> bool:
    """Whether all ends are whole numbers but for those words."""
    return all(
        pa.types.is_int64(piece.type) or (pc.all(pc.match_substring_regex(piece, _NUMBER)).as_py() is not False)
        for piece in _without(pieces, words)
    )


def _check_empty(edges: Table, ends: list[list[pa.Array]], words: list[NDArray[np.bool_]], nodes: str | None) -> None:
    """Among ids that are text only an empty end is surely none."""
    for pieces, mask in zip(ends, words, strict=True):
        rows = np.flatnonzero(mask)
        texts = pa.chunked_array(pieces, pa.large_string()).take(pa.array(rows))
        row = pc.index(pc.fill_null(pc.not_equal(texts, ""), False), True).as_py()
        if row >= 0:
            found = f"{edges.line(int(rows[row]))} names node {texts[row].as_py()!r}, which may be a missing value"
            fix = "take the line out" + (f", or add the node to {nodes}" if nodes else "")
            raise GrandPlusError(found, where=edges.file, expected=f"an id of {nodes}" if nodes else "an id", fix=fix)


def _joined(parts: list[pa.Array]) -> NDArray[np.bool_]:
    joined = pa.chunked_array(parts, pa.bool_())
    return np.asarray(joined.to_numpy(), bool)


def _without(pieces: list[pa.Array], left_out: NDArray[np.bool_]) -> list[pa.Array]:
    starts = np.cumsum([0, *map(len, pieces)])
    return [
        piece.filter(pa.array(~left_out[start : start + len(piece)]))
        for start, piece in zip(starts, pieces, strict=False)
    ]
