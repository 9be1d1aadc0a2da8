"""GML, read by networkx: nodes with an ``id``, edges with ``source`` and ``target``, and attributes of both.

The card names the attributes that are the class and the nodes' names under ``source.read``; in most published graphs
these are ``value`` and ``label``. Without ``id`` there, the ids are the file's own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.text import read_text
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".gml"
USUAL_CLASS = "value"
NAME = "label"
_MEMORY = 40  # times the text
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
# networkx refuses repeated edges, which published files have, unless the graph says that it is a multigraph.
_HALF = re.compile("[\ud800-\udfff]")
_GRAPH = re.compile(r'(?m)^((?:[^"#\n]*\s)?graph\s*\[)')


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    if source.read.label is None and len(files) == 1:  # a card by hand may leave out the usual name
        held = parse(folder / files[0]).attributes
        label = {"label": USUAL_CLASS} if USUAL_CLASS in held else {}
        source = source.model_copy(update={"read": source.read.model_copy(update=label)})
    return read_graph(folder, files, source, called(SUFFIX), parse, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .gml, alone or beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    return recognise_graph(files, asked, called(SUFFIX), parse, tables, classes=(USUAL_CLASS,))


def parse(file: Path) -> AttributedGraph:
    """The graph that a file has, with its attributes."""
    import networkx as nx  # here, as it takes long to import

    text = _GRAPH.sub(r"\1 multigraph 1 ", read_text(file, _MEMORY), count=1)
    try:
        graph = nx.parse_gml(_LINE_ENDS.split(text), label="id")
    except (nx.NetworkXError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise GrandPlusError(f"is no readable GML: {error}", where=file) from None
    if "&#" in text:
        _check_whole_text(graph, file)
    nodes = ((str(node), attributes) for node, attributes in graph.nodes(data=True))
    edges = ((str(start), str(end), attributes) for start, end, attributes in graph.edges(data=True))
    return attributed_graph(file, nodes, edges, names=frozenset({NAME}), undirected=not graph.is_directed())


def _check_whole_text(graph: Any, file: Path) -> None:
    """Check that no entity writes half of a character."""
    for node, attributes in graph.nodes(data=True):
        for name, value in attributes.items():
            if isinstance(value, str) and _HALF.search(value):
                found = f"node {node} has half of a character in {name}: {ascii(value)[:40]}"
                raise GrandPlusError(found, where=file, expected="whole text")
