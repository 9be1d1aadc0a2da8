"""Weights of edges, and which edges have a direction, as each format has them."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from grandplus.datasets.preprocess import graph_of
from grandplus.datasets.raw import read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.recognise import recognise
from grandplus.runtime.errors import GrandPlusError

#   0 → 1 (2.5), 1 → 0 (0.5), 1 → 2 (3), 2 → 3 (1), 0 → 0 (4), 3 → 0 (0: no edge)
ENTRIES = [(0, 1, 2.5), (1, 0, 0.5), (1, 2, 3.0), (2, 3, 1.0), (0, 0, 4.0), (3, 0, 0.0)]
DIRECTED = np.array([[4, 2.5, 0, 0], [0.5, 1, 3, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
SYMMETRIC = np.array([[4, 2.5, 0, 0], [2.5, 1, 3, 0], [0, 3, 1, 1], [0, 0, 1, 1]])
LABELS = ["x", "x", "y", "y"]


def labels_table(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(LABELS)))


def table(folder: Path, text: str) -> Reading:
    (folder / "edges.csv").write_text(text)
    labels_table(folder)
    return Reading()


def csv(folder):
    return table(folder, "source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in ENTRIES))


def csv_with_dates(folder):
    return table(folder, "weight,date,u,v\n" + "".join(f"{w},2020-01-0{v + 1},{u},{v}\n" for u, v, w in ENTRIES))


def csv_of_another_name(folder):
    reading = table(folder, "source,target,how much,year\n" + "".join(f"{u},{v},{w},2020\n" for u, v, w in ENTRIES))
    return reading.model_copy(update={"weight": "how much"})


def csv_without_header(folder):
    return table(folder, "".join(f"{u} {v} {w}\n" for u, v, w in ENTRIES))


def csv_with_decimal_commas(folder):
    rows = (f"{u};{v};{str(w).replace('.', ',')}\n" for u, v, w in ENTRIES)
    return table(folder, "source;target;weight\n" + "".join(rows))


def csv_with_lines_that_are_no_edges(folder):
    lines = [f"{u},{v},{w}\n" for u, v, w in ENTRIES]
    return table(folder, "source,target,weight\n" + "".join([*lines[:2], "0,,heavy\n", *lines[2:]]))


def parquet(folder):
    starts, ends, weights = map(list, zip(*ENTRIES, strict=True))
    pq.write_table(pa.table({"source": starts, "target": ends, "weight": weights}), folder / "edges.parquet")
    labels_table(folder)
    return Reading()


def digraph(kind=nx.DiGraph):
    graph = kind()
    for node, label in enumerate(LABELS):
        graph.add_node(node, label=label, size=node)
    graph.add_weighted_edges_from(ENTRIES)
    return graph


def graphml(folder):
    nx.write_graphml(digraph(), folder / "g.graphml")
    return Reading(label="label")


def gexf(folder):
    nx.write_gexf(digraph(), folder / "g.gexf")
    return Reading(label="label")


def gml(folder):
    graph = digraph()
    for node in graph:
        graph.nodes[node]["value"] = graph.nodes[node].pop("label")
    nx.write_gml(graph, folder / "g.gml")
    return Reading(label="value")


def node_link(folder):
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(digraph(), edges="links")))
    return Reading(label="label")


def pajek(folder):
    lines = [
        "*Vertices 4",
        *(f'{i + 1} "{i}"' for i in range(4)),
        "*Arcs",
        *(f"{u + 1} {v + 1} {w}" for u, v, w in ENTRIES),
    ]
    (folder / "g.net").write_text("\n".join(lines))
    (folder / "g.clu").write_text("*Vertices 4\n" + "\n".join(LABELS))
    return Reading()


def matrix_market(folder):
    starts, ends, weights = map(np.array, zip(*ENTRIES, strict=True))
    scipy.io.mmwrite(folder / "g.mtx", sp.coo_array((weights, (starts, ends)), (4, 4)), symmetry="general")
    (folder / "nodes.csv").write_text("id,label\n" + "".join(f"{i + 1},{label}\n" for i, label in enumerate(LABELS)))
    return Reading()


def csr_npz(folder):
    starts, ends, weights = map(np.array, zip(*ENTRIES, strict=True))
    matrix = sp.coo_matrix((weights, (starts, ends)), (4, 4)).tocsr()
    numbers = np.array([0, 0, 1, 1])
    parts = {"adj_data": matrix.data, "adj_indices": matrix.indices, "adj_indptr": matrix.indptr, "adj_shape": (4, 4)}
    np.savez(folder / "g.npz", labels=numbers, **parts)
    return Reading()


def edges_npz(folder):
    starts, ends, weights = zip(*ENTRIES, strict=True)
    np.savez(folder / "g.npz", edges=np.array([starts, ends]).T, node_labels=np.array(LABELS), edge_weights=weights)
    return Reading()


def pytorch(folder):
    import torch

    starts, ends, weights = zip(*ENTRIES, strict=True)
    held = {"edge_index": torch.tensor([starts, ends]), "edge_attr": torch.tensor(weights)[:, None]}
    torch.save(held | {"y": torch.tensor([0, 0, 1, 1])}, folder / "g.pt")
    return Reading()


def ogb(folder):
    (folder / "edge.csv").write_text("".join(f"{u},{v}\n" for u, v, _ in ENTRIES))
    (folder / "edge-feat.csv").write_text("".join(f"{w}\n" for *_, w in ENTRIES))
    (folder / "node-label.csv").write_text("0\n0\n1\n1\n")
    (folder / "num-node-list.csv").write_text("4\n")
    (folder / "num-edge-list.csv").write_text("6\n")
    return Reading()


def dgl_csv(folder):
    (folder / "meta.yaml").write_text(
        "dataset_name: g\nedge_data:\n- file_name: edges.csv\nnode_data:\n- file_name: nodes.csv\n"
    )
    (folder / "edges.csv").write_text("src_id,dst_id,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in ENTRIES))
    (folder / "nodes.csv").write_text("node_id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(LABELS)))
    return Reading()


WRITERS = [
    csv, csv_with_dates, csv_of_another_name, csv_without_header, csv_with_decimal_commas,
    csv_with_lines_that_are_no_edges, parquet, graphml, gexf, gml, node_link, pajek, matrix_market, csr_npz,
    edges_npz, pytorch, ogb, dgl_csv,
]  # fmt: skip
formats = pytest.mark.parametrize("write", WRITERS, ids=[write.__name__ for write in WRITERS])


def read(folder: Path, asked: Reading):
    files = sorted(folder.iterdir())
    file_format, how = recognise(files, asked, None)
    return read_files(folder, file_format, [file.name for file in files], Source(format=file_format, read=how))


def dense(raw, direction: str) -> np.ndarray:
    """W̃ of the graph, by the numbers in its ids, from 0."""
    adjacency = graph_of(raw, "degree", direction=direction).adjacency
    n, of = adjacency.nodes, adjacency.weights
    entries, loops = (np.ones(len(adjacency.indices)), np.ones(n)) if of is None else (of.entries, of.loops)
    return sp.csr_array((entries, adjacency.indices, adjacency.indptr), shape=(n, n)).toarray() + np.diag(loops)


@formats
def test_weights_are_used(tmp_path, write):
    raw = read(tmp_path, write(tmp_path).model_copy(update={"weights": "use"}))
    assert (dense(raw, "both") == SYMMETRIC).all()
    assert (dense(raw, "out") == DIRECTED).all()
    assert (dense(raw, "in") == DIRECTED.T).all()
    assert not any("weight" in column for column in raw.account.unused)


@formats
def test_weights_are_left_out(tmp_path, write):
    raw = read(tmp_path, write(tmp_path).model_copy(update={"weights": "ignore", "weight": None}))
    assert raw.weights is None
    assert set(np.unique(dense(raw, "both"))) == {0, 1}


@formats
def test_weights_are_refused_where_nothing_is_said(tmp_path, write):
    asked = write(tmp_path)
    with pytest.raises(GrandPlusError, match=r"--weights use, or with --weights ignore"):
        read(tmp_path, asked)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "source,target,weight\n0,1,2\n1,2,-3\n",
            r"edges\.csv, column weight: line 3 is '-3'; expected a number of at",
        ),
        (
            "source,target,weight\n0,1,2\n\n1,2,heavy\n",
            r"column weight: line 4 is 'heavy'; expected a number of at least",
        ),
        ("source,target,weight\n0,1,2\n1,2,\n", r"column weight: line 3 is ''; expected a number of at least 0"),
        (
            "source,target,weight,count\n0,1,2,1\n1,2,3,1\n",
            r"several columns of edges that may be the weights: weight, count",
        ),
        ("source,target\n0,1\n1,2\n", r"has no weights of edges; expected weights, which are to be used"),
        (
            "source,target,weight\n0,1,2\n1,2,1e39\n",
            r"column weight: edge 2 has weight 1e\+39; expected 0, for no edge",
        ),
    ],
)
def test_bad_weights_of_tables_are_told_with_their_line(tmp_path, text, words):
    table(tmp_path, text)
    with pytest.raises(GrandPlusError, match=words):
        read(tmp_path, Reading(weights="use"))


def test_bad_weights_of_attributes_are_told_with_their_edge(tmp_path):
    graph = digraph()
    graph[1][2]["weight"] = -3.0
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(GrandPlusError, match=r"has weight -3\.0 on the edge of '1' and '2'; expected a number of at"):
        read(tmp_path, Reading(label="label", weights="use"))


def test_one_of_several_attributes_is_named(tmp_path):
    graph = digraph()
    nx.set_edge_attributes(graph, 7.0, "value")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(GrandPlusError, match="several columns of edges that may be the weights: weight, value"):
        read(tmp_path, Reading(label="label", weights="use"))
    raw = read(tmp_path, Reading(label="label", weights="use", weight="value"))
    assert set(raw.weights.tolist()) == {7.0}
    with pytest.raises(GrandPlusError, match="has no attribute mass of edges; expected one of weight, value"):
        read(tmp_path, Reading(label="label", weights="use", weight="mass"))


def mixed_gexf(folder):
    (folder / "g.gexf").write_text(
        '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="directed"><attributes '
        'class="node"><attribute id="0" title="label" type="string"/></attributes><nodes>'
        + "".join(
            f'<node id="{i}"><attvalues><attvalue for="0" value="{label}"/></attvalues></node>'
            for i, label in enumerate(LABELS)
        )
        + '</nodes><edges><edge id="0" source="0" target="1"/><edge id="1" source="2" target="3" type="undirected"/>'
        "</edges></graph></gexf>"
    )
    return Reading(label="label")


def mixed_graphml(folder):
    nodes = "".join(f'<node id="{i}"><data key="k">{label}</data></node>' for i, label in enumerate(LABELS))
    (folder / "g.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="k" for="node" attr.name="label" '
        f'attr.type="string"/><graph edgedefault="directed">{nodes}<edge source="0" target="1"/>'
        '<edge source="2" target="3" directed="false"/></graph></graphml>'
    )
    return Reading(label="label")


def mixed_pajek(folder):
    lines = ["*Vertices 4", *(f'{i + 1} "{i}"' for i in range(4)), "*Arcs", "1 2", "*Edges", "3 4"]
    (folder / "g.net").write_text("\n".join(lines))
    (folder / "g.clu").write_text("*Vertices 4\n" + "\n".join(LABELS))
    return Reading()


@pytest.mark.parametrize("write", [mixed_gexf, mixed_graphml, mixed_pajek])
def test_edges_without_a_direction_are_followed_both_ways(tmp_path, write):
    raw = read(tmp_path, write(tmp_path))
    expected = np.eye(4)
    expected[0, 1] = expected[2, 3] = expected[3, 2] = 1
    assert (dense(raw, "out") == expected).all()
    assert (dense(raw, "in") == expected.T).all()


def undirected(write):
    def written(folder):
        write(digraph(nx.Graph), folder)
        return Reading(label="label", weights="ignore")

    return written


@pytest.mark.parametrize(
    "write",
    [
        undirected(lambda graph, folder: nx.write_graphml(graph, folder / "g.graphml")),
        undirected(lambda graph, folder: nx.write_gexf(graph, folder / "g.gexf")),
        undirected(
            lambda graph, folder: (folder / "g.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
        ),
    ],
    ids=["graphml", "gexf", "node-link"],
)
def test_a_direction_of_edges_that_have_none_is_refused(tmp_path, write):
    raw = read(tmp_path, write(tmp_path))
    with pytest.raises(GrandPlusError, match="direction is out, and the graph says that none of its edges has one"):
        dense(raw, "out")
    assert dense(raw, "both").sum() == 4 + 2 * 4


def test_a_symmetric_matrix_has_no_direction(tmp_path):
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.coo_array(SYMMETRIC - np.eye(4)), symmetry="symmetric")
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"{i + 1},{label}\n" for i, label in enumerate(LABELS)))
    raw = read(tmp_path, Reading(weights="use"))
    assert (dense(raw, "both") == SYMMETRIC - np.diag([1, 0, 0, 0])).all()
    with pytest.raises(GrandPlusError, match="the graph says that none of its edges has one"):
        dense(raw, "in")


def test_an_edge_without_a_weight_is_refused(tmp_path):
    graph = digraph()
    del graph[1][2]["weight"]
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(
        GrandPlusError, match="has no weight on the edge of '1' and '2'; expected a number of at least 0"
    ):
        read(tmp_path, Reading(label="label", weights="use"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Reading(weights="use", weight="target"), "column target holds an end of edges, and is named as their weights"),
        (Reading(weights="ignore", weight="weight"), "weight is weight, and weights are not used; say --weights use"),
    ],
)
def test_a_column_that_can_not_be_the_weights_is_refused(tmp_path, asked, words):
    csv(tmp_path)
    with pytest.raises(GrandPlusError, match=words):
        read(tmp_path, asked)


@pytest.mark.parametrize("write", [edges_npz, csr_npz])
def test_a_name_is_refused_where_weights_have_none(tmp_path, write):
    write(tmp_path)
    with pytest.raises(GrandPlusError, match="holds all weights, and foo is named; leave --weight out"):
        read(tmp_path, Reading(weights="use", weight="foo"))


def test_the_reading_keeps_the_name_of_the_weights(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "graph").mkdir()
    table(tmp_path / "tables", "source,target,foo\n0,1,2\n1,2,3\n")
    graphml(tmp_path / "graph")
    asked = {"tables": Reading(weights="use"), "graph": Reading(label="label", weights="use")}
    found = {name: recognise(sorted((tmp_path / name).iterdir()), how, None)[1].weight for name, how in asked.items()}
    assert found == {"tables": "foo", "graph": "weight"}


def test_columns_of_float16_are_read(tmp_path):
    starts, ends, weights = map(list, zip(*ENTRIES, strict=True))
    columns = {"source": starts, "target": ends, "weight": pa.array(np.array(weights, np.float16))}
    pq.write_table(pa.table(columns), tmp_path / "edges.parquet")
    labels_table(tmp_path)
    assert (dense(read(tmp_path, Reading(weights="use")), "both") == SYMMETRIC).all()
