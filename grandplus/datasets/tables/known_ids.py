"""The ids that edges name, and those of the node table: which of them are known on both sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import Ids
from grandplus.datasets.tables.ids import rows_of
from grandplus.datasets.tables.lines import MARKS
from grandplus.datasets.tables.table import Table
from grandplus.graph.ids import hint
from grandplus.runtime.errors import GrandPlusError


def known_rows(ends: pa.Array, ids: pa.Array, edges: Table, nodes: str | None) -> NDArray[np.int32]:
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
    int32 (E,)

    Raises
    ------
    GrandPlusError
        An end is none of ``ids``.
    """
    rows = rows_of(ends, ids)
    wrong = np.flatnonzero(rows < 0)
    if len(wrong):
        row = int(wrong[0])
        end = ends[row].as_py()
        fix = f"add the node or drop the edge ({hint(ids, end)})"
        if row == 0 and not edges.names:
            fix += "; if that line is a header, say --header yes"
        found = f"{edges.line(row)} names node {end!r}"
        raise GrandPlusError(found, where=edges.file, expected=f"an id of {nodes}", fix=fix)
    return rows


def named_ids(rows: Sequence[NDArray[np.int32]], nodes: int) -> Ids:
    """How many nodes of the node table the edges name.

    Parameters
    ----------
    rows : sequence of int32 (E,)
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
    rows: Sequence[NDArray[np.int32]],
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
    rows : sequence of int32 (E,)
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
