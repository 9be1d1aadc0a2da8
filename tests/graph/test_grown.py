"""A grown graph beside the one that is preprocessed of all nodes and edges at once; what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.features import degree_column, neighbor_marks
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.runtime.errors import ArgumentError

OLD = np.array([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
NEW = np.array([[5, 6, 1, 5, 0, 2], [0, 5, 3, 5, 5, 1]])  # with a self-loop, a repetition and the other direction
RAW = np.array([[1, 0, 2], [0, 1, 3], [2, 2, 0], [0, 0, 1], [1, 1, 1], [4, 0, 1], [0, 0, 0]], np.float32)
IDS = np.array(["a", "b", "c", "d", "e", "f", "g"], object)
LABELS = np.array([0, 1, 0, -1, 1, 1, -1])


def graph_of(kind="as-is", sparse=False, ids=IDS):
    adjacency, _ = build_adjacency(OLD, 5)
    raw = sp.csr_array(RAW[:5]) if sparse else RAW[:5]
    fitted = FittedFeatures.fit(kind, raw)
    return Graph(adjacency, fitted.transform(raw), LABELS[:5], ["x", "y"], ids[:5], fitted=fitted)


def dense(features):
    return features.toarray() if sp.issparse(features) else features


@pytest.mark.parametrize("kind", ["as-is", "row-normalize", "standardize"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sparse_later", [False, True])
def test_features_of_new_nodes_are_transformed_as_the_old_ones_were(kind, sparse, sparse_later):
    graph = graph_of(kind, sparse)
    later = sp.csr_array(RAW[5:]) if sparse_later else RAW[5:]
    grown = graph.grown(IDS[5:], IDS[NEW], later)
    merged = dense(graph.fitted.transform(RAW))
    for nodes in (np.arange(7), np.array([6, 0, 5, 2]), np.array([1]), np.array([6]), np.array([], int)):
        features = grown.features_of(nodes)
        assert sp.issparse(features) == sp.issparse(graph.features)
        assert dense(features).tolist() == merged[nodes].tolist()
    assert dense(graph.features_of(np.array([3, 0]))).tolist() == merged[[3, 0]].tolist()


def test_ids_labels_and_facts():
    grown = graph_of().grown(["f", "g"], IDS[NEW], RAW[5:], ["y", None])
    assert grown.rows_of(["g", "a", "f", "a"]).tolist() == [6, 0, 5, 0]
    assert grown.ids_of(np.array([6, 0])) == ["g", "a"]
    assert grown.labels_of(np.arange(7)).tolist() == LABELS.tolist()
    assert grown.new_nodes.tolist() == [5, 6]
    assert grown.facts == {
        "nodes": 2, "edges": 3, "merged_duplicates": 2, "dropped_self_loops": 1, "zero_feature_rows": 1,
        "unknown_degrees": 0,
    }  # fmt: skip


def test_ids_that_are_numbers_may_be_given_as_text():
    graph = graph_of(ids=np.arange(10, 17))
    grown = graph.grown(["15", "16"], [["15", "16"], ["10", "15"]], RAW[5:])
    assert grown.rows_of(["16", 10]).tolist() == [6, 0]
    assert grown.ids_of(grown.new_nodes) == [15, 16]


def test_edges_alone_may_come():
    grown = graph_of().grown([], [["a"], ["d"]])
    assert grown.adjacency.neighbors_of(0).tolist() == [1, 2, 3, 4]
    assert grown.new_nodes.tolist() == []


@pytest.mark.parametrize("kind", ["degree", "onehot-degree", "adjacency", "standardized-adjacency"])
def test_features_of_the_graph_are_made_anew_where_it_has_changed(kind):
    of_neighbors = "adjacency" in kind
    adjacency, _ = build_adjacency(OLD, 5)
    merged, _ = build_adjacency(np.concatenate([OLD, NEW], axis=1), 7)
    raw = (neighbor_marks if of_neighbors else degree_column)(adjacency)
    fitted = FittedFeatures.fit(kind, raw, node_ids=IDS[:5])
    graph = Graph(adjacency, fitted.transform(raw), LABELS[:5], ["x", "y"], IDS[:5], fitted=fitted)
    grown = graph.grown(IDS[5:], IDS[NEW])
    made = dense(grown.features_of(np.arange(7)))
    if kind == "onehot-degree":  # columns are of 2 and 3 neighbours
        assert made.tolist() == [[0, 0], *[[0, 1]] * 3, [1, 0], [1, 0], [0, 0]]
        assert grown.facts["unknown_degrees"] == 2
    else:
        whole = neighbor_marks(merged)[:, :5] if of_neighbors else degree_column(merged)
        assert made.tolist() == dense(fitted.transform(whole)).tolist()


REFUSED = {
    "new node c is there already": (["c"], [["c"], ["a"]], RAW[5:6], None),
    "new node f is there twice": (["f", "f"], [[], []], RAW[5:], None),
    "edge 2, f - zoe, names node zoe; expected a node of the graph, or one that is added": (
        ["f"], [["f", "f"], ["a", "zoe"]], RAW[5:6], None,
    ),
    "edges have 1 ends": (["f"], [["f"]], RAW[5:6], None),
    "the new nodes have no features": (["f"], [[], []], None, None),
    r"features of the new nodes have shape \(1, 2\); expected \(1, 3\)": (["f"], [[], []], RAW[5:6, :2], None),
    "a new node has the label 'z'; expected one of x, y, which the models know": (["f"], [[], []], RAW[5:6], ["z"]),
    "there are 2 labels; expected 1": (["f"], [[], []], RAW[5:6], ["x", "y"]),
}  # fmt: skip


@pytest.mark.parametrize(("message", "arguments"), REFUSED.items())
def test_what_is_refused(message, arguments):
    with pytest.raises(ArgumentError, match=message):
        graph_of().grown(*arguments)


@pytest.mark.parametrize("new", ["f", "1.5", "--1", str(2**63)])
def test_a_new_id_that_is_no_number_among_numbers_is_refused(new):
    with pytest.raises(ArgumentError, match=f"new node '{new}' is no whole number"):
        graph_of(ids=np.arange(7)).grown([new], [[], []], RAW[5:6])
