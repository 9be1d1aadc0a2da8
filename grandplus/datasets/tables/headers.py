"""Which first lines of tables are headers, and which are data."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa

from grandplus.datasets.tables.class_names import UNKNOWN
from grandplus.datasets.tables.evidence import Side, contains, has, is_whole, overlap
from grandplus.datasets.tables.names import HEADS, LABELS, ends_by_name, is_id, is_index, is_no_end
from grandplus.datasets.tables.numbers import is_number
from grandplus.runtime.errors import GrandPlusError


def header_of_edges(edges: Side, nodes: Side | None, ident: int | None, asked: bool | None, *, complete: bool) -> bool:
    """Whether the first line of the edge table is a header.

    Parameters
    ----------
    edges : Side
    nodes : Side or None
    ident : int or None
        The column of ids of nodes.
    complete : bool
        Whether edges may name no other nodes than those of the node table.
    asked : bool or None
        What --header says.
    """
    if edges.first is None or asked or _begins_with_index(edges):
        return True
    first, pairs = edges.first, ends_by_name(edges.first)
    like_ids = any(all(_is_of_a_shape_below(edges, column) for column in pair) for pair in pairs)  # as user1 and user2
    like_ids = like_ids and not {text.lower() for text in first} & HEADS
    by_name = bool(pairs) and not like_ids
    if nodes is None or ident is None:
        above_numbers = sum(_is_text_above_numbers(edges, column) for column in range(edges.table.width)) > 1
        return (above_numbers and by_name) or asked_or(asked, says_header(edges))
    shares = overlap(edges, nodes, ident).shares
    columns = [column for column, share in shares.items() if share > 0]
    if not columns:
        stranger = not any(_knows(nodes, ident, text) for text in first)
        return asked_or(asked, by_name or says_header(edges) if stranger else None, edges, "names a node")
    below = pa.chunked_array([edges.values[column] for column in columns], pa.large_string())
    if counts_columns(edges) and _names_nothing_below(edges, nodes, ident, columns, below):
        return asked_or(asked, True)
    known = [first[c] for c in columns if _knows(nodes, ident, first[c]) or has(below, first[c])]
    typed = [c for c in range(edges.table.width) if _is_of_other_type(edges, c)]
    if known:
        counts = (len(first) > 2 and counts_columns(edges)) or _is_size_of_graph(edges, columns)
        doubtful = by_name or counts or any(column not in columns for column in typed)
        usual = all(shares[column] == 1 for column in columns)  # the other lines name known nodes at both ends
        if doubtful or (len(known) < min(2, len(columns)) and (complete or typed or usual)):
            return asked_or(asked, None, edges, f"names node {known[0]}")
        return False
    if typed or _has_empty_name(edges):
        return True
    if like_ids or any(first.count(text) > 1 and not is_id(text) and not is_number(text) for text in first):
        return asked_or(asked, None, edges, "may be ids, or names of columns")
    if by_name or any(is_no_end(name) for name in first):
        return True
    if all(map(is_number, first)):
        if complete or _is_size(edges) or all(shares[column] == 1 for column in columns):
            return asked_or(asked, None, edges, f"names no node of {nodes.table.file.name}")
        return False
    if sum(shares[column] == 1 for column in columns) > 1:
        usual = bool({text.lower() for text in first} & HEADS)
        if usual or not all(_is_composed_as_below(edges, column) for column in columns):
            return True
    elif all(_is_of_a_shape_below(edges, column) for column in columns):
        return asked_or(asked, False)
    return asked_or(asked, None, edges, f"names no node of {nodes.table.file.name}")


def header_of_nodes(nodes: Side, edges: Side, ident: int, ends: Iterable[int], asked: bool | None) -> bool:
    """Whether the first line of the node table is a header.

    Parameters
    ----------
    nodes, edges : Side
    ident : int
        The column of ids of nodes.
    ends : iterable of int
        The columns of ends of edges, or all that may be.
    asked : bool or None
        What --header says.
    """
    if nodes.first is None or asked or _begins_with_index(nodes):
        return True
    first = nodes.first
    named = is_id(first[ident]) or any(text.lower() in LABELS for text in first)
    others = [column for column in range(nodes.table.width) if column != ident]
    typed = any(_is_text_above_numbers(nodes, column) for column in others) or _has_empty_name(nodes)
    typed = typed or _is_number_above_text(nodes, ident)
    ends = list(ends)
    joined = pa.chunked_array([edges.values[end] for end in ends if end in edges.values], pa.large_string())
    known = has(joined, first[ident])
    if not known and edges.first is not None and edges.header is False:
        known = first[ident] in [edges.first[end] for end in ends]
    recurs = any(comes_again(nodes, column) for column in others)
    if (named or typed) and (known or recurs):
        why = f"has {first[ident]}, which the edges name" if known else "has a value that comes again below"
        return asked_or(asked, None, nodes, why)
    if counts_columns(nodes) and not has(joined, first[ident]) and _is_above_other_ids(nodes, ident, joined):
        return asked_or(asked, True)
    if known and len(first) > 2 and counts_columns(nodes):
        return asked_or(asked, None, nodes, "counts the columns")
    if named and all(is_number_above_numbers(nodes, column) for column in others):
        return asked_or(asked, None, nodes, "has a word, but numbers above numbers, too")
    if named or typed or known or recurs:
        return named or typed
    if _is_text_above_numbers(nodes, ident):
        return asked_or(asked, True)
    if all(map(is_number, first)) or any(is_number_above_numbers(nodes, column) for column in others):
        return asked_or(asked, False)
    below = [row[ident] or "" for row in nodes.below]
    if len(below) and contains(joined, below).all():
        return True
    return asked_or(asked, None, nodes, f"has {first[ident]}, which the first edges don't name")


def asked_or(asked: bool | None, guess: bool | None, side: Side | None = None, why: str = "") -> bool:
    """What the user says, else the guess; without one it is refused."""
    if asked is not None or guess is not None:
        return bool(guess if asked is None else asked)
    assert side is not None
    found = f"begins with {side.line()}, which {why}, and may be a header or data"
    fix = "say --header yes or --header no, or name columns by their names in it"
    raise GrandPlusError(found, where=side.table.file, fix=fix)


def says_header(side: Side) -> bool:
    """Whether the first line is a header by known words, or as text above numbers.

    Parameters
    ----------
    side : Side
    """
    first = side.first or []
    words = {text.lower() for text in first} & HEADS
    return bool(words) or any(_is_text_above_numbers(side, column) for column in range(side.table.width))


def _is_text_above_numbers(side: Side, column: int) -> bool:
    values, first = _filled(side, column), (side.first or [""])[column]
    return bool(values) and first not in ("", *UNKNOWN) and not is_number(first) and all(map(is_number, values))


def _is_number_above_text(side: Side, column: int) -> bool:
    values = _filled(side, column)
    return bool(values) and is_number((side.first or [""])[column]) and not any(map(is_number, values))


def is_number_above_numbers(side: Side, column: int) -> bool:
    values = _filled(side, column)
    return bool(values) and is_number((side.first or [""])[column]) and all(map(is_number, values))


def _filled(side: Side, column: int) -> list[str]:
    """The values below the first line, without those that are missing."""
    return [value for row in side.below if (value := row[column] or "") not in ("", *UNKNOWN)]


def _is_of_other_type(side: Side, column: int) -> bool:
    return _is_text_above_numbers(side, column) or _is_number_above_text(side, column)


def counts_columns(side: Side) -> bool:
    """0, 1, 2, …: the names that pandas gives to columns without any; or numbers of nodes."""
    first = side.first or []
    return first == [str(number) for number in range(len(first))]


def _names_nothing_below(edges: Side, nodes: Side, ident: int, columns: list[int], below: pa.ChunkedArray) -> bool:
    """Whether no other line of either table has an id of the edges' first line, and the others name known nodes."""
    known, first = nodes.values[ident], edges.first or []
    if any(has(known, first[c]) or has(below, first[c]) for c in columns) or has(known, str(len(first))):
        return False  # 0 and 1 may be nodes, too, if the others are 2, 3, …
    if nodes.first is not None and nodes.header is not True and not counts_columns(nodes):
        known = pa.concat_arrays([known, pa.array([nodes.first[ident]], pa.large_string())])
        if any(has(known, first[c]) for c in columns):
            return False
    return all(contains(known, edges.values[c]).all() for c in columns)


def _is_above_other_ids(nodes: Side, ident: int, named: pa.ChunkedArray) -> bool:
    """Whether the edges name lines below the first one."""
    below = [row[ident] or "" for row in nodes.below]
    return bool(below) and bool(contains(named, below).all())


def _is_size(side: Side) -> bool:
    """Whether the first line may be numbers of nodes and of edges: it ends with the number of lines below it."""
    return side.rows is not None and (side.first or [""])[-1] == str(side.rows)


def _is_size_of_graph(side: Side, ends: list[int]) -> bool:
    """Whether the first line may be numbers of nodes and of edges, and no id of the ends is greater than the former."""
    first = side.first or []
    names = [text for end in ends for text in side.values[end].to_pylist()] if _is_size(side) else []
    return bool(names) and all(map(is_whole, [*first, *names])) and int(first[0]) >= max(map(int, names))


def _is_of_a_shape_below(side: Side, column: int) -> bool:
    """Whether the first line has a text with digits that is composed as another one is: p7 as p12."""
    return "9" in _shape((side.first or [""])[column]) and _is_composed_as_below(side, column)


def _is_composed_as_below(side: Side, column: int) -> bool:
    """Whether the first line has a text that is composed as another one is: p7 as p12, Zoe as Max."""
    shape = _shape((side.first or [""])[column])
    return any(_shape(row[column] or "") == shape for row in side.below)


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _has_empty_name(side: Side) -> bool:
    """Whether the first line has nothing, or pandas' name of an index, above a column that is filled."""
    first, rows = side.first or [], side.below
    empty = [column for column, text in enumerate(first) if is_index(text)]
    return any(all(row[column] for row in rows) for column in empty) and bool(rows)


def _begins_with_index(side: Side) -> bool:
    """Whether the first line begins with nothing above a column that counts, as DataFrame.to_csv writes its index."""
    first, below = side.first or [""], [row[0] or "" for row in side.below]
    return first[0] == "" and len(first) > 2 and bool(below) and all(below)


def comes_again(side: Side, column: int) -> bool:
    """Whether the first line has a text that other lines have, too: a class, not the name of a column."""
    first = (side.first or [""])[column]
    return bool(first) and not is_number(first) and any(row[column] == first for row in side.below)


def _knows(nodes: Side, ident: int, text: str) -> bool:
    """Whether a node has this id; the node table's first line counts unless it begins with a usual word of a header."""
    if has(nodes.values[ident], text):
        return True
    return (
        nodes.first is not None
        and nodes.header is not True
        and nodes.first[ident] == text
        and not (is_id(text) or text.lower() in HEADS)
    )
