"""A random graph that another program writes, with attributes or as a matrix, is read as that graph, or refused."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_graphs import PLAIN_IDS, RandomGraph, random_graphs, same_graph
from scipy import sparse
from scipy.io import mmwrite, savemat

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


def edge_list(graph: RandomGraph, folder: Path) -> None:
    """With an empty dictionary for each edge."""
    nx.write_edgelist(networkx_of(graph), folder / "g.edgelist", delimiter="\t")
    node_table(graph, folder / "nodes.csv")


def packed(graph: RandomGraph, folder: Path) -> None:
    graphml(graph, folder)
    (folder / "g.graphml").write_bytes(bz2.compress((folder / "g.graphml").read_bytes()))


def pajek_and_table(graph: RandomGraph, folder: Path) -> None:
    bare = nx.MultiGraph(graph.named)
    bare.add_nodes_from(graph.ids)
    nx.write_pajek(bare, folder / "g.net")
    node_table(graph, folder / "nodes.csv")


def counted(graph: RandomGraph) -> RandomGraph:
    """The same graph, whose nodes are called 1, 2, …"""
    return replace(graph, ids=[str(row + 1) for row in range(len(graph.ids))])


def adjacency(graph: RandomGraph, *, symmetric: bool = False) -> sparse.coo_array:
    """An edge that repeats is one entry."""
    nodes, (start, end) = len(graph.ids), np.array(graph.edges).T
    matrix = sparse.coo_array((np.ones(len(start)), (start, end)), shape=(nodes, nodes))
    return ((matrix + matrix.T if symmetric else matrix) > 0).astype(float).tocoo()


def matrix_market(
    graph: RandomGraph, folder: Path, *, kind: str, packed: bool = False, symmetric: bool = False
) -> None:
    """A pattern, or whole numbers, all 1; general or symmetric; packed by gzip."""
    file, matrix = folder / "graph.mtx", adjacency(graph, symmetric=symmetric)
    symmetry = "symmetric" if symmetric else "general"
    mmwrite(file, matrix, comment="of scipy", field=kind, symmetry=symmetry)
    if packed:
        (folder / "graph.mtx.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    node_table(graph, folder / "nodes.csv")


def two_matrices(graph: RandomGraph, folder: Path) -> None:
    """Features as a matrix too."""
    mmwrite(folder / "adj.mtx", adjacency(graph))
    if graph.features is not None:
        mmwrite(folder / "x.mtx", sparse.coo_array(graph.features))
    node_table(replace(graph, features=None), folder / "labels.csv")


def matlab(graph: RandomGraph, folder: Path, *, compressed: bool = False) -> None:
    labels: object = np.array([label or "" for label in graph.labels], object)
    if all(label is None or label.isdecimal() for label in graph.labels):
        labels = np.array([[-1.0 if label is None else float(label)] for label in graph.labels])
    features = {} if graph.features is None else {"X": graph.features}
    arrays = {"network": sparse.csc_array(adjacency(graph)), "group": labels, "note": "of scipy", **features}
    savemat(folder / "g.mat", arrays, do_compression=compressed)


BY_ROW: dict[str, Callable[[RandomGraph, Path], None]] = {
    "pattern": partial(matrix_market, kind="pattern"),
    "whole numbers, symmetric": partial(matrix_market, kind="integer", symmetric=True),
    "real numbers, packed": partial(matrix_market, kind="real", packed=True),
    "two matrices": two_matrices,
    "matlab": matlab,
    "matlab, compressed": partial(matlab, compressed=True),
}
WRITERS: dict[str, Callable[[RandomGraph, Path], None]] = {
    "gml": gml,
    "graphml": graphml,
    "gexf": gexf,
    "pajek": pajek,
    "node-link": node_link,
    "node-link, edges": lambda graph, folder: node_link(graph, folder, "edges"),
    "adjacency list": adjacency_list,
    "edge list": edge_list,
    "graphml, packed": packed,
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
    beside = writer in ("adjacency list", "edge list", "pajek and a table")
    graph = data.draw(random_graphs([kind for kind in PLAIN_IDS if not (beside and kind == "words of headers")]))
    with tempfile.TemporaryDirectory() as folder:
        WRITERS[writer](graph, Path(folder))
        same_graph(graph, read(Path(folder)))


@pytest.mark.parametrize("writer", BY_ROW)
@settings(max_examples=20)
@given(graph=random_graphs(["positions"]))
def test_nodes_are_the_rows_of_a_matrix(writer, graph):
    with tempfile.TemporaryDirectory() as folder:
        BY_ROW[writer](counted(graph), Path(folder))
        raw = read(Path(folder))
        same_graph(counted(graph), raw)
        assert raw.node_ids.tolist() == list(range(1, raw.nodes + 1))
