"""Nodes and edges that came later, read from tables or from files of graphs with attributes.

Tables are text or Parquet, with features in columns or in a file beside.

Columns are found by the names that they had at import: the features' names were kept with the graph. Where there are no
names, their order tells. A column that no feature is called like is left out and named.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.growth.graphs import Added, added_by, weights_of_growth
from grandplus.datasets.raw import READERS
from grandplus.datasets.source import NO_IDS, Reading, Source
from grandplus.datasets.tables import feature_files
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.edge_weights import further_columns, read_weights, weight_column
from grandplus.datasets.tables.ends import ends_of_edges
from grandplus.datasets.tables.features import read_columns
from grandplus.datasets.tables.ids import check_unique, ids_of, same_type
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.names import LABELS, ends_by_name, is_id
from grandplus.datasets.tables.split_columns import columns_of_split
from grandplus.datasets.tables.table import Table
from grandplus.datasets.tables.text import is_called
from grandplus.graph.entries import listed_both_ways
from grandplus.graph.features import Features
from grandplus.graph.fitted import RAW_ROWS
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.runtime.errors import GrandPlusError, argument_errors
from grandplus.runtime.sizes import counted
from grandplus.runtime.validation import Column

SHOWN = 10  # of the features that are ignored
GRAPHS = ("graphml", "gexf", "gml", "node-link", "pajek", "adjlist")  # formats of graphs with attributes


class ReadGrowth(NamedTuple):
    """A grown graph, and what was left out of the files.

    Attributes
    ----------
    graph : GrownGraph
    unknown : list of str
        Columns, and features that are named by their numbers, which the graph has not.
    dropped : dict of int
        Lines that are no edges, by the reason.
    """

    graph: GrownGraph
    unknown: list[str]
    dropped: dict[str, int]

    @property
    def account(self) -> dict[str, str]:
        """What was ``added``, and what was ``ignored`` if there is any, as texts."""
        facts = self.graph.facts
        was_there = {"repeated": facts["merged_duplicates"], "self-loops": facts["dropped_self_loops"], **self.dropped}
        notes = [f"{count:,} {what}" for what, count in was_there.items() if count]
        nodes, edges = counted(facts["nodes"], "node", "nodes"), counted(facts["edges"], "edge", "edges")
        account = {"added": "; ".join([f"{nodes} and {edges}", *notes])}
        if self.unknown:
            names = ", ".join(self.unknown[:SHOWN]) + ", …" * (len(self.unknown) > SHOWN)
            account["ignored"] = f"{len(self.unknown):,}: {names}; the graph has no such features"
        return account


def read_growth(
    base: Graph,
    nodes: Path | None = None,
    edges: Path | None = None,
    features: Path | None = None,
    read: Reading | None = None,
) -> ReadGrowth:
    """Read what has come to a graph since it was preprocessed.

    Parameters
    ----------
    base : Graph
    nodes : Path, optional
        A table with an id for each new node and, if ``features`` is None, its features. Or a file of a graph, such as
        GraphML, whose nodes have the features as attributes; its edges are added, too.
    edges : Path, optional
        A table with the ids at both ends of each new edge, of old or new nodes; or a file of a graph.
    features : Path, optional
        A file beside the table of nodes, see `grandplus.datasets.tables.feature_files`.
    read : Reading, optional
        How the graph's own files were read: the names of its columns are looked for here, too.

    Returns
    -------
    ReadGrowth

    Raises
    ------
    GrandPlusError
        A file is no such table, or lacks a feature; a new node is there already, an edge names an unknown node, or a
        label is no class of the graph.
    """
    how = read or Reading()
    added = Added() if nodes is None else _nodes(base, nodes, features, how)
    further = Added() if edges is None else _edges(base, edges, how)
    for part, file in ((added, nodes), (further, edges)):
        _check_weights(base, part, file)
    with argument_errors(nodes or ""):  # one by one, so that an error names the file that it is in
        grown = base.grown(added.ids, added.ends, added.features, added.labels, added.weights)
    with argument_errors(edges or ""):
        if edges is not None:
            ends = [first + second for first, second in zip(added.ends, further.ends, strict=True)]
            weights = _joined(added, further)
            grown = base.grown(added.ids, ends, added.features, added.labels, weights)
    return ReadGrowth(grown, [*added.unknown, *further.unknown], added.dropped | further.dropped)


def _joined(added: Added, further: Added) -> NDArray[np.float32] | None:
    """The weights of both files' edges; None if neither file has any."""
    parts = [part for part in (added, further) if part.ends[0]]
    weights = [part.weights for part in parts if part.weights is not None]
    return np.concatenate(weights) if weights else None


def _check_weights(base: Graph, part: Added, file: Path | None) -> None:
    if base.adjacency.weights is not None and part.ends[0] and part.weights is None:
        expected = "one for each, as the edges of the graph have"
        raise GrandPlusError("its edges have no weights", where=file or "", expected=expected)


def _of_graph(file: Path) -> AttributedGraph | None:
    """The graph that a file has, if its name ends as those of graphs do; None of a table."""
    for name in GRAPHS:
        module = importlib.import_module(READERS[name])
        if is_called(file.name, module.SUFFIX):
            graph: AttributedGraph = module.parse(file)
            return graph
    return None


def _looked(file: Path, words: Iterable[Column | None]) -> Table:
    """The table; its first line is a header, too, if it has one of the names that columns had at import."""
    table = look(file)
    first = table.sample[0] if table.sample and not table.names else []
    return look(file, header=True) if set(words) & set(first) else table


def _edges(base: Graph, file: Path, how: Reading) -> Added:
    """The ids at both ends of the edges, and the lines that are none."""
    graph = _of_graph(file)
    if graph is not None:
        given = weights_of_growth(graph, base, how)
        pairs, weights = listed_both_ways(graph.edges, given, graph.undirected, base.adjacency.direction)
        ids = [[graph.ids[row] for row in end] for end in pairs.tolist()]
        return Added(ends=ids, weights=weights, dropped=dict(graph.dropped))
    table = _looked(file, how.ends or ())
    columns = [column for column in range(table.width) if column not in table.index]
    asked = [_found(table, end) for end in how.ends or ()]
    named = ends_by_name(table.names or [])
    ends = [end for end in asked if end is not None]
    if len(ends) != 2:
        ends = list(named[0]) if len(named) == 1 else columns
    if len(ends) != 2:
        held = ", ".join(table.names) if table.names else f"{len(columns)} columns without names"
        fix = "name the two columns source and target, or as they were named at import"
        raise GrandPlusError(f"has {held}", where=file, expected="the two ends of an edge", fix=fix)
    further = further_columns(table, ends)
    if further and how.weights is None:
        found = f"has further columns: {', '.join(_names(table, further))}"
        raise GrandPlusError(found, where=file, expected="the two ends of an edge only", fix="leave the others out")
    weight = _weight_column(table, ends, how) if further and how.weights == "use" else None
    pieces, dropped = ends_of_edges(table, ends, [], None)
    ids = [column.to_pylist() for column in same_type(*pieces)]
    unknown = _names(table, [column for column in further if column != weight and weight is not None])
    return Added(ends=ids, weights=read_weights(table, weight, how), dropped=dropped, unknown=unknown)


def _weight_column(table: Table, ends: list[int], how: Reading) -> int:
    """That of the name that it had at import; where one of the tables has no names, the only one that may be it."""
    by_name = isinstance(how.weight, str) and bool(table.names)
    return weight_column(table, ends, how if by_name else how.model_copy(update={"weight": None}))


def _nodes(base: Graph, file: Path, beside: Path | None, how: Reading) -> Added:
    graph = _of_graph(file)
    if graph is not None:
        return added_by(graph, base, how)
    table = _looked(file, (how.id, how.label, *how.ignore, *(base.fitted.names or ())))
    ident = _id_column(table, how)
    label = _label_column(table, how, base)
    (ids,) = same_type(*ids_of(table, [ident]))
    check_unique(ids, table)
    others = [column for column in range(table.width) if column not in (ident, label, *_left_out(table, how))]
    if base.fitted.kind in RAW_ROWS or not len(ids):
        features, unknown = None, _names(table, others)
    elif beside is not None:
        features, numbers = _features_beside(base, beside, ids)
        unknown = [*_names(table, others), *numbers]
    else:
        columns, label = _feature_columns(base, table, others, label)
        features = read_columns(table, columns, ids, how.decimal)
        unknown = _names(table, [column for column in others if column not in (*columns, label)])
    return Added(ids.to_pylist(), features, _labels(base, table, label, how), unknown)


def _id_column(table: Table, how: Reading) -> int:
    asked = None if how.id == NO_IDS else _found(table, how.id)
    if asked is not None:
        return asked
    if not table.names:
        return 0
    called = [column for column, name in enumerate(table.names) if is_id(name) and column not in table.index]
    if not called:
        expected = "a column of ids, called id or as it was at import"
        raise GrandPlusError(f"has {', '.join(table.names)}", where=table.file, expected=expected)
    return called[0]


def _label_column(table: Table, how: Reading, base: Graph) -> int | None:
    asked = _found(table, how.label)
    if asked is not None:
        return asked
    features = base.fitted.names or []
    usual = (column for column, name in enumerate(table.names or []) if name.lower() in LABELS and name not in features)
    return next(usual, None)


def _left_out(table: Table, how: Reading) -> set[int]:
    """The columns that were no features at import, and an index."""
    named = (_found(table, column) for column in (*how.ignore, *columns_of_split(how)))
    return {column for column in named if column is not None} | set(table.index)


def _found(table: Table, asked: Column | None) -> int | None:
    """A column of that name, or of that number if neither table had names; None if there is none."""
    if isinstance(asked, str) and asked in (table.names or []):
        return table.column(asked)
    if isinstance(asked, int) and not table.names and asked <= table.width:
        return asked - 1
    return None


def _feature_columns(base: Graph, table: Table, others: list[int], label: int | None) -> tuple[list[int], int | None]:
    """The columns of the features in their order, and that of labels, which may follow features without names."""
    width, names = int(base.features.shape[1]), base.fitted.names
    if names is not None and table.names:
        lacking = [name for name in names if name not in table.names]
        if lacking:
            found = f"lacks {len(lacking):,} of {width:,} features, such as {lacking[0]!r}"
            raise GrandPlusError(found, where=table.file, expected="all columns that the graph's features came from")
        return [table.column(name) for name in names], label
    if len(others) == width + 1 and label is None:
        *others, label = others
    if len(others) != width:
        found = f"has {counted(len(others), 'column', 'columns')} beside ids and labels"
        fix = "add them, or give the features beside it with --features"
        raise GrandPlusError(found, where=table.file, expected=f"{width}, one for each feature of the graph", fix=fix)
    return others, label


def _features_beside(base: Graph, file: Path, ids: pa.Array) -> tuple[Features, list[str]]:
    width = int(base.features.shape[1])
    lists = feature_files.lists_by_id(file)
    features = feature_files.read(file, ids) if lists is None else lists.rows(ids, width)
    if lists is None and features.shape[1] != width:
        raise GrandPlusError(f"has {features.shape[1]} features", where=file, expected=f"{width}, as the graph has")
    unknown = np.unique(features[:, width:].nonzero()[1]) + width
    return features[:, :width], list(map(str, unknown.tolist()))


def _labels(base: Graph, table: Table, label: int | None, how: Reading) -> list[str | None] | None:
    if label is None:
        return None
    where = f"{table.file}, column {table.named(label)}"
    pieces = [piece for (piece,) in table.pieces([label])]
    numbers, _ = class_numbers(pieces, Source(format="tables", read=how, classes=base.classes), where, table.line)
    return [base.classes[number] if number >= 0 else None for number in numbers.tolist()]


def _names(table: Table, columns: Sequence[int]) -> list[str]:
    return [str(table.named(column)) for column in columns]
