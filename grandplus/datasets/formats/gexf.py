"""GEXF, as Gephi writes it: nodes and edges with attributes that ``<attribute>`` elements declare.

The XML is read here, as the reader of networkx adds nodes that no element lists, leaves out defaults, and expands
entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.xml import Declared, declared_by, needed, read_xml, the_graph, typed, with_joined
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".gexf"
_NAME = "label"  # an attribute of XML: what Gephi shows beside a node
_TIMES = ("start", "end", "spells", "slices", "timestamp", "timestamps", "intervals")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    return read_graph(folder, files, source, called(SUFFIX), parse, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .gexf, alone or beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    return recognise_graph(files, asked, called(SUFFIX), parse, tables)


def parse(file: Path) -> AttributedGraph:
    """The graph that a file has, with its attributes."""
    graph = the_graph(read_xml(file, "gexf"), file)
    of_nodes, of_edges = _declared(graph, "node", file), _declared(graph, "edge", file)
    names, nodes, edges = _named(of_nodes), list(graph.iter("node")), list(graph.iter("edge"))
    kinds = [edge.get("type") or (graph.get("defaultedgetype") or "undirected") for edge in edges]
    made = attributed_graph(
        file,
        ((needed(node, "id", file), _data(node, of_nodes, file) | _label(node, names)) for node in nodes),
        _edges(edges, of_edges, file),
        names=frozenset({names}),
        unused=_times([*nodes, *edges]),
        undirected=np.array(kinds, object) != "directed",
    )
    return with_joined(made, of_nodes, of_edges)


def _edges(
    edges: list[Element], declared: dict[str, Declared], file: Path
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for edge in edges:
        values = _data(edge, declared, file)
        if edge.get("weight"):
            values["weight"] = typed(edge.get("weight"), "double", f"{file}, weight of an edge")
        yield needed(edge, "source", file), needed(edge, "target", file), values


def _named(declared: dict[str, Declared]) -> str:
    """What to call the label of a node, if there may be an attribute of that name too."""
    return _NAME if all(key.name != _NAME for key in declared.values()) else f"{_NAME} (shown)"


def _label(node: Element, name: str) -> dict[str, Any]:
    label = node.get(_NAME)
    return {name: label} if label else {}


def _declared(graph: Element, domain: str, file: Path) -> dict[str, Declared]:
    """The attributes of nodes or of edges, by the id that values name."""
    groups = (group for group in graph.iter("attributes") if group.get("class") == domain)
    elements = (element for group in groups for element in group.findall("attribute"))
    return declared_by(elements, "title", "type", file)


def _data(element: Element, declared: dict[str, Declared], file: Path) -> dict[str, Any]:
    values = {key.name: key.default for key in declared.values() if key.default is not None}
    seen = set[str]()
    for group in element.findall("attvalues"):
        for value in group.findall("attvalue"):
            ident = value.get("for") or needed(value, "id", file)
            if ident not in declared:
                raise GrandPlusError(f"has a value for {ident}", where=file, expected="an attribute that it declares")
            if ident in seen:
                found = f"has several values of {declared[ident].name} for <{element.tag}> {element.get('id')}"
                raise GrandPlusError(found, where=file, expected="one; values that change with time have no place here")
            seen.add(ident)
            where = f"{file}, {declared[ident].name} of {element.tag} {element.get('id')}"
            values[declared[ident].name] = typed(value.get("value"), declared[ident].type, where)
    return values


def _times(elements: list[Element]) -> tuple[str, ...]:
    held = {name for element in elements for name in _TIMES if element.get(name) or element.find(name) is not None}
    return tuple(f"{name} (a time)" for name in _TIMES if name in held)
