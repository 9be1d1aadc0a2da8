"""GraphML: nodes and edges with attributes that ``<key>`` elements declare, with types and defaults.

The XML is read here, as the reader of networkx adds nodes that no element lists, leaves out defaults and inner graphs,
and expands entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from grandplus.datasets.account import DRAWING
from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.xml import Declared, declared_by, needed, read_xml, the_graph, typed, with_joined
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".graphml"
_DRAWING = "yfiles.type"  # an attribute of yEd's keys: how a node is drawn


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    return read_graph(folder, files, source, called(SUFFIX), parse, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .graphml, alone or beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    return recognise_graph(files, asked, called(SUFFIX), parse, tables)


def parse(file: Path) -> AttributedGraph:
    """The graph that a file has, with its attributes."""
    tree = read_xml(file, "graphml")
    graph = the_graph(tree, file)
    if graph.find(".//hyperedge") is not None:
        raise GrandPlusError("holds edges of more than two nodes (hyperedge)", where=file, expected="pairs of nodes")
    of_nodes, of_edges, drawn = _keys(tree, "node", file), _keys(tree, "edge", file), _drawings(tree)
    known = {key.get("id") for key in tree.iter("key")}
    nodes = ((needed(node, "id", file), _data(node, of_nodes, known, file)) for node in graph.iter("node"))
    default = "true" if graph.get("edgedefault") == "directed" else "false"
    undirected = np.array([edge.get("directed", default) == "false" for edge in graph.iter("edge")], bool)
    made = attributed_graph(file, nodes, _edges(graph, of_edges, known, file), unused=drawn, undirected=undirected)
    return with_joined(made, of_nodes, of_edges)


def _edges(
    graph: Element, keys: dict[str, Declared], known: set[str | None], file: Path
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for edge in graph.iter("edge"):
        yield needed(edge, "source", file), needed(edge, "target", file), _data(edge, keys, known, file)


def _keys(tree: Element, domain: str, file: Path) -> dict[str, Declared]:
    """The attributes of nodes or of edges, by the id of the key."""
    keys = (key for key in tree.iter("key") if key.get("for", "all") in (domain, "all") and not key.get(_DRAWING))
    return declared_by(keys, "attr.name", "attr.type", file)


def _drawings(tree: Element) -> tuple[str, ...]:
    return tuple(sorted({f"{kind}{DRAWING}" for key in tree.iter("key") if (kind := key.get(_DRAWING))}))


def _data(element: Element, keys: dict[str, Declared], known: set[str | None], file: Path) -> dict[str, Any]:
    values = {key.name: key.default for key in keys.values() if key.default is not None}
    seen = set[str]()
    for data in element.findall("data"):
        ident = needed(data, "key", file)
        key, owner = keys.get(ident), element.get("id") or f"{element.get('source')} to {element.get('target')}"
        if ident not in known:
            found = f"{element.tag} {owner} has a value for {ident}"
            raise GrandPlusError(found, where=file, expected="a key that it declares")
        if key is not None and ident in seen:
            raise GrandPlusError(f"{element.tag} {owner} has two values of {key.name}", where=file, expected="one")
        seen.add(ident)
        if key is not None and not len(data):  # a key of others, or a drawing
            values[key.name] = typed(data.text, key.type, f"{file}, {key.name} of {element.tag} {owner}")
    return values
