"""Graphs and tables of other libraries, whose nodes have names, features and labels of their own."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from grandplus.datasets.in_memory.inputs import Inputs, inputs_of
from grandplus.datasets.in_memory.labels import numbered_labels
from grandplus.runtime.errors import ArgumentError

NAMES = ["ann", "bob", "eve", "joe"]
EDGES = [("ann", "bob"), ("bob", "eve"), ("eve", "joe"), ("joe", "ann")]
AGES, CLUBS = [30.5, 40.0, 50.0, 60.0], ["x", "y", None, "y"]
ROWS = {name: row for row, name in enumerate(NAMES)}


def of_networkx(**renamed: str) -> nx.Graph:
    graph = nx.Graph(EDGES)
    for name, age, club in zip(NAMES, AGES, CLUBS, strict=True):
        graph.add_node(name, **{"age": age} | ({} if club is None else {renamed.get("club", "club"): club}))
    return graph


def of_igraph(names: bool = True) -> Any:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=4, edges=[(ROWS[u], ROWS[v]) for u, v in EDGES])
    graph.vs["age"], graph.vs["club"] = AGES, CLUBS
    if names:
        graph.vs["name"] = NAMES
    return graph


def frame(library: str, columns: dict[str, Any]) -> Any:
    return pytest.importorskip(library).DataFrame(columns)


def check(inputs: Inputs, *, ids: bool = True, features: bool = True) -> None:
    """It is that graph, with rows in the order of NAMES."""
    assert sorted(map(sorted, inputs.edges.T.tolist())) == sorted(sorted((ROWS[u], ROWS[v])) for u, v in EDGES)
    if ids:
        assert inputs.node_ids is not None
        assert inputs.node_ids.tolist() == NAMES
    else:
        assert inputs.node_ids is None
    if features:
        np.testing.assert_array_equal(inputs.features[:, 0], np.array(AGES, np.float32))
        assert inputs.feature_names == ["age"]
    classes, numbers = numbered_labels(inputs.labels, inputs.nodes)
    assert classes.tolist() == ["x", "y"]
    assert numbers.tolist() == [0, 1, -1, 1]


@pytest.mark.parametrize("X", [None, ["age"]])
def test_attributes_of_networkx(X):
    check(inputs_of(of_networkx(), X, "club"))
    check(inputs_of(of_networkx(club="class"), X))
    check(inputs_of(of_networkx(), ["age"], CLUBS))


@pytest.mark.parametrize("named", [True, False])
def test_attributes_of_igraph(named):
    check(inputs_of(of_igraph(named), None, "club"), ids=named)
    array = np.array(AGES, np.float32)[:, None]
    inputs = inputs_of(of_igraph(named), array, "club")
    check(inputs, ids=False, features=False)
    np.testing.assert_array_equal(inputs.features, array)


def test_vertices_of_igraph_are_rows_unless_the_index_has_their_names():
    pandas = pytest.importorskip("pandas")
    check(inputs_of(of_igraph(), pandas.DataFrame({"age": AGES}), CLUBS), ids=False)
    order = [2, 0, 3, 1]
    table = pandas.DataFrame({"age": np.array(AGES)[order]}, index=np.array(NAMES, object)[order])
    inputs = inputs_of(of_igraph(), table, "club")
    names = inputs.node_ids[inputs.edges]
    assert {frozenset(edge) for edge in names.T.tolist()} == {frozenset(edge) for edge in EDGES}
    assert inputs.labels == [CLUBS[place] for place in order]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_edges_and_nodes(library):
    """Ids are in a column, which is no feature, and so are labels."""
    edges = frame(library, {"weight_of_none": [None] * 4, "src": [u for u, _ in EDGES], "dst": [v for _, v in EDGES]})
    nodes = frame(library, {"id": NAMES, "age": AGES, "label": CLUBS})
    check(inputs_of(edges, nodes, edge_weights="ignore"))
    two = frame(library, {"one": [u for u, _ in EDGES], "other": [v for _, v in EDGES]})
    check(inputs_of(two, nodes))
    check(inputs_of(two, nodes, "label"))
    check(inputs_of(of_networkx(), frame(library, {"node": NAMES, "age": AGES}), "club"))
    named = frame(library, {"id": NAMES, "age": AGES, "club": CLUBS})
    check(inputs_of(two, named, "club"))
    labels = nodes["label"]
    check(inputs_of(two, frame(library, {"id": NAMES, "age": AGES}), labels))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ids_that_count_from_one(library):
    """Row numbers would give another graph."""
    edges = frame(library, {"from": [1, 2, 3], "to": [2, 3, 1]})
    nodes = frame(library, {"id": [1, 2, 3, 4], "age": AGES, "class": ["x", "y", "x", "y"]})
    inputs = inputs_of(edges, nodes)
    assert inputs.edges.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert inputs.node_ids.tolist() == [1, 2, 3, 4]
    assert inputs.features.tolist() == [[age] for age in AGES]


def test_polars_has_more_kinds_of_columns():
    polars = pytest.importorskip("polars")
    nodes = polars.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, 1.5, 2.5]})
    nodes = nodes.with_columns(polars.col("a").cast(polars.UInt8))
    labels = polars.Series(["x", "y", None], dtype=polars.Categorical)
    edges = polars.DataFrame({"u": [0, 1], "v": [1, 2]})
    inputs = inputs_of(edges, nodes, labels)
    assert inputs.features.tolist() == [[1, 1, 0.5], [2, 0, 1.5], [3, 1, 2.5]]
    assert numbered_labels(inputs.labels, 3)[1].tolist() == [0, 1, -1]
    numbers = polars.Series([0, None, 1])
    assert numbered_labels(inputs_of(edges, nodes, numbers).labels, 3)[1].tolist() == [0, -1, 1]
    with pytest.raises(ArgumentError, match="column 'd' holds String; expected numbers"):
        inputs_of(edges, nodes.with_columns(d=polars.lit("z")), labels)
    with pytest.raises(ArgumentError, match="X: row 1, column 'e' is nan"):
        inputs_of(edges, nodes.with_columns(e=polars.Series([1.0, None, 2.0])), labels)


def test_vectors_are_features():
    graph = of_networkx()
    for row, name in enumerate(NAMES):
        graph.nodes[name]["x"] = np.array([row, 1.0])
    inputs = inputs_of(graph, ["x"], "club")
    assert inputs.features.tolist() == [[0, 1], [1, 1], [2, 1], [3, 1]]
    assert inputs.feature_names == ["x 0", "x 1"]


def lacking() -> nx.Graph:
    graph = of_networkx()
    del graph.nodes["eve"]["age"]
    return graph


def two_classes() -> nx.Graph:
    graph = of_networkx()
    nx.set_node_attributes(graph, "z", "class")
    nx.set_node_attributes(graph, "z", "label")
    return graph


@pytest.mark.parametrize(
    ("graph", "X", "y", "words"),
    [
        (
            of_networkx(),
            None,
            None,
            "graph: nodes have the attributes age, club, and none is called label or class; name",
        ),
        (of_networkx(), None, "team", "graph: nodes have the attributes age, club, and none is called team"),
        (of_networkx(), ["size"], "club", "graph: X names the attribute 'size'; expected one of age, club"),
        (of_networkx(), ["club"], "club", "graph: node 'ann' has 'x' as club; expected a number"),
        (lacking(), None, "club", "graph: node 'eve' has no age; expected a number; name the attributes that are"),
        (two_classes(), None, None, "class and label may be the class; name the one that is as y"),
        (nx.Graph(EDGES), None, None, "there are neither features nor labels; expected X, y or both"),
        (np.eye(4), np.eye(4), "club", "y is 'club'; expected labels, or the name of a column of X"),
    ],
)
def test_what_cannot_be_told_is_asked_for(graph, X, y, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        inputs_of(graph, X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"id": ["ann", "bob", "eve", "zoe"]},
            "X: column 'id' lacks node 'joe'; expected each node that edges name, once",
        ),
        ({"id": ["ann", "bob", "eve", "joe", "joe"]}, "X: column 'id' repeats an id; expected each node"),
        ({"label": CLUBS, "class": CLUBS, "id": NAMES}, "label and class may be the class"),
    ],
)
def test_wrong_tables_of_nodes(library, columns, words):
    edges = frame(library, {"u": [u for u, _ in EDGES], "v": [v for _, v in EDGES]})
    with pytest.raises(ArgumentError, match=words):
        inputs_of(edges, frame(library, columns), None if "label" in columns else CLUBS)


def test_weights_of_igraph_are_refused_unless_ignored():
    graph = of_igraph()
    graph.es["weight"] = [1, 1, 2, 1]
    with pytest.raises(ArgumentError, match="graph: the edge of vertices 2 and 3 has a weight; expected edges without"):
        inputs_of(graph, None, "club")
    check(inputs_of(graph, None, "club", edge_weights="ignore"))


def test_a_graph_of_other_size():
    with pytest.raises(ArgumentError, match="graph: has 4 vertices; expected 3, a vertex for each row of X"):
        inputs_of(of_igraph(), np.eye(3), [0, 1, 0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_index_that_a_csv_was_written_with_is_no_feature(library):
    edges = frame(library, {"source": [u for u, _ in EDGES], "target": [v for _, v in EDGES]})
    nodes = frame(library, {"Unnamed: 0": [0, 1, 2, 3], "id": NAMES, "age": AGES, "club": CLUBS})
    inputs = inputs_of(edges, nodes, "club")
    check(inputs)
    assert inputs.feature_names == ["age"]


def test_a_column_of_labels_that_is_not_there_is_named_with_those_that_are():
    edges = frame("pandas", {"source": [u for u, _ in EDGES], "target": [v for _, v in EDGES]})
    with pytest.raises(ArgumentError, match="y is 'clubs'; expected labels, or a column of X: age, club"):
        inputs_of(edges, frame("pandas", {"id": NAMES, "age": AGES, "club": CLUBS}), "clubs")
