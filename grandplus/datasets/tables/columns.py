"""Which columns hold the ids of nodes and the ends of edges, by the values of both tables and by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations, islice
from typing import NoReturn

import numpy as np
import pyarrow as pa

from grandplus.datasets.tables.evidence import MAX_COLUMNS, SHOWN, Overlap, Side, contains, is_whole, overlap
from grandplus.datasets.tables.ids import check_unique, ids_of
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.names import IDS, LABELS, ends_by_name, is_id, is_index, is_no_end, thing_of
from grandplus.datasets.tables.numbers import has_fraction, is_number
from grandplus.datasets.tables.spellings import are_spelled_alike
from grandplus.runtime.errors import GrandPlusError

EXAMPLES = 2  # values of a column, in an error
LISTED = 20  # columns


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
    _check_no_repeats(edges, nodes, pair, share)
    plain = [column for column in columns if not nodes.is_index(column)]
    _check_no_index(nodes, columns, plain, share)
    for candidates in (plain, columns):
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
    return _by_name_alone(edges, nodes)


def _check_no_repeats(edges: Side, nodes: Side, pair: Sequence[int] | None, share: dict[int, float]) -> None:
    """Check that no column with a repeated value has more of the ids that edges name than those without."""
    best = max(share.values(), default=0.0)
    named = any(share[c] == best and nodes.header is not False and is_id(nodes.names[c]) for c in share)
    ends = pa.chunked_array(list(edges.values.values()), pa.large_string())
    doubtful = []
    for column in range(min(nodes.table.width, MAX_COLUMNS)):
        values = nodes.filled(column)
        if column in share or nodes.is_index(column) or _weight_like(nodes, column) or not any(values):
            continue
        if np.mean(contains(ends, values)) >= 0.5:  # of the first lines
            doubtful.append(column)
    nodes.need(doubtful)
    for column in doubtful:
        found = _share(overlap(edges, nodes, column), pair)
        if found >= 0.5 and (found > best or (found == best and not named)):
            table = nodes.read()
            (pieces,) = ids_of(table, [column])
            check_unique(pa.concat_arrays(pieces), table)


def _check_no_index(nodes: Side, columns: list[int], plain: list[int], share: dict[int, float]) -> None:
    """Check that edges name no index beside ids in a column without a name of ids."""
    some = [column for column in plain if share[column] > 0]
    if any(nodes.header is not False and is_id(nodes.names[column]) for column in some):
        return
    indexes = [column for column in columns if column not in plain and share[column] == 1]
    if any(share[column] == 1 for column in some):  # then an index is one, unless a person may have named it
        indexes = [column for column in indexes if nodes.header is not False and not is_index(nodes.names[column])]
    if some and indexes:
        _raise_several_ids(nodes, sorted([*some, *indexes]))


def _share(found: Overlap, pair: Sequence[int] | None) -> float:
    """Of the known ends, else of the two columns that have most ids."""
    if pair is not None:
        return max(found.shares.get(end, 0.0) for end in pair) and (found.of(pair) or 0.01)
    best = sorted(found.shares.values())[-2:]
    return 0.0 if not best or best[-1] == 0 else best[0] or 0.01


def _called_new(nodes: Side, full: list[int]) -> list[int]:
    """MUSAE's tables have ids of the source beside those of the graph, which are called new_id."""
    called = [column for column in full if nodes.header is not False and is_id(nodes.names[column])]
    return called if [nodes.names[column].lower() for column in called] == ["new_id"] else []


def _by_name_alone(edges: Side, nodes: Side) -> int:
    called = [c for c, name in enumerate(nodes.names) if is_id(name)] if nodes.header is not False else []
    if called or nodes.table.width == 2:
        return called[0] if called else 0
    _raise_no_ids(edges, nodes)


def _raise_no_ids(edges: Side, nodes: Side) -> NoReturn:
    """Say what both tables hold, and if some column has the ids of edges in another spelling."""
    table = look(nodes.table.file, skip=nodes.skip)
    named = f"{edges.table.file.name} names nodes like {_examples(edges.filled(0))}"
    for column, values in nodes.values.items():
        alike = any(are_spelled_alike(ids, values, spaces=False) for ids in edges.values.values())
        if alike and not has_fraction(table.values(column)):
            like = f"in column {table.named(column)}, as {_examples(table.values(column))}"
            found = f"has ids of the edges in another spelling {like}, and {named}"
            fix = "write ids alike in both: case, spaces and zeros at the front count"
            raise GrandPlusError(found, where=nodes.table.file, fix=fix)
    columns = range(min(nodes.table.width, LISTED))
    held = ", ".join(f"{table.named(column)} (like {_examples(table.values(column))})" for column in columns)
    found = f"has no column that holds ids of the edges: {named}, and the columns are {held}"
    raise GrandPlusError(
        found, where=nodes.table.file, fix="write the same ids in both, or name their column with --id"
    )


def _examples(values: Sequence[str]) -> str:
    return (
        " and ".join(repr(value[:SHOWN]) for value in islice(filter(None, dict.fromkeys(values)), EXAMPLES))
        or "nothing"
    )


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
        if len(rest) > 2 and found is not None and [found.shares.get(c, 0.0) for c in rest].count(0) == len(rest) - 2:
            known = [column for column in rest if found.shares.get(column) == 1]
            rest = known if len(known) == 2 else rest
        if len(rest) > 2:
            rest = [column for column in rest if _may_be_end(edges, column, found, complete, numbers)]
        pairs = list(combinations(rest, 2))
    if len(pairs) == 1:
        return pairs[0]
    listed = " or ".join(" and ".join(str(_call(edges, c)) for c in pair) for pair in pairs[:6])
    what = f"may have the ends of an edge in columns {listed}" if pairs else "has no two columns that hold ids of nodes"
    fix = f"name two of its columns with --ends: {_listed(edges, columns)}"
    raise GrandPlusError(what, where=edges.table.file, fix=fix)


def check_edges(edges: Side, ends: tuple[int, int], nodes: Side | None, ident: int | None) -> None:
    """Check that a table isn't one of nodes and of something that they have, if only its columns say that it has edges.

    Parameters
    ----------
    edges : Side
    ends : tuple of int
        The columns that may be ends.
    nodes : Side or None
    ident : int or None
        The column of ids of nodes.

    Raises
    ------
    GrandPlusError
        One column is called as ids of nodes are and the other isn't; or each node has one line in both tables.
    """
    names = [edges.names[end] for end in ends] if edges.header or edges.first is None else None
    if names and ends_by_name(names):
        return
    if names:
        same = nodes.names[ident] if nodes is not None and ident is not None and nodes.header else None
        called = [name.lower() in IDS or name == same for name in names]
        doubtful = called[0] != called[1] or any(name.lower() in LABELS for name in names)
    else:
        known = overlap(edges, nodes, ident).shares if nodes is not None and ident is not None else {}
        doubtful = any(end not in edges.repeats and known.get(end, 1.0) == 1 for end in ends)
    if doubtful:
        first, second = (_call(edges, end) for end in ends)
        beside = f", as {nodes.table.file.name} has" if nodes is not None else ""
        what = "ids and something that nodes have"
        found = f"no table of edges: {edges.table.file.name} has {what} in columns {first} and {second}"
        fix = f"import the edges, too; if these are edges, say --ends {first} {second}"
        raise GrandPlusError(f"{found}{beside}", fix=fix)


def check_kinds(edges: Side, ends: tuple[int, int], nodes: Side, ident: int) -> None:
    """Check that both columns of ends hold ids of the same kind.

    Parameters
    ----------
    edges : Side
    ends : tuple of int
    nodes : Side
    ident : int
        The column of ids of nodes.

    Raises
    ------
    GrandPlusError
        All values of one column are known ids and none of the other is, as where it has lists; or both are numbers,
        and their names say ids of two kinds of things.
    """
    shares = overlap(edges, nodes, ident).shares
    names = [edges.names[end] for end in ends] if edges.header or edges.first is None else []
    named = bool(ends_by_name(names))
    asking = f"if both hold ids of nodes, say --ends {' '.join(_call(edges, end) for end in ends)}"
    for one, other in (ends, ends[::-1]):
        if (
            shares.get(one) != 1
            or shares.get(other) != 0
            or are_spelled_alike(edges.values[other], nodes.values[ident])
        ):
            continue
        values = [row[other] or "" for row in edges.below]
        lists = any(len(re.split(r"[,;|\s]+", value.strip("[](){}"))) > 1 for value in values)
        if named and not (lists and nodes.has_numbers(ident)):
            continue  # nodes without a label
        found = f"has no id of {nodes.table.file.name} in column {_call(edges, other)}, such as {values[0][:SHOWN]!r}"
        fix = "a list of neighbours isn't read: write a line for each edge" if lists else asking
        raise GrandPlusError(found, where=edges.table.file, expected="ids of nodes", fix=fix)
    things = [thing_of(name) for name in names]
    if (
        names
        and None not in things
        and things[0] != things[1]
        and not ends_by_name(names)
        and edges.has_numbers(ends[0])
    ):
        found = f"has ids of two kinds of things, by the names of the columns {names[0]} and {names[1]}"
        fix = f"give the nodes of each kind ids of their own; {asking}"
        raise GrandPlusError(found, where=edges.table.file, expected="ids of one kind of nodes", fix=fix)


def _may_be_end(edges: Side, column: int, found: Overlap | None, complete: bool, numbers: bool | None) -> bool:
    """Whether a column whose name says nothing may hold ends.

    If the edges may name further nodes, it may unless it has none of the known ids, and values of another kind.
    """
    share = found.shares.get(column, 0.0) if found else 0.0
    if share > 0:
        return share == 1 or not complete
    values = edges.filled(column)
    whole = all(map(is_whole, values))
    fractions = not whole and all(map(is_number, values))
    return not complete and not fractions and numbers in (None, whole)


def _call(side: Side, column: int) -> str:
    return str(side.names[column] or f"column {column + 1}") if side.header or side.first is None else str(column + 1)


def _listed(side: Side, columns: Iterable[int]) -> str:
    return ", ".join(_call(side, column) for column in list(columns)[:LISTED])
