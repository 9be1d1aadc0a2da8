"""Guess which of a user's tables holds what, and what their columns are: once, at import; the card keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.datasets.source import Reading
from grandplus.datasets.tables.table import ENDS, IDS, LABELS, PARQUET, Table, is_number, look
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column

_FEATURES = (".npy", ".npz", ".json")
_OF_EDGES = ("edge", "link", "cites")
_OF_NODES = ("node", "label", "target", "class", "feature", "attr", "content")


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
        A table can't be read, or what a table or column holds can't be guessed; with the option that says it.
    """
    beside = [file for file in files if file.suffix in _FEATURES]
    tables = {file.name: look(file) for file in files if file not in beside}
    if not tables:
        return None
    edges = _edges(tables, asked)
    rest = [table for name, table in tables.items() if name != edges.file.name]
    lists = [table for table in rest if _has_lists(table.file)]
    nodes = _nodes(rest, lists, asked)
    features = _one([*beside, *(table.file for table in lists)], asked)
    if nodes is not None:
        edges = _with_its_header(edges, nodes)
    ends = _ends(edges, asked)
    roles = {"edges": edges.file.name, "ends": ends, "features": features.name if features else None}
    if nodes is not None:
        roles |= _columns_of_nodes(nodes, edges, ends, asked, in_table=features is None)
    return asked.model_copy(update=roles)


def _columns_of_nodes(
    nodes: Table, edges: Table, ends: tuple[Column, Column], asked: Reading, *, in_table: bool
) -> dict[str, Any]:
    """The columns of the node table that hold ids and labels, and those that are to be ignored.

    Parameters
    ----------
    in_table : bool
        Whether the other columns are features.
    """
    ident = nodes.column(_column(nodes, asked.id)) if asked.id is not None else _id(nodes, edges, ends)
    label = nodes.column(_column(nodes, asked.label)) if asked.label is not None else _label(nodes, ident)
    ignore = {nodes.column(_column(nodes, column)) for column in asked.ignore}
    if in_table:
        spare = [column for column in range(nodes.width) if column not in (ident, label)]
        ignore |= {column for column in spare if not _mostly_numbers(nodes.values(column))}
        ignore |= {column for column in spare if nodes.names and nodes.names[column].lower() in IDS}
    return {
        "nodes": nodes.file.name,
        "id": nodes.named(ident),
        "label": None if label is None else nodes.named(label),
        "ignore": [nodes.named(column) for column in sorted(ignore - {ident, label})],
    }


def _edges(tables: dict[str, Table], asked: Reading) -> Table:
    if asked.edges is not None:
        if asked.edges not in tables:
            raise GrandPlusError(f"--edges is {asked.edges!r}", expected=f"one of {', '.join(tables)}")
        return tables[asked.edges]
    points = {name: _like_edges(table) for name, table in tables.items()}
    best = [name for name in points if points[name] == max(points.values())]
    if len(best) > 1:
        raise GrandPlusError(f"{' and '.join(best)} look like tables of edges alike", fix="name one with --edges")
    return tables[best[0]]


def _like_edges(table: Table) -> int:
    stem, names = table.file.name.lower(), [name.lower() for name in table.names or []]
    return (
        2 * any(set(pair) <= set(names) for pair in ENDS if pair[0] != pair[1])
        + 2 * any(word in stem for word in _OF_EDGES)
        - 2 * any(word in stem for word in _OF_NODES)
        - any(name in LABELS for name in names)
        - (table.width > 3)
    )


def _nodes(rest: list[Table], lists: list[Table], asked: Reading) -> Table | None:
    """The node table: one without lists, or one with lists if there is no other."""
    plain = [table for table in rest if table not in lists] or rest
    if asked.nodes is not None:
        plain = [table for table in rest if table.file.name == asked.nodes]
    if len(plain) > 1 or (asked.nodes is not None and not plain):
        names = " and ".join(table.file.name for table in plain or rest) or "nothing"
        raise GrandPlusError(f"{names} may be the node table", expected="one", fix="name it with --nodes")
    return plain[0] if plain else None


def _mostly_numbers(values: list[str]) -> bool:
    """Whether a column holds numbers, so that any text in it is a mistake."""
    filled = [value for value in values if value]
    return sum(map(is_number, filled)) * 2 > len(filled)


def _fractions(values: list[str]) -> bool:
    numbers = [float(value) for value in values if is_number(value) and value.lower() not in ("true", "false")]
    return any(number % 1 > 0 for number in numbers)


def _one(features: list[Path], asked: Reading) -> Path | None:
    if len(features) > 1:
        names = " and ".join(file.name for file in features)
        raise GrandPlusError(f"{names} may hold features", expected="one file of them", fix="leave the others out")
    return features[0] if features else None


def _has_lists(file: Path) -> bool:
    if file.suffix != PARQUET:
        return False
    return any(pa.types.is_nested(kind) for kind in pq.read_schema(file).types)


def _column(table: Table, asked: Column) -> Column:
    """A number is a name if the header has it, else it counts columns."""
    if isinstance(asked, str) or not table.names:
        return asked
    return str(asked) if str(asked) in table.names or asked > table.width else table.names[asked - 1]


def _ends(edges: Table, asked: Reading) -> tuple[Column, Column]:
    if edges.width < 2:
        found = f"has one column, {edges.names[0] if edges.names else edges.values(0)[0]!r}"
        raise GrandPlusError(found, where=edges.file, expected="two at least, for the ends of an edge")
    if asked.ends is not None:
        first, second = (edges.named(edges.column(_column(edges, end))) for end in asked.ends)
        return first, second
    names = [name.lower() for name in edges.names or []]
    for first, second in ENDS:
        if first in names and second in names and first != second:
            return edges.named(names.index(first)), edges.named(names.index(second))
    return edges.named(0), edges.named(1)


def _id(nodes: Table, edges: Table, ends: tuple[Column, Column]) -> int:
    """The column that holds the ends of the first edges; if several do or none does, the one that is called id."""
    wanted = [value for end in ends for value in edges.values(edges.column(end))]
    candidates = _called_id(nodes)
    return next((column for column in candidates if _holds(nodes, column, wanted).all()), candidates[0])


def _called_id(nodes: Table) -> list[int]:
    names = [name.lower() for name in nodes.names or []]
    return [names.index(name) for name in IDS if name in names] or [0]


def _holds(nodes: Table, column: int, wanted: list[str]) -> NDArray[np.bool_]:
    """Which of the wanted values a column holds."""
    held = [piece.cast(pa.string()) for (piece,) in nodes.pieces([column])]
    is_held = pc.is_in(pa.array(wanted, pa.string()), value_set=pa.chunked_array(held, pa.string()))
    return np.asarray(is_held.to_numpy(zero_copy_only=False), bool)


def _with_its_header(edges: Table, nodes: Table) -> Table:
    """The edge table, read with a header if its first line names no node and its second line names two."""
    if edges.names is None and len(edges.sample) > 1 and edges.width > 1:
        ends = [value or "" for line in edges.sample[:2] for value in line[:2]]
        for column in _called_id(nodes):
            if _holds(nodes, column, ends).tolist() == [False, False, True, True]:
                return look(edges.file, header=True)
    return edges


def _label(nodes: Table, ident: int) -> int | None:
    """The column that has a usual name for classes; else the only column, or the only one of text."""
    rest = [column for column in range(nodes.width) if column != ident]
    names = {name.lower(): column for column, name in enumerate(nodes.names or []) if column != ident}
    for name in LABELS:
        if name in names and not (name == "y" and _fractions(nodes.values(names[name]))):  # fractions: a coordinate
            return names[name]
    if len(rest) <= 1:
        return rest[0] if rest else None
    text = [column for column in rest if any(nodes.values(column)) and not _mostly_numbers(nodes.values(column))]
    if len(text) == 1:
        return text[0]
    held = ", ".join(str(nodes.named(column)) for column in rest[:20])
    fix = "name the column with --label: by its header or, without one, its number"
    found = f"has columns {held}, none is called label, and {len(text) or 'none'} of them are of text"
    raise GrandPlusError(found, where=nodes.file, fix=fix)
