"""An edge table, a node table with the labels, and features in it or in a file of their own.

Tables are text or Parquet (``tables.look``, ``tables.table``), and features in a file of their own are what
``tables.feature_files`` reads. Edge lists of SNAP, csv and json of MUSAE, and most exports of databases are such
tables. The card says under ``source.read`` which file and column holds what; ``tables.roles`` guesses it at import.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import NOT_READ, Account, FileAccount, Ids
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import NO_IDS, Reading, Source
from grandplus.datasets.tables import feature_files
from grandplus.datasets.tables.classes import class_numbers, unknown_labels
from grandplus.datasets.tables.edge_weights import read_weights, used_weight_column
from grandplus.datasets.tables.ends import check_ends, ends_of_edges
from grandplus.datasets.tables.features import read_columns
from grandplus.datasets.tables.foreign import check_is_table
from grandplus.datasets.tables.ids import as_numpy, check_unique, ids_of, order_of, rows_of, same_type
from grandplus.datasets.tables.known_ids import check_any_known, further_ids, named_ids
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.roles import roles_of
from grandplus.datasets.tables.spellings import check_spellings
from grandplus.datasets.tables.split_columns import columns_of_split, split_in
from grandplus.datasets.tables.table import Table, unused_columns
from grandplus.datasets.tables.without_ids import check_counts_from_0
from grandplus.graph.adjacency import INT32_IDS
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column

GENERAL = True
SHOWN_IDS = 3  # of those that only edges name


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """Any tables, of which one has edges.

    See `grandplus.datasets.formats.Format`.
    """
    for file in files:
        check_is_table(file)
    return roles_of(files, asked)


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the tables; nodes are in the order of their ids, so that the order of lines makes no difference.

    Nodes are those of the node table. If it has no features, which every node must have, nodes that only edges name
    have no label; so do nodes that only a file of features by id names. Without a node table, no node has a label.

    See `grandplus.datasets.formats.Format`.
    """
    how = source.read
    edges, columns = _edges(folder, how)
    weight = used_weight_column(edges, columns, how)
    table = _node_table(folder, how)
    starts, stops, ids, dropped = _ids(edges, columns, table, how)
    weights = read_weights(edges, weight, how)
    listed = len(ids)
    if table is not None:
        check_unique(ids, table)
    if table is not None and how.id == NO_IDS:
        check_counts_from_0([starts, stops], edges, table)
    labels, classes = _labels(table, how.label, listed, source)
    lists = None if how.features is None else feature_files.lists_by_id(folder / how.features)
    if table is None and how.features is not None and lists is None:
        found, expected = "has features by position, and no table names the nodes", "a table with a line for each row"
        raise GrandPlusError(found, where=how.features, expected=expected)
    if lists is not None:
        starts, stops, ids, described = same_type([starts], [stops], [ids], [lists.ids])
        ids = pa.concat_arrays([ids, described.filter(pa.array(rows_of(described, ids) < 0))])
        labels = np.concatenate([labels, np.full(len(ids) - listed, -1)])
    unknown, na = _unknown(table, how)
    split = None if table is None else split_in(table, how)
    features, feature_names = _features(folder, table, how, ids, lists)
    rows = [rows_of(end, ids) for end in (starts, stops)]
    named = named_ids(rows, len(ids))
    if table is not None:
        further = further_ids(
            (starts, stops), rows, ids, edges, how.nodes, complete=features is not None or how.id == NO_IDS
        )
        check_spellings(further, ids, edges, table.file.name)
        check_any_known(edges, table, named, further)
        check_ends((starts, stops), ids, edges, table)
        named = replace(named, only_edges=len(further), examples=tuple(map(str, further[:SHOWN_IDS].to_pylist())))
        if len(further):
            ids = pa.concat_arrays([ids, further])
            rows = [rows_of(end, ids) for end in (starts, stops)]
            labels = np.concatenate([labels, np.full(len(further), -1)])
    by_id, entries = order_of(ids), len(starts)
    del starts, stops  # of all that is in memory, edges take most
    position = np.empty(len(by_id), np.int32 if len(by_id) <= INT32_IDS else np.int64)
    position[by_id] = np.arange(len(by_id))
    account = _account(
        edges,
        table,
        how,
        weight=weight,
        entries=entries,
        nodes=listed,
        rows=listed if lists is None else len(lists.ids),
        ids=named if table is not None else None,
        others=[name for name in files if name not in (how.edges, how.nodes, how.features)],
    )
    return RawGraph(
        edges=np.stack([position[row] for row in rows]),
        nodes=len(ids),
        features=None if features is None else features[by_id],
        labels=labels[by_id],
        classes=classes,
        node_ids=as_numpy(ids.take(pa.array(by_id))),
        splits=[] if split is None else [{part: np.sort(position[rows]) for part, rows in split.items()}],
        feature_names=feature_names,
        weights=weights,
        account=replace(account, unknown=unknown, unused=(*account.unused, *na), dropped=dropped),
    )


def _edges(folder: Path, how: Reading) -> tuple[Table, list[int]]:
    """The edge table, and its columns of the ends of edges."""
    first, second = how.ends or _raise_unset("ends", folder)
    name = how.edges or _raise_unset("edges", folder)
    edges = look(folder / name, header=isinstance(first, str), skip=how.skip.get(name))
    ends = [edges.column(first), edges.column(second)]
    return edges, ends


def _node_table(folder: Path, how: Reading) -> Table | None:
    if how.nodes is None:
        return None
    by_name = how.label if how.id == NO_IDS else how.id or _raise_unset("id", folder)
    skip, by_line = how.skip.get(how.nodes), how.id == NO_IDS
    return look(folder / how.nodes, header=isinstance(by_name, str), skip=skip, by_line=by_line)


def _ids(
    edges: Table, columns: list[int], table: Table | None, how: Reading
) -> tuple[pa.Array, pa.Array, pa.Array, dict[str, int]]:
    """The ids at both ends of the edges, and those of the nodes, of the same type; and the lines that are no edges."""
    known: list[pa.Array] = []
    if table is not None and how.id == NO_IDS:
        known = [pa.array(np.arange(sum(len(piece) for (piece,) in table.pieces([0]))))]
    elif table is not None:
        (known,) = ids_of(table, [table.column(how.id)])  # type: ignore[arg-type] # not None: checked
    ends, dropped = ends_of_edges(edges, columns, known, how.nodes)
    if table is None:
        starts, stops = same_type(*ends)
        once = pc.unique(starts.filter(pa.array(rows_of(starts, stops) < 0)))
        check_spellings(once, pc.unique(stops), edges, "the other end of edges")
        return starts, stops, pc.unique(pa.concat_arrays([starts, stops])), dropped
    starts, stops, ids = same_type(*ends, known)
    return starts, stops, ids, dropped


def _account(
    edges: Table,
    table: Table | None,
    how: Reading,
    weight: int | None,
    entries: int,
    nodes: int,
    rows: int,
    ids: Ids | None,
    others: list[str],
) -> Account:
    """What became of the lines and columns.

    ``rows`` are those of a file of features, ``others`` the files that aren't read.
    """
    first, second = how.ends or _raise_unset("ends", edges.file)
    used = {edges.column(first), edges.column(second), *([] if weight is None else [weight])}
    files = [FileAccount(how.edges or "", entries, "edges", edges.skipped_lines())]
    unused = unused_columns(edges, used)
    if table is not None:
        files.append(FileAccount(how.nodes or "", nodes, "nodes", table.skipped_lines()))
        ignored = {table.column(column) for column in how.ignore}
        taken = [table.column(column) for column in _taken(how)]
        features = set(range(table.width)) - ignored if how.features is None else set()
        unused += unused_columns(table, {*taken, *features})
    if how.features is not None:
        files.append(FileAccount(how.features, rows, "rows of features"))
    unused += [f"{name}{NOT_READ}" for name in others]
    return Account(files=tuple(files), ids=ids, unused=tuple(unused))


def _taken(how: Reading) -> list[Column]:
    """The columns of the node table that hold ids, labels and the split."""
    named = [column for column in (how.id, how.label) if column is not None and column != NO_IDS]
    return [*named, *columns_of_split(how)]


def _raise_unset(name: str, folder: Path) -> NoReturn:
    fix = "set it in the card, or import the files, which writes the card"
    raise GrandPlusError(f"source.read.{name} is not set", where=folder, fix=fix)


def _labels(
    nodes: Table | None, label: Column | None, count: int, source: Source
) -> tuple[NDArray[np.int64], list[str]]:
    """Labels in the order of the node table, and the names of the classes."""
    if nodes is None or label is None:
        return np.full(count, -1), []
    pieces = [piece for (piece,) in nodes.pieces([nodes.column(label)])]
    where = f"{nodes.file}, column {label}"
    return class_numbers(pieces, source, where, nodes.line)


def _unknown(nodes: Table | None, how: Reading) -> tuple[dict[str, int], list[str]]:
    """See `grandplus.datasets.tables.classes.unknown_labels`."""
    if nodes is None or how.label is None:
        return {}, []
    pieces = [piece for (piece,) in nodes.pieces([nodes.column(how.label)])]
    return unknown_labels(pieces, how.na, f"{nodes.file}, column {how.label}")


def _features(
    folder: Path, nodes: Table | None, how: Reading, ids: pa.Array, lists: feature_files.Lists | None
) -> tuple[Any, list[str] | None]:
    """Features of these nodes, in the order of the node table, and their names; None for what there is not."""
    if lists is not None:
        return lists.rows(ids), None
    if nodes is None:
        return None, None
    if how.features is not None:
        return feature_files.read(folder / how.features, ids), None
    taken = [nodes.column(column) for column in (*_taken(how), *how.ignore)]
    columns = [column for column in range(nodes.width) if column not in taken]
    if not columns:
        return None, None
    features = read_columns(nodes, columns, ids, how.decimal)
    return features, [nodes.names[column] for column in columns] if nodes.names else None
