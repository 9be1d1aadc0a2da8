"""Files of nodes and edges that came later: what is found by name, by order, and what is refused."""

import json

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from grandplus.datasets.growth.files import read_growth
from grandplus.datasets.source import Reading
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.graph.merged import merged_adjacency
from grandplus.runtime.errors import GrandPlusError

RAW = np.array([[1, 0, 20], [3, 1, 40], [5, 0, 60]], np.float32)
MEANS, DEVIATIONS = RAW.mean(axis=0), RAW.std(axis=0)
EDGES = "source,target\nd,a\nc,d\nb,e\na,c\n"


@pytest.fixture
def base():
    """Three papers a, b and c with columns age, old and pages, standardized."""
    adjacency, _ = build_adjacency(np.array([[0, 1], [1, 2]]), 3)
    fitted = FittedFeatures.fit("standardize", RAW, names=["age", "old", "pages"])
    ids = np.array(["a", "b", "c"], object)
    return Graph(adjacency, fitted.transform(RAW), np.array([0, 1, -1]), ["x", "y"], ids, fitted=fitted)


def without_names(base, kind="as-is", features=RAW):
    fitted = FittedFeatures.fit(kind, features)
    return Graph(base.adjacency, fitted.transform(features), base.labels, base.classes, base.node_ids, fitted=fitted)


def growth(base, folder, nodes, edges=EDGES, **more):
    """What files of these contents add; a DataFrame is written as Parquet."""
    files = {}
    for name, content in (("nodes", nodes), ("edges", edges)):
        if isinstance(content, pd.DataFrame):
            files[name] = folder / f"{name}.parquet"
            content.to_parquet(files[name])
        elif content is not None:
            files[name] = folder / f"{name}.csv"
            files[name].write_text(content)
    return read_growth(base, **files, **more)


def added_features(grown):
    features = grown.features_of(grown.new_nodes)
    return features.toarray() if sp.issparse(features) else features


NAMED = "id,age,old,pages\nd,7,1,10\ne,1,0,20\n"
SAME = {  # files that say the same
    "plain": (NAMED, EDGES),
    "columns in another order": ("pages,id,age,old\n10,d,7,1\n20,e,1,0\n", "to,from\na,d\nd,c\ne,b\nc,a\n"),
    "tabs and spaces": (NAMED.replace(",", "\t"), EDGES.replace(",", " ")),
    "decimal commas": ("id;age;old;pages\nd;7,0;1;10\ne;1,0;0;20\n", EDGES),
    "Parquet": (
        pd.DataFrame({"id": ["d", "e"], "age": [7, 1], "old": [True, False], "pages": [10.0, 20.0]}),
        pd.DataFrame({"src": ["d", "c", "b", "a"], "dst": ["a", "d", "e", "c"]}),
    ),
    "no header": ("d,7,1,10\ne,1,0,20\n", "d,a\nc,d\nb,e\na,c\n"),
}


@pytest.mark.parametrize(("nodes", "edges"), SAME.values(), ids=SAME.keys())
def test_columns_are_found_by_name_or_by_order(base, tmp_path, nodes, edges):
    found = growth(base, tmp_path, nodes, edges)
    expected = ((np.array([[7, 1, 10], [1, 0, 20]]) - MEANS) / DEVIATIONS).astype(np.float32)
    np.testing.assert_allclose(added_features(found.graph), expected, rtol=1e-6)
    assert found.graph.ids_of(found.graph.new_nodes) == ["d", "e"]
    assert [found.graph.adjacency.neighbors_of(node).tolist() for node in range(5)] == [[1, 2, 3], [0, 2, 4], [0, 1, 3],
                                                                                       [0, 2], [1]]  # fmt: skip
    assert found.unknown == []


def test_columns_that_the_graph_does_not_know_are_left_out_and_named(base, tmp_path):
    nodes = "id,age,mood,old,pages,zip\nd,7,good,1,10,8000\n"
    found = growth(base, tmp_path, nodes, "source,target\nd,a\n")
    assert found.unknown == ["mood", "zip"]
    np.testing.assert_allclose(added_features(found.graph), (np.array([[7, 1, 10]]) - MEANS) / DEVIATIONS, rtol=1e-6)


def test_columns_of_the_import_are_known_by_their_names(base, tmp_path):
    how = Reading(ends=("one", "other"), id="paper", label="topic", ignore=["title"], weights="ignore")
    nodes = "title,paper,age,old,pages,topic\nT,d,7,1,10,y\nU,e,1,0,20,?\n"
    found = growth(base, tmp_path, nodes, "weight,one,other\n0.5,d,a\n", read=how)
    assert found.unknown == []
    assert found.graph.labels_of(found.graph.new_nodes).tolist() == [1, -1]


def test_names_of_the_import_tell_a_header_that_no_usual_name_does(base, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"d": [7, 1, 10]}))
    how = Reading(ends=("one", "other"), id="paper", label="topic")
    nodes, edges = "paper,topic\nd,y\n", "other,one\nd,a\n"
    found = growth(without_names(base), tmp_path, nodes, edges, features=tmp_path / "x.json", read=how)
    assert found.graph.ids_of(found.graph.new_nodes) == ["d"]
    assert found.graph.labels_of(found.graph.new_nodes).tolist() == [1]
    assert found.graph.adjacency.neighbors_of(3).tolist() == [0]


@pytest.mark.parametrize("label", ["", ",y"])
def test_features_without_names_are_in_order_and_labels_may_follow(base, tmp_path, label):
    found = growth(without_names(base), tmp_path, f"d,7,1,10{label}\n", "d,a\n")
    assert added_features(found.graph).tolist() == [[7, 1, 10]]
    assert found.graph.labels_of(np.array([3])).tolist() == [1 if label else -1]


def test_features_in_a_file_beside(base, tmp_path):
    nodes, rows = "id,label\ne,x\nd,y\n", np.array([[1, 0, 20], [7, 1, 10]], np.float32)
    np.save(tmp_path / "x.npy", rows)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(rows))
    (tmp_path / "x.json").write_text(json.dumps({"d": [7, 1, 10], "e": [1, 0, 20], "other": [1, 1, 1]}))
    for name in ("x.npy", "x.npz", "x.json"):
        found = growth(without_names(base), tmp_path, nodes, features=tmp_path / name)
        assert added_features(found.graph).tolist() == rows.tolist()
        assert found.graph.labels_of(np.array([3, 4])).tolist() == [0, 1]


def test_words_beyond_the_vocabulary_are_left_out_and_counted(base, tmp_path):
    words = tmp_path / "words.json"
    words.write_text(json.dumps({"d": [0, 2, 7], "e": [9, 7]}))
    graph = without_names(base, "row-normalize", sp.csr_array(RAW))
    found = growth(graph, tmp_path, "id\nd\ne\n", features=words)
    assert added_features(found.graph).tolist() == [[0.5, 0, 0.5], [0, 0, 0]]
    assert found.unknown == ["7", "9"]


def test_edges_alone_and_nodes_alone(base, tmp_path):
    assert growth(base, tmp_path, None, "a,c\n").graph.facts["edges"] == 1
    assert growth(base, tmp_path, NAMED, None).graph.facts["nodes"] == 2


REFUSED = {
    "an edge to an unknown node": (NAMED, "d,a\nd,zoe\n", "edges.csv: edge 2, d - zoe, names node zoe; expected a"),
    "a node that exists": (NAMED + "b,1,1,1\n", EDGES, "nodes.csv: new node b is there already; expected new nodes"),
    "a node twice": (NAMED + "d,1,1,1\n", EDGES, "nodes.csv: line 4 has the id d of line 2"),
    "a new label": ("id,age,old,pages,label\nd,1,1,1,z\n", "d,a\n", "line 2 has class 'z'; expected one of x, y"),
    "a missing feature": ("id,age,old\nd,1,1\n", "d,a\n", "nodes.csv: lacks 1 of 3 features, such as 'pages'; "),
    "no features at all": ("d\ne\n", "d,a\n", "nodes.csv: has 0 columns beside ids and labels; expected 3, "),
    "no ids": ("age,old,pages\n1,1,1\n", "d,a\n", "nodes.csv: has age, old, pages; expected a column of ids"),
    "three columns of edges": (NAMED, "p,q,r\nd,a,1\n", "edges.csv: has p, q, r; expected the two ends of an edge"),
    "weights": (NAMED, "source,target,w\nd,a,1\n", "edges.csv: has further columns: w; expected the two ends"),
    "text in a feature": ("id,age,old,pages\nd,1,1,many\n", "d,a\n", "line 2, node d, is 'many'; expected a number"),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "edges", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_is_one_clear_line(base, tmp_path, nodes, edges, message):
    with pytest.raises(GrandPlusError) as refused:
        growth(base, tmp_path, nodes, edges)
    assert message in str(refused.value)


def test_features_of_another_width_are_refused(base, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2, 2), np.float32))
    (tmp_path / "x.json").write_text(json.dumps({"d": [0.5], "e": [0.5]}))
    for name, message in (
        ("x.npy", "has 2 features; expected 3"),
        ("x.json", "has lists of 1 to 1 values; expected 3"),
    ):
        with pytest.raises(GrandPlusError, match=message):
            growth(without_names(base), tmp_path, "id\nd\ne\n", features=tmp_path / name)


def networkx_graph():
    """The nodes d and e with attributes, and their old neighbours without."""
    graph = networkx.Graph()
    graph.add_node("d", age=7, old=1, pages=10.0, mood=3, topic="y")
    graph.add_node("e", age=1, old=0, pages=20.0, mood=4)
    graph.add_edges_from([("d", "a"), ("c", "d"), ("b", "e"), ("a", "c")])
    return graph


WRITERS = {
    "g.graphml": networkx.write_graphml,
    "g.gexf": networkx.write_gexf,
    "g.gml": networkx.write_gml,
    "g.json": lambda graph, file: file.write_text(json.dumps(networkx.node_link_data(graph, edges="links"))),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_graphs_add_their_new_nodes_and_all_edges(base, tmp_path, name):
    WRITERS[name](networkx_graph(), tmp_path / name)
    how = Reading(label="topic", id="label" if name.endswith("gml") and "graphml" not in name else None)
    found = read_growth(base, tmp_path / name, read=how)
    assert found.graph.ids_of(found.graph.new_nodes) == ["d", "e"]
    expected = ((np.array([[7, 1, 10], [1, 0, 20]]) - MEANS) / DEVIATIONS).astype(np.float32)
    np.testing.assert_allclose(added_features(found.graph), expected, rtol=1e-6)
    assert found.graph.labels_of(np.array([3, 4])).tolist() == [1, -1]
    assert found.graph.adjacency.neighbors_of(0).tolist() == [1, 2, 3]
    assert found.unknown == ["mood"]


def test_edges_of_a_file_of_a_graph_beside_a_table(base, tmp_path):
    (tmp_path / "nodes.csv").write_text(NAMED)
    networkx.write_graphml(networkx_graph(), tmp_path / "edges.graphml")
    found = read_growth(base, tmp_path / "nodes.csv", tmp_path / "edges.graphml")
    assert found.graph.adjacency.neighbors_of(3).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pages": None}, "lacks the attribute 'pages' of nodes"),
        ({"topic": "z"}, "node d has class 'z'; expected one of x, y"),
        ({"age": "many"}, "'many'"),
    ],
)
def test_what_is_refused_of_a_file_of_a_graph(base, tmp_path, change, message):
    graph = networkx_graph()
    for name, value in change.items():
        for node in ("d", "e"):
            graph.nodes[node].pop(name, None)
            if value is not None:
                graph.nodes[node][name] = value
    networkx.write_gexf(graph, tmp_path / "g.gexf")
    with pytest.raises(GrandPlusError) as refused:
        read_growth(base, tmp_path / "g.gexf", read=Reading(label="topic"))
    assert message in str(refused.value)
    assert "g.gexf" in str(refused.value)


# --- Weights and directions ---------------------------------------------------------------------


def of_edges(base, weights, direction):
    adjacency, _ = build_adjacency(np.array([[0, 1], [1, 2]]), 3, weights, direction)
    return Graph(adjacency, base.features, base.labels, base.classes, base.node_ids, fitted=base.fitted)


WEIGHTED = "source,target,weight\nd,a,2\nc,d,3\nb,e,0.5\na,c,4\nd,d,6\n"


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_later_edges_have_weights_and_a_direction(base, tmp_path, direction):
    weighted = of_edges(base, [2, 0.25], direction)
    graph = growth(weighted, tmp_path, NAMED, WEIGHTED, read=Reading(weights="use")).graph
    ends = np.array([[0, 1, 3, 2, 1, 0, 3], [1, 2, 0, 3, 4, 2, 3]])
    whole, _ = build_adjacency(ends, 5, [2, 0.25, 2, 3, 0.5, 4, 6], direction)
    merged = merged_adjacency(graph.adjacency)
    assert (merged.fingerprint, merged.direction) == (whole.fingerprint, direction)
    assert graph.adjacency.strengths_of(np.arange(5)).tolist() == whole.strengths.tolist()


def test_later_edges_of_a_graph_file_have_weights_and_a_direction(base, tmp_path):
    graph = networkx.DiGraph([("a", "d"), ("d", "c")])
    networkx.set_edge_attributes(graph, {("a", "d"): 3.0, ("d", "c"): 5.0}, "weight")
    networkx.set_node_attributes(graph, {"d": {"age": 7, "old": 1, "pages": 10}})
    networkx.write_graphml(graph, tmp_path / "later.graphml")
    weighted = of_edges(base, [2, 0.25], "out")
    grown = read_growth(weighted, tmp_path / "later.graphml", read=Reading(weights="use")).graph
    whole, _ = build_adjacency(np.array([[0, 1, 0, 3], [1, 2, 3, 2]]), 4, [2, 0.25, 3, 5], "out")
    assert merged_adjacency(grown.adjacency).fingerprint == whole.fingerprint


def test_later_edges_without_weights_are_refused_where_edges_have_them(base, tmp_path):
    weighted = of_edges(base, [2, 0.25], "both")
    with pytest.raises(GrandPlusError, match=r"edges\.csv: its edges have no weights; expected one for each"):
        growth(weighted, tmp_path, NAMED, read=Reading(weights="use"))


def test_later_weights_of_edges_that_are_there_are_refused_if_they_differ(base, tmp_path):
    weighted = of_edges(base, [2, 0.25], "both")
    with pytest.raises(GrandPlusError, match=r"edges\.csv: the edge of a and b has weight 9; expected 2"):
        growth(weighted, tmp_path, NAMED, WEIGHTED + "b,a,9\n", read=Reading(weights="use"))


def test_later_weights_are_left_out_where_they_were_before(base, tmp_path):
    plain = growth(base, tmp_path, NAMED, WEIGHTED, read=Reading(weights="ignore")).graph
    assert plain.adjacency.weights is None
    assert plain.facts["edges"] == 4


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("source,target,foo,weight\nd,a,2.5,9\n", {"weight": "foo"}),
        ("foo,target,source\n2.5,a,d\n", {"weight": "foo"}),
        ("d a 2.5\n", {"ends": (1, 2), "weight": 3}),
        ("source,target,weight\nd,a,2.5\n", {"ends": (1, 2), "weight": 3}),  # the import had no header
    ],
)
def test_later_weights_are_in_the_column_that_had_them_at_import(base, tmp_path, edges, said):
    weighted = of_edges(base, [2, 0.25], "both")
    found = growth(weighted, tmp_path, NAMED, edges, read=Reading(weights="use", **said))
    assert found.graph.adjacency.weights.entries.tolist() == [2.5, 2.5]


def test_a_later_table_without_the_column_of_the_import_is_refused(base, tmp_path):
    weighted = of_edges(base, [2, 0.25], "both")
    with pytest.raises(GrandPlusError, match="has no column foo; expected source, target, year"):
        growth(weighted, tmp_path, NAMED, "source,target,year\nd,a,2020\n", read=Reading(weights="use", weight="foo"))


def test_no_file_fills_in_the_weights_of_another_one(base, tmp_path):
    graph = networkx.DiGraph([("a", "d")])
    networkx.set_edge_attributes(graph, {("a", "d"): 3.0}, "weight")
    networkx.set_node_attributes(graph, {"d": {"age": 7, "old": 1, "pages": 10}})
    networkx.write_graphml(graph, tmp_path / "later.graphml")
    (tmp_path / "edges.csv").write_text("source,target\nd,c\n")
    weighted = of_edges(base, [2, 0.25], "both")
    with pytest.raises(GrandPlusError, match=r"edges\.csv: its edges have no weights; expected one for each"):
        read_growth(weighted, tmp_path / "later.graphml", tmp_path / "edges.csv", read=Reading(weights="use"))


@pytest.mark.parametrize("features", [None, "features.json"])
def test_a_table_without_a_node_needs_no_features(base, tmp_path, features):
    (tmp_path / "none.csv").write_text("id\n")
    (tmp_path / "edges.csv").write_text("source,target\na,c\n")
    if features:
        (tmp_path / features).write_text("{}")
    grown = read_growth(base, tmp_path / "none.csv", tmp_path / "edges.csv", features and tmp_path / features).graph
    assert (grown.facts["nodes"], grown.facts["edges"]) == (0, 1)
