"""Guess which of a user's tables holds what, and what their columns are: once, at import; the card keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pyarrow.parquet as pq

from grandplus.datasets.source import NO_IDS, Reading
from grandplus.datasets.tables.columns import check_edges, check_kinds, ends_of, id_column
from grandplus.datasets.tables.counters import counters
from grandplus.datasets.tables.edge_weights import weight_column
from grandplus.datasets.tables.evidence import Overlap, Side, contains, overlap
from grandplus.datasets.tables.feature_files import is_list
from grandplus.datasets.tables.features import text_columns
from grandplus.datasets.tables.headers import header_of_edges, header_of_nodes
from grandplus.datasets.tables.label_column import label_column, mostly_numbers
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.marked import take_marked_data, take_named_header
from grandplus.datasets.tables.mistakes import (
    OF_EDGES,
    OF_NODES,
    check_holds_edges,
    check_ignored,
    check_not_swapped,
)
from grandplus.datasets.tables.names import IDS, LABELS, ends_by_name
from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.parquet import is_parquet
from grandplus.datasets.tables.split_columns import columns_of_split, is_part, split_columns
from grandplus.datasets.tables.table import Table
from grandplus.datasets.tables.without_ids import header_without_ids
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column, did_you_mean

_FEATURES = (".npy", ".npz", ".json")
_BY_POSITION = (".npy", ".npz")  # a row for each line of the node table


def roles_of(files: list[Path], asked: Reading) -> Reading | None:
    """How to read some tables.

    Parameters
    ----------
    files : list of Path
    asked : Reading
        What the user says of them; it is kept.

    Returns
    -------
    Reading or None
        None if there are no tables.

    Raises
    ------
    GrandPlusError
        A table can't be read, or what a table, a column or a first line holds can't be told; with the option that
        says it.
    """
    beside = [file for file in files if file.suffix in _FEATURES]
    if len(beside) == len(files):
        return None
    folder = Path(os.path.commonpath([file.parent for file in files]))
    if asked.edges is not None and asked.edges == asked.nodes:
        raise GrandPlusError(f"--edges and --nodes are both {asked.edges}", expected="two tables")
    tables = {file.relative_to(folder).as_posix(): look(file) for file in files if file not in beside}
    if asked.nodes is not None and asked.nodes not in tables:
        _raise_no_table("nodes", asked.nodes, tables)
    edges = _edges(tables, asked)
    rest = [table for table in tables.values() if table.file != edges.file]
    lists = [table for table in rest if _has_lists(table.file)]
    nodes = _nodes(rest, lists, None if asked.nodes is None else folder / asked.nodes)
    if nodes is None:
        check_holds_edges(edges, asked)
    else:
        check_ignored(asked, edges, nodes)
    if asked.ends is None:
        check_not_swapped(edges, nodes)
    features = _one([*beside, *(table.file for table in lists)], asked)
    by_position = features is not None and features.suffix in _BY_POSITION
    found = _found(edges, nodes, asked, beside=by_position)
    roles = {
        "edges": edges.file.relative_to(folder).as_posix(),
        "ends": tuple(found.edges.named(end) for end in found.ends),
        "weight": _weight(found, asked),
        "features": features.relative_to(folder).as_posix() if features else None,
        "header": None,
        "skip": {file.relative_to(folder).as_posix(): lines for file, lines in found.skip.items()},
    }
    if found.nodes is not None:
        roles["nodes"] = found.nodes.file.relative_to(folder).as_posix()
        roles |= _columns_of_nodes(found.nodes, found.ident, asked, in_table=features is None)
    return asked.model_copy(update=roles)


def _weight(found: _Found, asked: Reading) -> Column | None:
    """The column of the weights that are used."""
    if asked.weights != "use":
        return asked.weight
    named = None if asked.weight is None else _column(found.edges, asked.weight)
    return found.edges.named(weight_column(found.edges, found.ends, asked.model_copy(update={"weight": named})))


class _Found(NamedTuple):
    """The two tables, read with a header or without, and their columns of ids."""

    edges: Table
    ends: tuple[int, int]
    nodes: Table | None
    ident: int | None  # None if the node table has no ids
    skip: dict[Path, int]


def _found(edges_table: Table, nodes_table: Table | None, asked: Reading, *, beside: bool) -> _Found:
    """What the evidence tells, where the user doesn't.

    Parameters
    ----------
    beside : bool
        Whether there is a file with features for each line of the node table.
    """
    if edges_table.width < 2:
        held = edges_table.names[0] if edges_table.names else edges_table.values(0)[0]
        found = f"has one column, {held!r}"
        raise GrandPlusError(found, where=edges_table.file, expected="two at least, for the ends of an edge")
    said = None if asked.header is None else asked.header == "yes"
    edges = Side(edges_table.file, header=_by_columns(asked.ends or (), said), whole=False)
    take_named_header(edges, asked.ends or ())
    if nodes_table is None:
        nodes, ident = None, None
        edges.header = _decided(edges, header_of_edges(edges, None, None, said, complete=False))
        ends = _ends(edges, asked, None, complete=False, numbers=None)
    elif asked.id == NO_IDS:
        nodes, ident = Side(nodes_table.file, header=_by_columns([asked.label], said), whole=True), None
        edges.header = _decided(edges, header_of_edges(edges, None, None, said, complete=True))
        ends = _ends(edges, asked, None, complete=True, numbers=None)
        nodes.header = _decided(nodes, header_without_ids(nodes, edges, ends, said))
    else:
        nodes = Side(nodes_table.file, header=_by_columns([asked.id, asked.label, *asked.ignore], said), whole=True)
        take_named_header(nodes, [asked.id, asked.label, *asked.ignore])
        ident, ends = _by_ids(edges, nodes, asked, said, beside=beside)
    sides = [edges] if nodes is None else [edges, nodes]
    _check_heeded(said, sides)
    if (
        asked.edges is None
        and asked.ends is None
        and not any(word in edges.table.file.name.lower() for word in OF_EDGES)
    ):
        check_edges(edges, ends, nodes, ident)
    skip = {side.table.file: side.skip for side in sides if side.skip is not None}
    return _Found(edges.read(), ends, None if nodes is None else nodes.read(), ident, skip)


def _by_ids(
    edges: Side, nodes: Side, asked: Reading, said: bool | None, *, beside: bool
) -> tuple[int, tuple[int, int]]:
    """The column of ids of nodes and those of ends of edges; both tables then know whether they have a header."""
    take_marked_data(edges, nodes)
    if nodes.table.width == 1 and asked.id is None:
        fix = f"say --id {NO_IDS} if line i has the label of node i, counted from 0, or --id 1 if these are ids"
        raise GrandPlusError("has one column", where=nodes.table.file, expected="ids and labels", fix=fix)
    of_text = [c for c in nodes.columns if not all(is_number(row[c]) for row in nodes.below)]
    if any(contains(nodes.values[c], written).any() for c in of_text for written in edges.written.values()):
        edges.read_as_written()  # 4.0 is one of the ids that are text
    pair = [_position(edges, end) for end in asked.ends] if asked.ends else None
    ident = id_column(edges, nodes, pair) if asked.id is None else _position(nodes, asked.id)
    nodes.need([ident])
    complete = beside or _has_features(nodes, ident, asked)
    edges.header = _decided(edges, header_of_edges(edges, nodes, ident, said, complete=complete))
    named = ends_by_name(edges.names) if edges.header else []
    ends = pair or next(iter(named), range(edges.table.width))
    nodes.header = _decided(nodes, header_of_nodes(nodes, edges, ident, ends, said))
    if asked.id is not None:
        ident = _column_of(nodes, asked.id)
    found = overlap(edges, nodes, ident)
    chosen = _ends(edges, asked, found, complete=complete, numbers=nodes.has_numbers(ident))
    if asked.ends is None:
        check_kinds(edges, chosen, nodes, ident)
    return ident, chosen


def _ends(
    edges: Side, asked: Reading, found: Overlap | None, *, complete: bool, numbers: bool | None
) -> tuple[int, int]:
    if asked.ends is None:
        return ends_of(edges, found, complete=complete, numbers=numbers)
    table = edges.read()
    first, second = asked.ends
    if table.names and not {str(first), str(second)} <= set(table.names):  # numbers are names if both are
        names = table.names
        first, second = (names[end - 1] if isinstance(end, int) and end <= table.width else end for end in asked.ends)
    ends = _column_of(edges, first), _column_of(edges, second)
    if ends[0] == ends[1]:
        raise GrandPlusError(f"--ends is {asked.ends[0]} {asked.ends[1]}, one column", expected="two", where=table.file)
    return ends


def _column_of(side: Side, asked: Column) -> int:
    """The number of a column that the user names, when it is known whether there is a header."""
    table = side.read()
    return table.column(_column(table, asked))


def _by_columns(columns: Iterable[Column | None], said: bool | None) -> bool | None:
    """A column that is named by a word has its name in a header; of a table with numbered ones --header is heeded."""
    named = [column for column in columns if column is not None]
    return True if any(isinstance(column, str) for column in named) else said if named else None


def _decided(side: Side, guess: bool) -> bool:
    return guess if side.header is None else side.header


def _check_heeded(said: bool | None, sides: list[Side]) -> None:
    """What --header says holds for a table at least."""
    text = [side for side in sides if side.first is not None]
    if said is not None and text and all(side.header != said for side in text):
        found = f"--header is {'yes' if said else 'no'}, but {text[0].line()} is {'no' if said else 'a'} header"
        fix = "name the columns with --ends, --id and --label: by words if there is a header, else by numbers"
        raise GrandPlusError(found, where=text[0].table.file, fix=fix)


def _position(side: Side, column: Column) -> int:
    """The number of a column that the user names, before it is known whether there is a header."""
    if str(column) in side.names and (isinstance(column, str) or side.header):
        return side.names.index(str(column))
    if isinstance(column, int) and column <= side.table.width:
        return column - 1
    expected, fix = ", ".join(side.names), did_you_mean(column, side.names)
    raise GrandPlusError(f"has no column {column}", where=side.table.file, expected=expected, fix=fix)


def _has_features(nodes: Side, ident: int, asked: Reading) -> bool:
    """Whether the node table has columns of numbers beside ids and labels."""
    left_out = {ident, *(_position(nodes, column) for column in (asked.label, *asked.ignore) if column is not None)}
    rest = [c for c in range(nodes.table.width) if c not in left_out and not nodes.is_index(c)]
    rest = [c for c in rest if nodes.header is False or not is_part(nodes.names[c])]
    numbers = [c for c in rest if mostly_numbers([row[c] or "" for row in nodes.below])]
    return len(rest) > (asked.label is None) and bool(numbers)


def _columns_of_nodes(nodes: Table, ident: int | None, asked: Reading, *, in_table: bool) -> dict[str, Any]:
    """The columns of the node table that hold ids and labels, and those that are to be ignored.

    Parameters
    ----------
    in_table : bool
        Whether the other columns are features.
    """
    ignore = {nodes.column(_column(nodes, column)) for column in asked.ignore}
    label = None if asked.label is None else nodes.column(_column(nodes, asked.label))
    same: list[int] = []  # columns that rename the classes
    split = split_columns(nodes, [column for column in range(nodes.width) if column not in (ident, label, *ignore)])
    of_split = {nodes.column(column) for column in columns_of_split(Reading(**split))}
    if asked.label is None:
        label, same = label_column(nodes, ident, of_split, ignore)
    for column, role in ((ident, "the ids"), (label, "the class")):
        if column in ignore:
            found = f"--ignore names column {nodes.named(column)}, which holds {role}"
            raise GrandPlusError(found, where=nodes.file, fix="leave it out of --ignore, or say --id or --label")
    if in_table:
        spare = [column for column in range(nodes.width) if column not in (ident, label, *of_split)]
        ignore |= set(text_columns(nodes, spare))
        ignore |= {column for column in spare if column in nodes.index or nodes.is_empty(column) or column in same}
        ignore |= {column for column in spare if nodes.names and nodes.names[column].lower() in IDS}
        ignore |= counters(nodes, [column for column in spare if column not in ignore])
    return {
        "id": NO_IDS if ident is None else nodes.named(ident),
        "label": None if label is None else nodes.named(label),
        "ignore": [nodes.named(column) for column in sorted(ignore - {ident, label})],
        **split,
    }


def _edges(tables: dict[str, Table], asked: Reading) -> Table:
    if asked.edges is not None:
        if asked.edges not in tables:
            _raise_no_table("edges", asked.edges, tables)
        return tables[asked.edges]
    points = {name: _like_edges(table) for name, table in tables.items()}
    best = [name for name in points if points[name] == max(points.values())]
    if len(best) > 1:
        raise GrandPlusError(f"{' and '.join(best)} look like tables of edges alike", fix="name one with --edges")
    return tables[best[0]]


def _raise_no_table(option: str, name: str, tables: dict[str, Table]) -> NoReturn:
    expected = f"one of {', '.join(tables)}"
    raise GrandPlusError(f"--{option} is {name!r}", expected=expected, fix=did_you_mean(name, tables))


def _like_edges(table: Table) -> int:
    stem, names = table.file.name.lower(), [name.lower() for name in table.names or []]
    has_ends = bool(ends_by_name(table.names or []))
    return (
        3 * has_ends
        + 2 * any(word in stem for word in OF_EDGES)
        - 2 * any(word in stem for word in OF_NODES)
        - (not has_ends and any(name in LABELS for name in names))
        - (table.width > 3)
    )


def _nodes(rest: list[Table], lists: list[Table], asked: Path | None) -> Table | None:
    """The node table: one without lists, or one with lists if there is no other."""
    plain = [table for table in rest if table not in lists] or rest
    if asked is not None:
        plain = [table for table in rest if table.file == asked]
    if len(plain) > 1 or (asked is not None and not plain):
        names = " and ".join(table.file.name for table in plain or rest) or "nothing"
        fix = "join them by their ids first (pandas.merge), or name one with --nodes, and the others are left out"
        raise GrandPlusError(f"{names} may be the node table", expected="one", fix=fix)
    return plain[0] if plain else None


def _one(features: list[Path], asked: Reading) -> Path | None:
    if len(features) > 1:
        names = " and ".join(file.name for file in features)
        raise GrandPlusError(f"{names} may hold features", expected="one file of them", fix="leave the others out")
    return features[0] if features else None


def _has_lists(file: Path) -> bool:
    return is_parquet(file) and any(map(is_list, pq.read_schema(file).types))


def _column(table: Table, asked: Column) -> Column:
    """A number is a name if the header has it, else it counts columns."""
    if isinstance(asked, str) or not table.names:
        return asked
    return str(asked) if str(asked) in table.names or asked > table.width else table.names[asked - 1]
