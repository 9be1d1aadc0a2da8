"""Lines at the top of a table that look like comments, but are data or the header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

import pyarrow as pa

from grandplus.datasets.tables.evidence import SHOWN, Side, has
from grandplus.datasets.tables.headers import says_header
from grandplus.datasets.tables.lines import MARKS
from grandplus.datasets.tables.numbers import is_number
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column


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
            if has(known, fields[0])
            or (fields[0] in beside and side.table.comments[line] not in texts[other])  # not the same comment in both
        ]
        if data:
            side.take_from(_first_of_data(side, marked[side], min(data)))
            continue
        alike = [line for line, fields in marked[side].items() if _is_as_below(side, fields)]
        if alike:
            _raise_comment_or_data(side, alike[0])


def take_named_header(side: Side, columns: Iterable[Column | None]) -> None:
    """Take a comment at the top for the header, if it has as many fields as the data, and a name that an option says.

    Parameters
    ----------
    side : Side
    columns : iterable of str, int or None
        The columns that options name.
    """
    words = {column for column in columns if isinstance(column, str)}
    if side.first is None or words <= set(side.names):
        return
    lines = [number for number, fields in side.doubtful().items() if words & set(fields)]
    if lines:
        side.take_from(max(lines))
        side.header = True


def _is_as_below(side: Side, fields: list[str]) -> bool:
    """Whether a line that begins as a comment has a value that comes again below it, or a number above numbers."""
    if re.match("[#%]+ ", fields[0]) or says_header(side):
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
    found = f"line {line} begins as a comment does, but may be data: {side.table.comments[line][:SHOWN]!r}"
    fix = "take it out if it is a comment; else write a line with the names of the columns above it"
    raise GrandPlusError(found, where=side.table.file, fix=fix)
