"""JSON with a list of nodes and one of edges, as networkx and D3 write it (node-link).

``nodes`` have an ``id`` and attributes; ``links``, or ``edges``, have ``source``, ``target`` and attributes. Where
nodes have no ``id``, the ends of edges are their names, or their positions from 0 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grandplus.datasets.arrays.json_files import parsed
from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.text import read_text
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import is_called
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".json"
NODES, EDGES = "nodes", ("links", "edges")
_IDS = ("id", "key", "name")
_MEMORY = 20  # times the text
_KEY = "key"  # of networkx, which tells edges of the same ends apart
_OTHERS: dict[str, Callable[[Any], bool]] = {  # in JSON that isn't read
    "elements, as Cytoscape writes them": lambda content: _has(content, "elements"),
    "adjacency, as networkx's adjacency_data writes it": lambda content: _has(content, "adjacency"),
    "a tree of children": lambda content: _has(content, "children"),
    "a graph within graph": lambda content: _has(content, "graph") and bool(content["graph"]),
    "a list": lambda content: isinstance(content, list),
}
_KEYS = (NODES, "elements", "adjacency", "children", "graph")
_EXPECTED = "an object with nodes, and with links whose ends are source and target"
_FIX = "write it so, as networkx.node_link_data does, or as GraphML; or write a list as CSV"


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    return read_graph(folder, files, source, called(SUFFIX), parse, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One .json with lists of nodes and of edges, alone or beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    matching = [file for file in files if is_called(file.name, SUFFIX)]
    if len(matching) != 1:
        return None
    content = _content(matching[0])
    if isinstance(content, dict) and NODES in content and any(isinstance(content.get(key), list) for key in EDGES):
        return recognise_graph(files, asked, called(SUFFIX), parse, tables)
    what = next((what for what, is_it in _OTHERS.items() if is_it(content)), None)
    if what is not None:
        raise GrandPlusError(f"holds {what}", where=matching[0], expected=_EXPECTED, fix=_FIX)
    return None


def _content(file: Path) -> Any:
    """What a file holds, if it may be a graph; a file of features by id is JSON, too."""
    text = read_text(file, 1)
    may_be = text.lstrip().startswith("[") or any(f'"{key}"' in text for key in _KEYS)
    return parsed(read_text(file, _MEMORY), file) if may_be else None


def _has(content: Any, key: str) -> bool:
    """Whether it is an object whose value of a key is an object or a list of other than numbers."""
    value = content.get(key) if isinstance(content, dict) else None
    has_numbers = isinstance(value, list) and any(isinstance(part, int | float) for part in value[:1])
    return isinstance(value, list | dict) and not has_numbers


def parse(file: Path) -> AttributedGraph:
    """The graph that a file has, with its attributes."""
    content = parsed(read_text(file, _MEMORY), file)
    content = content if isinstance(content, dict) else {}
    held = [key for key in EDGES if key in content]
    if len(held) != 1:
        raise GrandPlusError(f"holds {' and '.join(held) or 'no edges'}", where=file, expected="links, or edges")
    nodes, edges = (_rows(content, key, file) for key in (NODES, held[0]))
    key, ids, by_position = _ids(nodes, edges, file)
    listed = ((name, _without(node, key)) for name, node in zip(ids, nodes, strict=True))
    undirected = content.get("directed") is False  # where nothing is said, edges are taken as they are listed
    return attributed_graph(file, listed, _edges(edges, ids if by_position else None, file), undirected=undirected)


def _edges(
    edges: list[dict[str, Any]], by_position: list[str] | None, file: Path
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for number, edge in enumerate(edges, start=1):
        ends = [_end(edge, end, number, file) for end in ("source", "target")]
        if by_position is not None:
            ends = [by_position[int(end)] for end in ends]
        yield ends[0], ends[1], _without(edge, "source", "target", _KEY)


def _ids(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], file: Path) -> tuple[str | None, list[str], bool]:
    """The key of the ids, the ids, and whether edges name positions in place of them."""
    ends = {_end(edge, end, number, file) for number, edge in enumerate(edges, 1) for end in ("source", "target")}
    positions = {str(row) for row in range(len(nodes))}
    for key in _IDS:
        if nodes and all(key in node for node in nodes):
            ids = [_id(node[key], key, file) for node in nodes]
            if ends <= set(ids):
                return key, ids, False
            if ends <= positions and not ends & set(ids):
                return (key, ids, True) if len(set(ids)) == len(ids) else (None, sorted(positions, key=int), False)
            return key, ids, False  # an edge names another node, which is then refused
    if not ends <= positions:
        expected = "a node that the file lists, by its id, key, name or position"
        raise GrandPlusError(f"an edge names node {min(ends - positions)!r}", where=file, expected=expected)
    return None, [str(row) for row in range(len(nodes))], False


def _rows(content: dict[str, Any], key: str, file: Path) -> list[dict[str, Any]]:
    rows = content.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise GrandPlusError(f"{key} is something else", where=file, expected="a list of objects, {...}")
    return rows


def _end(edge: dict[str, Any], end: str, number: int, file: Path) -> str:
    if end not in edge:
        held = ", ".join(edge)[:80] or "nothing"
        raise GrandPlusError(f"edge {number} has no {end}, but {held}", where=file, expected="source and target")
    return _id(edge[end], f"{end} of edge {number}", file)


def _id(value: Any, name: str, file: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        found, expected = f"{name} is {str(value)[:40]!r}", "ids: whole numbers or text"
        raise GrandPlusError(found, where=file, expected=expected)
    return str(value)


def _without(row: dict[str, Any], *keys: str | None) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}
