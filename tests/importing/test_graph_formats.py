"""Graphs with attributes and matrices, as other programs write them: what is read, and from import to a result."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from own import EDGES, FEW, LABELS, NODES, edges_csv, nodes_csv, ring, run_import
from scipy import sparse
from scipy.io import mmwrite, savemat

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import RawGraph, read, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.recognise import recognise
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

CASES = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "cases"
HEIGHTS = np.arange(NODES) / 2


def raw(folder: Path, *files: str, **asked: object) -> RawGraph:
    form, how = recognise([folder / name for name in files], Reading(**asked))
    return read_files(folder, form, sorted(files), Source(format=form, read=how))


def zstd(content: bytes) -> bytes:
    return pa.compress(content, "zstd", asbytes=True)


def people() -> nx.Graph:
    """The ring, whose nodes have names, a club, and a height."""
    graph = nx.Graph([(f"p{u}", f"p{v}") for u, v in EDGES])
    for i, label in enumerate(LABELS):
        graph.add_node(f"p{i}", club=label, height=float(HEIGHTS[i]))
    return graph


def check(graph: RawGraph, names: list[object]) -> None:
    """It is the ring, with its classes and heights."""
    place = {name: i for i, name in enumerate(names)}
    order = [place[name] for name in graph.node_ids.tolist()]
    ends = [sorted(order[end] for end in edge) for edge in graph.edges.T.tolist()]
    assert sorted(ends) == sorted(map(sorted, EDGES))
    assert [graph.classes[label] for label in graph.labels] == [LABELS[i] for i in order]
    features = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    np.testing.assert_array_equal(features[:, 0], HEIGHTS[order])


NETWORKX: dict[str, Callable[[nx.Graph, Path], None]] = {
    "g.gml": nx.write_gml,
    "g.graphml": nx.write_graphml_xml,
    "g.gexf": nx.write_gexf,
    "g.json": lambda graph, file: file.write_text(json.dumps(nx.node_link_data(graph, edges="edges"))),
}


@pytest.mark.parametrize("file", NETWORKX)
def test_graphs_of_networkx(tmp_path, file):
    NETWORKX[file](people(), tmp_path / file)
    graph = raw(tmp_path, file, label="club")
    check(graph, [f"p{i}" for i in range(NODES)])
    assert graph.feature_names == ["height"]
    assert [(entry.file, entry.read, entry.kind) for entry in graph.account.files] == [
        (file, NODES, "nodes"), (file, NODES, "edges"),
    ]  # fmt: skip


@pytest.mark.parametrize("file", ["g.graphml", "g.gexf"])
def test_an_attribute_of_numbers_and_text_is_one(tmp_path, file):
    """networkx declares it once for each type: a missing value is the number NaN beside text."""
    graph = people()
    for i in range(NODES):
        graph.nodes[f"p{i}"].update(club=float("nan") if i == 5 else LABELS[i], age=i if i % 2 else i / 4)
    for i, edge in enumerate(graph.edges):
        graph.edges[edge]["weight"] = 1 if i % 2 else 1.0
    if file == "g.gexf":  # networkx declares two, and gives all values the first
        declared = "".join(
            f'<attribute id="{i}" title="club" type="{kind}"/>' for i, kind in enumerate(("string", "double"))
        )
        row = '<node id="{0}"><attvalues><attvalue for="{1}" value="{2}"/></attvalues></node>'
        nodes = "".join(row.format(f"p{i}", int(i == 5), "NaN" if i == 5 else LABELS[i]) for i in range(NODES))
        edges = "".join(f'<edge source="p{u}" target="p{v}"/>' for u, v in EDGES)
        content = f'<attributes class="node">{declared}</attributes><nodes>{nodes}</nodes><edges>{edges}</edges>'
        (tmp_path / file).write_text(f"<gexf><graph>{content}</graph></gexf>")
    else:
        NETWORKX[file](graph, tmp_path / file)
    found = raw(tmp_path, file, label="club")
    by_id = dict(zip(found.node_ids.tolist(), found.labels.tolist(), strict=True))
    named = {name: None if label < 0 else found.classes[label] for name, label in by_id.items()}
    assert named == {f"p{i}": None if i == 5 else LABELS[i] for i in range(NODES)}
    if file == "g.graphml":
        assert found.feature_names == ["height", "age"]
        assert found.account.unused == (f"{file}: weight (of edges)",)


def test_weights_of_two_types_are_seen(tmp_path):
    graph = people()
    for i, edge in enumerate(graph.edges):
        graph.edges[edge]["weight"] = 1 if i else 2.5
    nx.write_graphml_xml(graph, tmp_path / "g.graphml")
    with pytest.raises(GrandPlusError, match=r"has weight 2\.5 on the edge of 'p0' and 'p1'"):
        raw(tmp_path, "g.graphml", label="club")


def test_attributes_of_one_name_that_a_node_has_both_of_stay_two(tmp_path):
    keys = "".join(f'<key id="d{i}" for="node" attr.name="x" attr.type="double"/>' for i in range(2))
    keys += '<key id="c" for="node" attr.name="class" attr.type="string"/>'
    row = '<node id="n{0}"><data key="c">{1}</data><data key="d0">{0}</data><data key="d1">7</data></node>'
    nodes = "".join(row.format(i, LABELS[i]) for i in range(NODES))
    edges = "".join(f'<edge source="n{u}" target="n{v}"/>' for u, v in EDGES)
    (tmp_path / "g.graphml").write_text(f"<graphml>{keys}<graph>{nodes}{edges}</graph></graphml>")
    assert raw(tmp_path, "g.graphml").feature_names == ["x", "x (d1)"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
@pytest.mark.parametrize("name", ["{}", "{}.gz", "{}.ZST"])
@pytest.mark.parametrize("file", NETWORKX)
def test_compressed_graphs(tmp_path, file, name, pack):
    """The first bytes tell, whatever the name says."""
    NETWORKX[file](people(), tmp_path / "plain")
    packed = name.format(file)
    (tmp_path / packed).write_bytes(pack((tmp_path / "plain").read_bytes()))
    check(raw(tmp_path, packed, label="club"), [f"p{i}" for i in range(NODES)])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("file", ["g.gml", "g.json"])
def test_graphs_in_other_encodings(tmp_path, file, encoding):
    NETWORKX[file](people(), tmp_path / file)
    (tmp_path / file).write_bytes((tmp_path / file).read_text(encoding="utf-8").encode(encoding))
    check(raw(tmp_path, file, label="club"), [f"p{i}" for i in range(NODES)])


@pytest.mark.parametrize("file", NETWORKX)
def test_a_class_of_another_name_is_asked_for(tmp_path, file):
    NETWORKX[file](people(), tmp_path / file)
    with pytest.raises(GrandPlusError, match="none of which is called label or class; say --label club"):
        raw(tmp_path, file)


def test_polbooks_is_the_graph_that_an_older_card_reads():
    """Whose nodes had the numbers of the file as ids, and their order."""
    if not CASES.is_dir():
        pytest.skip(f"{CASES} is not there")
    folder = CASES / "gml_polbooks"
    older = read_files(folder, "gml", ["polbooks.gml"], Source(format="gml", read=Reading(label="value")))
    assert older.node_ids.tolist() == list(range(105))
    given = nx.read_gml(folder / "polbooks.gml", label="id")
    assert older.edges.T.tolist() == [list(edge) for edge in given.edges()]
    assert [older.classes[label] for label in older.labels] == [given.nodes[i]["value"] for i in range(105)]
    assert older.features is None
    newer = raw(folder, "polbooks.gml")
    titles = nx.read_gml(folder / "polbooks.gml")
    assert newer.node_ids.tolist() == sorted(titles)
    named = newer.node_ids[newer.edges]
    assert {frozenset(edge) for edge in named.T.tolist()} == {frozenset(edge) for edge in titles.edges()}


def test_defaults_and_nested_graphs_of_graphml(tmp_path):
    (tmp_path / "g.graphml").write_text(
        """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="c" for="node" attr.name="class"><default>b</default></key>
        <key id="d" for="node" yfiles.type="nodegraphics"/>
        <graph><node id="n0"><data key="c">a</data><data key="d"><x/></data>
        <graph><node id="n0::n1"/><edge source="n0" target="n0::n1"/></graph></node><node id="n2"/></graph></graphml>"""
    )
    graph = raw(tmp_path, "g.graphml")
    assert graph.node_ids.tolist() == ["n0", "n0::n1", "n2"]
    assert [graph.classes[label] for label in graph.labels] == ["a", "b", "b"]
    assert graph.edges.tolist() == [[0], [1]]
    assert graph.account.unused == ("g.graphml: nodegraphics (drawing)",)


def test_names_in_place_of_numbers(tmp_path):
    """As igraph writes GraphML."""
    nodes = "".join(
        f'<node id="n{i}"><data key="v">p{i}</data><data key="c">{c}</data></node>' for i, c in enumerate("aba")
    )
    keys = '<key id="v" for="node" attr.name="name" attr.type="string"/><key id="c" for="node" attr.name="class"/>'
    (tmp_path / "g.graphml").write_text(
        f'<graphml>{keys}<graph>{nodes}<edge source="n0" target="n2"/></graph></graphml>'
    )
    graph = raw(tmp_path, "g.graphml")
    assert graph.node_ids[graph.edges].tolist() == [["p0"], ["p2"]]
    assert raw(tmp_path, "g.graphml", id="id").node_ids.tolist() == ["n0", "n1", "n2"]


@pytest.mark.parametrize("by", ["position", "name"])
def test_json_of_d3(tmp_path, by):
    """Whose nodes have no ids."""
    nodes = [{"name": f"p{i}", "class": label, "height": HEIGHTS[i]} for i, label in enumerate(LABELS)]
    links = [
        {"source": u, "target": v} if by == "position" else {"source": f"p{u}", "target": f"p{v}"} for u, v in EDGES
    ]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    check(raw(tmp_path, "g.json"), [f"p{i}" for i in range(NODES)])


def test_lists_in_json_are_features(tmp_path):
    nodes = [{"id": i, "class": label, "x": [HEIGHTS[i], 1]} for i, label in enumerate(LABELS)]
    links = [{"source": u, "target": v} for u, v in EDGES]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": nodes, "edges": links}))
    graph = raw(tmp_path, "g.json")
    check(graph, list(range(NODES)))
    assert graph.feature_names == ["x 0", "x 1"]


def test_json_of_features_is_no_graph(tmp_path):
    """As MUSAE has it."""
    (tmp_path / "x.json").write_text(json.dumps({str(i): [i, 3] for i in range(NODES)}))
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    assert recognise(sorted(tmp_path.iterdir()), Reading())[0] == "tables"


def test_pajek_with_a_partition(tmp_path):
    """As Pajek writes both."""
    vertices = "".join(f' {i + 1} "p {i}"    0.1000    0.2000    0.5000\r\n' for i in range(NODES))
    edges = "".join(f" {u + 1} {v + 1} 1\r\n" for u, v in EDGES)
    (tmp_path / "g.net").write_text(f"*Vertices {NODES}\r\n{vertices}*Arcs\r\n*Edges\r\n{edges}", newline="")
    (tmp_path / "g.clu").write_text(
        f"*Vertices {NODES}\r\n" + "".join(f"{'ab'.index(c)}\r\n" for c in LABELS), newline=""
    )
    graph = raw(tmp_path, "g.net", "g.clu")
    assert graph.node_ids.tolist() == sorted(f"p {i}" for i in range(NODES))
    assert [graph.labels[graph.node_ids.tolist().index(f"p {i}")] for i in range(NODES)] == [0, 1] * 6
    assert graph.edges.shape == (2, NODES)


@pytest.mark.parametrize(
    "body", ["*Arcslist\n1 2 3\n3 1\n", "*Matrix\n0 1 1\n0 0 0\n1 0 0\n", "*Arcs :1 x\n1 2\n1 3\n3 1\n"]
)
def test_other_sections_of_pajek(tmp_path, body):
    (tmp_path / "g.net").write_text(f"% a comment\n*Vertices 3\n{body}")
    (tmp_path / "g.clu").write_text("1\n2\n2\n")
    graph = raw(tmp_path, "g.net", "g.clu")
    assert sorted(graph.edges.T.tolist()) == [[0, 1], [0, 2], [2, 0]]
    assert graph.node_ids.tolist() == [1, 2, 3]
    assert graph.account.files[1].skipped == {"comments": 1}


def test_vertices_of_pajek_that_share_a_name(tmp_path):
    """Are two nodes."""
    (tmp_path / "g.net").write_text('*Vertices 3\n1 "a"\n2 "a"\n3 "b"\n*Edges\n1 2\n2 3\n')
    (tmp_path / "g.clu").write_text("1\n2\n2\n")
    graph = raw(tmp_path, "g.net", "g.clu")
    assert (graph.nodes, graph.node_ids.tolist()) == (3, [1, 2, 3])


def test_matlab_of_facebook100(tmp_path):
    """A class is chosen; the other columns are features, one for each number but 0, which is unknown."""
    info = np.zeros((NODES, 7))
    info[:, 1] = [1, 2, 0] * 4
    info[:, 5] = [2005, 2006] * 6
    info[0, 5] = 0
    savemat(tmp_path / "Penn.mat", {"A": ring().tocsc(), "local_info": info})
    graph = raw(tmp_path, "Penn.mat", label="gender")
    assert graph.classes == ["1", "2"]
    assert graph.labels.tolist() == [0, 1, -1] * 4
    assert graph.feature_names == ["year 2005", "year 2006"]
    assert graph.features.toarray().tolist()[:3] == [[0, 0], [0, 1], [1, 0]]
    assert graph.edges.shape == (2, NODES)
    np.testing.assert_array_equal(raw(tmp_path, "Penn.mat", label=2).labels, graph.labels)


def test_matlab_one_hot_and_named(tmp_path):
    """And a second matrix, which isn't called as adjacencies are."""
    hot = np.eye(2)[[0, 1] * 6]
    arrays = {"PAP": ring().tocsc(), "PLP": ring().T.tocsc(), "feature": HEIGHTS[:, None], "label": hot}
    savemat(tmp_path / "acm.mat", arrays, do_compression=True)
    graph = raw(tmp_path, "acm.mat", edges="PAP")
    assert graph.labels.tolist() == [0, 1] * 6
    assert graph.node_ids.tolist() == list(range(1, NODES + 1))
    np.testing.assert_array_equal(graph.features[:, 0], HEIGHTS)
    assert graph.account.unused == ("acm.mat: PLP",)


def test_matlab_of_suitesparse_beside_a_table(tmp_path):
    savemat(tmp_path / "g.mat", {"Problem": {"A": ring().tocsc(), "name": "ring"}})
    lines = [f"{i + 1},{LABELS[i]},{HEIGHTS[i]}" for i in range(NODES)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,height", *lines]))
    check(raw(tmp_path, "g.mat", "nodes.csv"), list(range(1, NODES + 1)))


def test_a_label_a_line_beside_a_matrix(tmp_path):
    mmwrite(tmp_path / "g.mtx", ring())
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    np.save(tmp_path / "x.npy", HEIGHTS[:, None])
    check(raw(tmp_path, "g.mtx", "labels.txt", "x.npy", id="none"), list(range(1, NODES + 1)))


def test_explicit_zeros_are_counted(tmp_path):
    matrix = ring().tocoo()
    matrix.data[0] = 0
    mmwrite(tmp_path / "g.mtx", matrix)
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label", *(f"{i + 1},{LABELS[i]}" for i in range(NODES))]))
    graph = raw(tmp_path, "g.mtx", "nodes.csv")
    assert graph.account.dropped == {"entries of 0": 1}
    assert graph.edges.shape == (2, NODES - 1)


def test_strict_heeds_attributes(tmp_path, monkeypatch, capsys, checkout):
    """What is not used is refused, unless an option says so."""
    graph = people()
    nx.set_node_attributes(graph, {f"p{i}": f"street {i % 3}" for i in range(NODES)}, "street")
    nx.set_edge_attributes(graph, 2.0, "weight")
    nx.write_graphml_xml(graph, tmp_path / "g.graphml")
    given = [tmp_path / "g.graphml", *FEW, "--label", "club", "--weights", "ignore"]
    assert run_import(monkeypatch, checkout, "mine", *given, "--strict") == 2
    assert "left out or merged: column g.graphml: street (text); expected nothing" in capsys.readouterr().err
    assert run_import(monkeypatch, checkout, "mine", *given, "--ignore", "street", "--strict") == 0
    assert "unused    g.graphml: street (text), g.graphml: weight (of edges)\n" in capsys.readouterr().out


# --- From import to a result ------------------------------------------------------------------

PEOPLE = 24
CLUBS = ["no", "yes"] * (PEOPLE // 2)  # which R writes without harm, and a spreadsheet too
AGES = np.arange(PEOPLE) % 7 + 20.5 + 10 * np.array([club == "yes" for club in CLUBS])
# Each knows the next two of the same club, and one pair is of both.
FRIENDS = [(i, (i + step) % PEOPLE) for i in range(PEOPLE) for step in (2, 4)] + [(0, 1)]


def clubs() -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from((f"p{i}", {"class": CLUBS[i], "age": float(AGES[i])}) for i in range(PEOPLE))
    graph.add_edges_from((f"p{u}", f"p{v}") for u, v in FRIENDS)
    return graph


def tables(mark: str, decimal: str = ".", quote: str = "", index: bool = False) -> tuple[str, str]:
    """Edges and nodes in a dialect of CSV; an index is that of R: numbers as text, below an empty name."""

    def line(number: int, *cells: object) -> str:
        quoted = [
            f"{quote}{cell}{quote}" if isinstance(cell, str) else str(cell).replace(".", decimal) for cell in cells
        ]
        return mark.join([*([f"{quote}{number or ''}{quote}"] if index else []), *quoted])

    edges = [line(0, "from", "to"), *(line(n, f"p{u}", f"p{v}") for n, (u, v) in enumerate(FRIENDS, 1))]
    nodes = [line(0, "id", "club", "age"), *(line(i + 1, f"p{i}", CLUBS[i], AGES[i]) for i in range(PEOPLE))]
    return "\n".join([*edges, ""]), "\n".join([*nodes, ""])


def text(folder: Path, edges: str, nodes: str) -> None:
    (folder / "edges.csv").write_bytes(edges.encode())
    (folder / "nodes.csv").write_bytes(nodes.encode())


def frames(folder: Path, library: str, ending: str) -> None:
    """As pandas or Polars writes them."""
    module = pytest.importorskip(library)
    edges = {"src": [f"p{u}" for u, _ in FRIENDS], "dst": [f"p{v}" for _, v in FRIENDS]}
    nodes = {"id": [f"p{i}" for i in range(PEOPLE)], "label": CLUBS, "age": AGES}
    for name, columns in (("edges", edges), ("nodes", nodes)):
        frame = module.DataFrame(columns)
        method = f"{'write' if library == 'polars' else 'to'}_{ending}"
        getattr(frame, method)(folder / f"{name}.{ending}")


def matrices(folder: Path) -> None:
    numbers = np.array(FRIENDS).T
    matrix = sparse.coo_array((np.ones(len(FRIENDS)), tuple(numbers)), shape=(PEOPLE, PEOPLE))
    mmwrite(folder / "adj.mtx", matrix)
    (folder / "nodes.csv").write_text(tables(",")[1].replace("\np", "\n").replace("\n0,", f"\n{PEOPLE},"))


def mat(folder: Path) -> None:
    matrix = sparse.lil_array((PEOPLE, PEOPLE))
    matrix[tuple(np.array(FRIENDS).T)] = 1
    gnd = np.array([[CLUBS.index(club) + 1] for club in CLUBS], np.uint8)
    savemat(folder / "g.mat", {"fea": AGES[:, None], "A": matrix.tocsc(), "gnd": gnd}, do_compression=True)


def adjacency_list(folder: Path) -> None:
    nx.write_adjlist(clubs(), folder / "g.adjlist")
    (folder / "nodes.csv").write_text(tables(",")[1])


def edge_list(folder: Path) -> None:
    nx.write_edgelist(clubs(), folder / "g.edgelist")
    (folder / "nodes.csv").write_text(tables(",")[1])


def pajek(folder: Path) -> None:
    """It takes attributes of text only."""
    graph = clubs()
    for _, attributes in graph.nodes(data=True):
        attributes["age"] = str(attributes["age"])
    nx.write_pajek(graph, folder / "g.net")


def igraph(folder: Path) -> None:
    library = pytest.importorskip("igraph")
    graph = library.Graph(n=PEOPLE, edges=FRIENDS)
    graph.vs["name"], graph.vs["class"], graph.vs["age"] = [f"p{i}" for i in range(PEOPLE)], CLUBS, AGES.tolist()
    graph.write_graphml(str(folder / "g.graphml"))


WRITTEN: dict[str, Callable[[Path], None]] = {
    **{f"networkx, {file}": lambda folder, file=file: NETWORKX[file](clubs(), folder / file) for file in NETWORKX},
    "networkx, Pajek": pajek,
    "networkx, adjacency list": adjacency_list,
    "networkx, edge list": edge_list,
    "igraph, GraphML": igraph,
    "scipy, MatrixMarket": matrices,
    "scipy, MATLAB": mat,
    "R, write.csv": lambda folder: text(folder, *tables(",", quote='"', index=True)),
    "LibreOffice, German": lambda folder: text(folder, *tables(";", ",")),
    "Excel": lambda folder: text(folder, *(f"\ufeff{table}".replace("\n", "\r\n") for table in tables(";", ","))),
    **{f"{library}, {ending}": lambda folder, library=library, ending=ending: frames(folder, library, ending)
       for library in ("pandas", "polars") for ending in ("csv", "parquet")},
}  # fmt: skip


def accuracy(checkout: Path, folder: Path) -> float:
    """Of test nodes, after training by the imported card."""
    settings = load_settings(checkout, dataset="mine", model="sgc", matrix="ppr", trials=1, train={})
    folder.mkdir()
    fetch(settings.source, folder, catalog=checkout / CATALOG, report=lambda _: None)
    graph, splits = make_graph(read(folder, settings.source, checkout / CATALOG), settings)
    assert graph.facts["edges"] == len(FRIENDS)
    assert graph.features.shape == (PEOPLE, 1)
    trained = method_of("sgc").fit(Task(graph, splits.of(0), None, seed=[0, 0]), settings.train)
    right = trained.model.predict_proba(graph).argmax(axis=1) == graph.labels
    return float(right[splits.of(0).test].mean())


@pytest.mark.parametrize("program", WRITTEN)
def test_from_import_to_a_result(tmp_path, monkeypatch, capsys, checkout, program):
    files = tmp_path / "files"
    files.mkdir()
    WRITTEN[program](files)
    assert run_import(monkeypatch, checkout, "mine", *sorted(files.iterdir()), *FEW) == 0, capsys.readouterr()
    assert accuracy(checkout, tmp_path / "raw") > 0.9
