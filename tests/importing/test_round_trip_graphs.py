"""A random graph that another program writes, with attributes or as a matrix, is read as that graph, or refused."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_graphs import PLAIN_IDS, RandomGraph, random_graphs, same_graph

from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.recognise import recognise
from grandplus.runtime.errors import GrandPlusError


def networkx_of(graph: RandomGraph, *, text: bool = False, directed: bool = False) -> nx.MultiGraph:
    """With the attributes class and f0, f1, …; a node without a label lacks the former."""
    made = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for row, (name, label) in enumerate(zip(graph.ids, graph.labels, strict=True)):
        values = {} if graph.features is None else {f"f{i}": float(x) for i, x in enumerate(graph.features[row])}
        labelled = {} if label is None else {"class": label}
        made.add_node(name, **labelled, **({key: str(value) for key, value in values.items()} if text else values))
    made.add_edges_from(graph.named)
    return made


def node_table(graph: RandomGraph, file: Path) -> None:
    names = [] if graph.features is None else [f"f{i}" for i in range(graph.features.shape[1])]
    with file.open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        out.writerow(["id", "class", *names])
        for row, (name, label) in enumerate(zip(graph.ids, graph.labels, strict=True)):
            out.writerow([name, label or "", *([] if graph.features is None else graph.features[row])])


def gml(graph: RandomGraph, folder: Path) -> None:
    nx.write_gml(networkx_of(graph), folder / "g.gml")


def graphml(graph: RandomGraph, folder: Path) -> None:
    nx.write_graphml_xml(networkx_of(graph, directed=True), folder / "g.graphml", infer_numeric_types=True)


def gexf(graph: RandomGraph, folder: Path) -> None:
    nx.write_gexf(networkx_of(graph), folder / "g.gexf")


def pajek(graph: RandomGraph, folder: Path) -> None:
    """It takes attributes of text only."""
    nx.write_pajek(networkx_of(graph, text=True), folder / "g.net")


def node_link(graph: RandomGraph, folder: Path, edges: str = "links") -> None:
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(networkx_of(graph, directed=True), edges=edges)))


def adjacency_list(graph: RandomGraph, folder: Path) -> None:
    nx.write_adjlist(networkx_of(graph), folder / "g.adjlist")
    node_table(graph, folder / "nodes.csv")


def pajek_and_table(graph: RandomGraph, folder: Path) -> None:
    bare = nx.MultiGraph(graph.named)
    bare.add_nodes_from(graph.ids)
    nx.write_pajek(bare, folder / "g.net")
    node_table(graph, folder / "nodes.csv")


WRITERS: dict[str, Callable[[RandomGraph, Path], None]] = {
    "gml": gml,
    "graphml": graphml,
    "gexf": gexf,
    "pajek": pajek,
    "node-link": node_link,
    "node-link, edges": lambda graph, folder: node_link(graph, folder, "edges"),
    "adjacency list": adjacency_list,
    "pajek and a table": pajek_and_table,
}


def read(folder: Path, **asked: object) -> RawGraph:
    files = sorted(folder.iterdir())
    form, how = recognise(files, Reading(**asked))
    return read_files(folder, form, [file.name for file in files], Source(format=form, read=how))


@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=40)
@given(data=st.data())
def test_the_same_graph_or_a_refusal(writer, data):
    graph = data.draw(random_graphs())
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[writer](graph, Path(folder))
        try:
            raw = read(Path(folder))
        except GrandPlusError as error:
            event(str(error)[-60:])
            return
    same_graph(graph, raw)


@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=15)
@given(data=st.data())
def test_plain_ids_are_not_refused(writer, data):
    """But for an id that is called like a column of the table beside it."""
    beside = writer in ("adjacency list", "pajek and a table")
    graph = data.draw(random_graphs([kind for kind in PLAIN_IDS if not (beside and kind == "words of headers")]))
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[writer](graph, Path(folder))
        same_graph(graph, read(Path(folder)))
