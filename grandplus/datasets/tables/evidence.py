"""What an edge table and a node table say of each other: which columns hold ids, and which lines are data.

Of the edge table, the first piece is looked at: 16 MiB of text, or 65,536 rows of Parquet. Of the node table, columns
whose first values all differ are read whole. So a large edge list is not read twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.tables.names import HEADS, LABELS, ends_by_name, is_id, is_index, is_no_end
from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.table import MARKS, Table, look
from grandplus.runtime.errors import GrandPlusError

MAX_COLUMNS = 50  # of a table that are looked at as ends or ids
_SHOWN = 60  # characters of a line in an error

Header = Literal["yes", "no"]


class Side:
    """One of the two tables, and what its values are.

    Parameters
    ----------
    file : Path
    header : bool or None
        Whether there is a header, if the user says so.
    whole : bool
        Whether columns are read whole, and only those whose first values differ.
    """

    def __init__(self, file: Path, *, header: bool | None, whole: bool) -> None:
        self.header, self.whole = header, whole
        self.skip: int | None = None
        self.table = look(file, header=False)
        self._read()

    def _read(self) -> None:
        table = self.table
        self.first = None if table.names else [text or "" for text in table.sample[0]]
        self.names = table.names or self.first or []
        self.below = table.sample if self.first is None else table.sample[1:]
        columns = range(min(table.width, MAX_COLUMNS))
        self.columns = [c for c in columns if not self.whole or self._differ(c)] or [0]
        self.values: dict[int, pa.Array] = {}  # distinct ones, as text, without the first line
        self.repeats: set[int] = set()
        self.rows: int | None = None  # below the first line, if all were read
        self._read_values()

    def _differ(self, column: int) -> bool:
        values = [row[column] for row in self.below]
        return None not in values and "" not in values and len(set(values)) == len(values)

    def _read_values(self) -> None:
        reading = self.table.pieces(self.columns)
        pieces = list(reading) if self.whole else [piece for piece in [next(reading, None)] if piece]
        more = next(reading, None) is not None
        for position, column in enumerate(self.columns):
            read = [_as_text(piece[position]) for piece in pieces]
            every = pa.chunked_array(read, pa.large_string()).slice(0 if self.first is None else 1)
            self.rows = None if more else len(every)
            self.values[column] = pc.unique(every.filter(pc.not_equal(every, "")))
            if len(self.values[column]) < len(every):
                self.repeats.add(column)

    def doubtful(self) -> dict[int, list[str]]:
        """The lines above the data that begin as comments do, but are as wide as the data; by their number."""
        lines = {number: self.table.fields(text) for number, text in self.table.comments.items()}
        return {n: texts for n, texts in lines.items() if len(texts) == self.table.width and texts[0].strip("#% ")}

    def take_from(self, line: int) -> None:
        """Read the table again, with the lines from this one on as data."""
        self.skip = line - 1
        self.table = look(self.table.file, header=False, skip=self.skip)
        self._read()

    def need(self, column: int) -> None:
        """Have the values of a column, though its first ones don't differ."""
        if column not in self.columns:
            self.columns.append(column)
            self._read_values()

    def has_numbers(self, column: int) -> bool:
        """Whether a column has whole numbers only, in the first lines."""
        return all(_is_whole(row[column] or "") for row in self.below)

    def is_index(self, column: int) -> bool:
        """Whether a column is called as an index is, or is empty."""
        if column in self.table.index or (self.first and is_index(self.first[column]) and self.header is not False):
            return True
        return bool(self.below) and all(row[column] == "" for row in self.below)

    def read(self) -> Table:
        """The table with a header, or without, as is known by now."""
        return look(self.table.file, header=bool(self.header), skip=self.skip)

    def line(self) -> str:
        """The first line, for an error."""
        return repr(" ".join(self.first or [])[:_SHOWN])


@dataclass(frozen=True)
class Overlap:
    """How many of the distinct values of an edge table's columns are in a column of the node table."""

    shares: dict[int, float]

    def of(self, pair: Sequence[int]) -> float:
        """Of the column of a pair that has fewer."""
        return min(self.shares.get(column, 0.0) for column in pair)


def take_marked_data(edges: Side, nodes: Side) -> None:
    """Take lines at the top that begin with # or % for data, if the other table knows the id that they begin with.

    Parameters
    ----------
    edges, nodes : Side

    Raises
    ------
    GrandPlusError
        A line may be either.
    """
    marked = {side: side.doubtful() for side in (edges, nodes)}
    texts = {side: set(side.table.comments.values()) for side in (edges, nodes)}
    for side, other in ((edges, nodes), (nodes, edges)):
        known = pa.chunked_array([*other.values.values(), pa.array(other.first or [], pa.large_string())])
        beside = {text for fields in marked[other].values() for text in fields if text.startswith(MARKS)}
        data: list[int] = [
            line
            for line, fields in marked[side].items()
            if _has(known, fields[0])
            or (fields[0] in beside and side.table.comments[line] not in texts[other])  # not the same comment in both
        ]
        if data:
            side.take_from(_first_of_data(side, marked[side], min(data)))
            continue
        alike = [line for line, fields in marked[side].items() if _is_as_below(side, fields)]
        if alike:
            _raise_comment_or_data(side, alike[0])


def _is_as_below(side: Side, fields: list[str]) -> bool:
    """Whether a line that begins as a comment has a value that comes again below it, or a number above numbers."""
    if re.match("[#%]+ ", fields[0]) or _says_header(side):
        return False
    lines: list[Sequence[str | None]] = [side.first or [], *side.below]
    columns = [[line[column] or "" for line in lines if line] for column in range(1, len(fields))]
    return any(
        text in column or (is_number(text) and all(map(is_number, column)))
        for text, column in zip(fields[1:], columns, strict=True)
    )


def _first_of_data(side: Side, marked: dict[int, list[str]], known: int) -> int:
    """The line that data begin with, where ids begin with # or %: the first known one, or the one above it."""
    above = [line for line, fields in marked.items() if line < known and not re.match("[#%]+ ", fields[0])]
    if len(above) > 1:
        _raise_comment_or_data(side, above[0])
    return above[0] if above else known


def _raise_comment_or_data(side: Side, line: int) -> NoReturn:
    found = f"line {line} begins as a comment does, but may be data: {side.table.comments[line][:_SHOWN]!r}"
    fix = "take it out if it is a comment; else write a line with the names of the columns above it"
    raise GrandPlusError(found, where=side.table.file, fix=fix)


def overlap(edges: Side, nodes: Side, column: int) -> Overlap:
    """How far the columns of the edge table hold ids of a column of the node table."""
    first = nodes.first[column : column + 1] if nodes.first and nodes.header is not True else []
    known = pa.concat_arrays([nodes.values[column], pa.array(first, pa.large_string())])
    shares = {
        end: float(np.mean(_contains(known, values))) if len(values) else 0.0 for end, values in edges.values.items()
    }
    return Overlap(shares)


def id_column(edges: Side, nodes: Side, wanted: Sequence[int] | None) -> int:
    """The column of the node table that holds the ids which the edges name.

    Parameters
    ----------
    edges, nodes : Side
    wanted : pair of int or None
        The ends of edges, if they are known.

    Raises
    ------
    GrandPlusError
        Several columns may be it, or none.
    """
    columns = [column for column in nodes.columns if column not in nodes.repeats and not _weight_like(nodes, column)]
    named = ends_by_name(edges.names) if edges.header is not False else []
    pair = wanted or (named[0] if len(named) == 1 else None)
    share = {column: _share(overlap(edges, nodes, column), pair) for column in columns}
    for candidates in ([c for c in columns if not nodes.is_index(c)], columns):
        some = [column for column in candidates if share[column] > 0]
        full = [column for column in some if share[column] == 1]
        called = [column for column in some if nodes.header is not False and is_id(nodes.names[column])]
        likely = [column for column in called if share[column] >= 0.5]
        if pair is None and edges.table.width > 2 and not called:
            full = some  # of several columns that may be ends, some may hold the ids of another column by chance
        for group in (_called_new(nodes, full), [c for c in called if c in full], {*full, *likely}, called, some):
            if len(group) == 1:
                return next(iter(group))
            if group:
                _raise_several_ids(nodes, sorted(group))
    return _by_name_alone(nodes)


def _share(found: Overlap, pair: Sequence[int] | None) -> float:
    """Of the known ends, else of the two columns that have most ids."""
    if pair is not None:
        return max(found.shares.get(end, 0.0) for end in pair) and (found.of(pair) or 0.01)
    best = sorted(found.shares.values())[-2:]
    return 0.0 if not best or best[-1] == 0 else best[0] or 0.01


def _called_new(nodes: Side, full: list[int]) -> list[int]:
    """MUSAE's tables have ids of the source beside those of the graph, which are called new_id."""
    return [column for column in full if nodes.names[column].lower() == "new_id"]


def _by_name_alone(nodes: Side) -> int:
    called = [c for c, name in enumerate(nodes.names) if is_id(name)] if nodes.header is not False else []
    if called or nodes.table.width == 2:
        return called[0] if called else 0
    found = "has no column that holds ids of the edges"
    fix = f"name it with --id, one of {_listed(nodes, range(nodes.table.width))}"
    raise GrandPlusError(found, where=nodes.table.file, fix=fix)


def _weight_like(nodes: Side, column: int) -> bool:
    return nodes.header is not False and nodes.names[column].lower() in LABELS


def _raise_several_ids(nodes: Side, columns: list[int]) -> NoReturn:
    listed = _listed(nodes, columns)
    found = f"holds ids of the edges in several columns: {listed}"
    raise GrandPlusError(found, where=nodes.table.file, expected="one", fix="name it with --id")


def ends_of(edges: Side, found: Overlap | None, *, complete: bool, numbers: bool | None) -> tuple[int, int]:
    """The columns of the edge table that hold the ends.

    Parameters
    ----------
    edges : Side
    found : Overlap or None
        With the ids of the node table, if there is one.
    complete : bool
        Whether edges may name no other nodes than those of the node table.
    numbers : bool or None
        Whether the ids of the node table are whole numbers.

    Raises
    ------
    GrandPlusError
        Several pairs may be it, or none.
    """
    columns = list(range(min(edges.table.width, MAX_COLUMNS)))
    pairs = ends_by_name(edges.names) if edges.header else []
    if found is not None and len(pairs) != 1:
        pairs = [pair for pair in pairs if found.of(pair) > 0]
    if len(pairs) == 1:
        return pairs[0]
    if not pairs:
        rest = [column for column in columns if not edges.is_index(column)]
        rest = rest if len(rest) == 2 else [c for c in rest if not (edges.header and is_no_end(edges.names[c]))]
        if len(rest) > 2:
            rest = [column for column in rest if _may_be_end(edges, column, found, complete, numbers)]
        pairs = list(combinations(rest, 2))
    if len(pairs) == 1:
        return pairs[0]
    listed = " or ".join(" and ".join(str(_call(edges, c)) for c in pair) for pair in pairs[:6])
    what = f"may have the ends of an edge in columns {listed}" if pairs else "has no two columns that hold ids of nodes"
    fix = f"name two of its columns with --ends: {_listed(edges, columns)}"
    raise GrandPlusError(what, where=edges.table.file, fix=fix)


def _may_be_end(edges: Side, column: int, found: Overlap | None, complete: bool, numbers: bool | None) -> bool:
    """Whether a column whose name says nothing may hold ends.

    If the edges may name further nodes, it may unless it has none of the known ids, and values of another kind.
    """
    share = found.shares.get(column, 0.0) if found else 0.0
    if share > 0:
        return share == 1 or not complete
    values = [row[column] or "" for row in edges.below]
    whole = all(map(_is_whole, values))
    fractions = not whole and all(map(is_number, values))
    return not complete and not fractions and numbers in (None, whole)


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
    if edges.first is None:
        return True
    first, pairs = edges.first, ends_by_name(edges.first)
    like_ids = any(all(_is_of_a_shape_below(edges, column) for column in pair) for pair in pairs)  # as user1 and user2
    like_ids = like_ids and not {text.lower() for text in first} & HEADS
    by_name = bool(pairs) and not like_ids
    if nodes is None or ident is None:
        return _asked_or(asked, _says_header(edges))
    shares = overlap(edges, nodes, ident).shares
    columns = [column for column, share in shares.items() if share > 0]
    if not columns:
        stranger = not any(_knows(nodes, ident, text) for text in first)
        return _asked_or(asked, by_name or _says_header(edges) if stranger else None, edges, "names a node")
    below = pa.chunked_array([edges.values[column] for column in columns], pa.large_string())
    known = [first[c] for c in columns if _knows(nodes, ident, first[c]) or _has(below, first[c])]
    typed = [c for c in range(edges.table.width) if _is_of_other_type(edges, c)]
    if known:
        doubtful = by_name or _counts_columns(edges) or any(column not in columns for column in typed)
        usual = all(shares[column] == 1 for column in columns)  # the other lines name known nodes at both ends
        if doubtful or (len(known) < min(2, len(columns)) and (complete or typed or usual)):
            return _asked_or(asked, None, edges, f"names node {known[0]}")
        return False
    if typed or _has_empty_name(edges):
        return True
    if like_ids or any(first.count(text) > 1 and not is_id(text) and not is_number(text) for text in first):
        return _asked_or(asked, None, edges, "may be ids, or names of columns")
    if by_name or any(is_no_end(name) for name in first):
        return True
    if all(map(is_number, first)):
        if complete or _is_size(edges) or all(shares[column] == 1 for column in columns):
            return _asked_or(asked, None, edges, f"names no node of {nodes.table.file.name}")
        return False
    if sum(shares[column] == 1 for column in columns) > 1:
        return True
    if all(_is_of_a_shape_below(edges, column) for column in columns):
        return _asked_or(asked, False)
    return _asked_or(asked, None, edges, f"names no node of {nodes.table.file.name}")


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
    if nodes.first is None:
        return True
    first = nodes.first
    named = is_id(first[ident]) or any(text.lower() in LABELS for text in first)
    others = [column for column in range(nodes.table.width) if column != ident]
    typed = any(_is_text_above_numbers(nodes, column) for column in others) or _has_empty_name(nodes)
    typed = typed or _is_number_above_text(nodes, ident)
    ends = list(ends)
    joined = pa.chunked_array([edges.values[end] for end in ends if end in edges.values], pa.large_string())
    known = _has(joined, first[ident])
    if not known and edges.first is not None and edges.header is False:
        known = first[ident] in [edges.first[end] for end in ends]
    recurs = any(_recurs(nodes, column) for column in others)
    if (named or typed) and (known or recurs):
        why = f"has {first[ident]}, which the edges name" if known else "has a value that comes again below"
        return _asked_or(asked, None, nodes, why)
    if known and _counts_columns(nodes):
        return _asked_or(asked, None, nodes, "counts the columns")
    if named and all(_is_number_above_numbers(nodes, column) for column in others):
        return _asked_or(asked, None, nodes, "has a word, but numbers above numbers, too")
    if named or typed or known or recurs:
        return named or typed
    if _is_text_above_numbers(nodes, ident):
        return True
    if all(map(is_number, first)) or any(_is_number_above_numbers(nodes, column) for column in others):
        return _asked_or(asked, False)
    below = [row[ident] or "" for row in nodes.below]
    if len(below) and _contains(joined, below).all():
        return True
    return _asked_or(asked, None, nodes, f"has {first[ident]}, which the first edges don't name")


def header_without_ids(nodes: Side, asked: bool | None) -> bool:
    """Whether the first line of a table without ids is a header.

    Parameters
    ----------
    nodes : Side
    asked : bool or None
        What --header says.
    """
    if nodes.first is None:
        return True
    says, recurs = _says_header(nodes), any(_recurs(nodes, column) for column in range(nodes.table.width))
    numbers = any(_is_number_above_numbers(nodes, column) for column in range(nodes.table.width))
    if says == (recurs or numbers):
        return _asked_or(asked, None, nodes, "says nothing of it" if not says else "has a value that comes again below")
    return says


def _asked_or(asked: bool | None, guess: bool | None, side: Side | None = None, why: str = "") -> bool:
    """What the user says, else the guess; without one it is refused."""
    if asked is not None or guess is not None:
        return bool(guess if asked is None else asked)
    assert side is not None
    found = f"begins with {side.line()}, which {why}, and may be a header or data"
    fix = "say --header yes or --header no, or name columns by their names in it"
    raise GrandPlusError(found, where=side.table.file, fix=fix)


def _says_header(side: Side) -> bool:
    """By known words, or as text above numbers."""
    first = side.first or []
    words = {text.lower() for text in first} & HEADS
    return bool(words) or any(_is_text_above_numbers(side, column) for column in range(side.table.width))


def _is_text_above_numbers(side: Side, column: int) -> bool:
    values = [row[column] or "" for row in side.below]
    first = (side.first or [""])[column]
    return bool(values) and bool(first) and not is_number(first) and all(map(is_number, values))


def _is_number_above_text(side: Side, column: int) -> bool:
    values = [row[column] or "" for row in side.below]
    return bool(values) and is_number((side.first or [""])[column]) and not any(map(is_number, values))


def _is_number_above_numbers(side: Side, column: int) -> bool:
    values = [row[column] or "" for row in side.below]
    return bool(values) and is_number((side.first or [""])[column]) and all(map(is_number, values))


def _is_of_other_type(side: Side, column: int) -> bool:
    return _is_text_above_numbers(side, column) or _is_number_above_text(side, column)


def _counts_columns(side: Side) -> bool:
    """0, 1, 2, …: the names that pandas gives to columns without any; or numbers of nodes."""
    first = side.first or []
    return len(first) > 2 and first == [str(number) for number in range(len(first))]


def _is_size(side: Side) -> bool:
    """Whether the first line may be numbers of nodes and of edges: it ends with the number of lines below it."""
    return side.rows is not None and (side.first or [""])[-1] == str(side.rows)


def _is_of_a_shape_below(side: Side, column: int) -> bool:
    """Whether the first line has a text with digits that is composed as another one is: p7 as p12."""
    shape = _shape((side.first or [""])[column])
    return "9" in shape and any(_shape(row[column] or "") == shape for row in side.below)


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _has_empty_name(side: Side) -> bool:
    """As pandas writes an index: nothing above whole numbers that count."""
    first, rows = side.first or [], side.below
    empty = [column for column, text in enumerate(first) if is_index(text)]
    return any(all(row[column] for row in rows) for column in empty) and bool(rows)


def _recurs(side: Side, column: int) -> bool:
    """Whether the first line has a text that other lines have, too: a class, not the name of a column."""
    first = (side.first or [""])[column]
    return bool(first) and not is_number(first) and any(row[column] == first for row in side.below)


def _knows(nodes: Side, ident: int, text: str) -> bool:
    """Whether a node has this id; the node table's first line counts unless it begins with a usual word of a header."""
    if _has(nodes.values[ident], text):
        return True
    return (
        nodes.first is not None
        and nodes.header is not True
        and nodes.first[ident] == text
        and not (is_id(text) or text.lower() in HEADS)
    )


def _has(known: pa.Array | pa.ChunkedArray, text: str) -> bool:
    return bool(pc.any(pc.equal(known, text)).as_py())


def _contains(known: pa.Array | pa.ChunkedArray, wanted: Iterable[str] | pa.Array) -> np.ndarray:
    if not isinstance(wanted, pa.Array):
        wanted = pa.array(list(wanted), pa.large_string())
    return np.asarray(pc.is_in(wanted, value_set=known).to_numpy(zero_copy_only=False), bool)


def _as_text(piece: pa.Array) -> pa.Array:
    """Values as ids are compared; null where they can't be ids."""
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type) or pa.types.is_integer(piece.type):
        return piece.cast(pa.large_string())
    return pa.nulls(len(piece), pa.large_string())


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _call(side: Side, column: int) -> str:
    return str(side.names[column] or f"column {column + 1}") if side.header or side.first is None else str(column + 1)


def _listed(side: Side, columns: Iterable[int]) -> str:
    return ", ".join(_call(side, column) for column in list(columns)[:20])
