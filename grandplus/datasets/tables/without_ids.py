"""A node table without ids, of which line i is of node i: a header in it, and what edges count from."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.tables.ends import ends_of_edges
from grandplus.datasets.tables.evidence import Side
from grandplus.datasets.tables.headers import (
    asked_or,
    comes_again,
    counts_columns,
    is_number_above_numbers,
    says_header,
)
from grandplus.datasets.tables.ids import same_type
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.names import LABELS
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

_USUAL = {*LABELS, "x"}  # R calls a vector x


def header_without_ids(nodes: Side, edges: Side, ends: tuple[int, int], asked: bool | None) -> bool:
    """Whether the first line of a table without ids is a header.

    It is none if only with it there is a line for each node that edges name. 0, 1, …, as pandas names columns, are a
    header if the lines below are as many as these nodes, and none of them is the same.

    Parameters
    ----------
    nodes, edges : Side
    ends : tuple of int
        The columns of the ends of edges.
    asked : bool or None
        What --header says.

    Raises
    ------
    GrandPlusError
        It may be a header or data, and ``asked`` is None.
    """
    if nodes.first is None:
        return True
    columns = range(nodes.table.width)
    names_columns = counts_columns(nodes)
    says = says_header(nodes) or any(text.lower() in _USUAL for text in nodes.first)
    again = any(comes_again(nodes, column) for column in columns) or nodes.first in nodes.below
    data = again or (not names_columns and any(is_number_above_numbers(nodes, column) for column in columns))
    if says and data:
        return asked_or(asked, None, nodes, "has a value that comes again below")
    if says or (data and not names_columns) or asked is not None:
        return asked_or(asked, says)
    lines, named = _lines(nodes), _highest(edges, ends) + 1
    if lines <= named:
        return False
    if names_columns and not again and lines == named + 1:
        return True
    found = f"is one of {lines:,} lines, where edges name {named:,} nodes, counted from 0"
    return asked_or(asked, None, nodes, found)


def check_counts_from_0(ends: list[pa.Array], edges: Table, nodes: Table) -> None:
    """Check that edges don't count nodes from 1, where line i of a table is of node i, from 0.

    Parameters
    ----------
    ends : list of pyarrow arrays (E,)
        Ids at each end of the edges.
    edges, nodes : Table

    Raises
    ------
    GrandPlusError
        Edges name node 1 and not node 0.
    """
    lowest = min((pc.min(end).as_py() for end in ends if len(end) and pa.types.is_int64(end.type)), default=0)
    if lowest == 1:
        found = "names node 1 and not node 0, so nodes may be counted from 1"
        expected = f"nodes from 0, as --id none counts the lines of {nodes.file.name}"
        fix = f"write its id in front of each label in {nodes.file.name}, and leave out --id none"
        raise GrandPlusError(found, where=edges.file, expected=expected, fix=fix)


def _lines(nodes: Side) -> int:
    table = look(nodes.table.file, header=False, by_line=True)  # an empty line is a node, too
    return sum(len(piece) for (piece,) in table.pieces([0]))


def _highest(edges: Side, ends: tuple[int, int]) -> int:
    """The highest id that edges name, if all are whole numbers; else -1."""
    pieces, _ = ends_of_edges(edges.read(), ends, [], None)
    ids = same_type(*pieces)
    numbers = all(pa.types.is_int64(end.type) and len(end) for end in ids)
    return max(pc.max(end).as_py() for end in ids) if numbers else -1
