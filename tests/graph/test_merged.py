"""A grown graph that is merged beside the one that is built of all nodes and edges at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.features import degree_column, neighbor_marks
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.graph.grown_adjacency import grow
from grandplus.graph.merged import merged_adjacency, merged_graph

IDS = np.array(["a", "b", "c", "d", "e", "f", "g"], object)
RAW = np.array([[1, 0, 2], [0, 0, 0], [2, 2, 0], [0, 0, 1], [1, 1, 1], [4, 0, 1], [0, 0, 0]], np.float32)
LABELS = np.array([0, 1, 0, -1, 1, 1, -1])
OLD = np.array([[0, 1, 2, 3, 4, 0, 2], [1, 2, 3, 4, 0, 2, 2]])
NEW = np.array([[5, 1, 5, 0, 2], [0, 3, 5, 5, 1]])  # a self-loop, a repetition, the other direction; node 6 has no edge


def edges_of(nodes):
    ends = st.lists(st.integers(0, nodes - 1), max_size=30)
    return st.tuples(ends, ends).map(lambda ends: np.array([end[: min(map(len, ends))] for end in ends], np.int64))


@st.composite
def growths(draw):
    old = draw(st.integers(1, 9))
    nodes = old + draw(st.integers(0, 5))
    return old, nodes, draw(edges_of(old)), draw(edges_of(nodes))


@given(growths())
def test_the_merged_adjacency_has_the_bytes_of_the_one_built_at_once(growth):
    old, nodes, edges, further = growth
    base, counted = build_adjacency(edges, old)
    grown, facts = grow(base, further, nodes)
    whole, expected = build_adjacency(np.concatenate([edges, further], axis=1), nodes)
    merged = merged_adjacency(grown)
    assert merged.fingerprint == whole.fingerprint
    assert (merged.indptr.dtype, merged.indices.dtype) == (whole.indptr.dtype, whole.indices.dtype)
    for fact in ("edges", "merged_duplicates", "dropped_self_loops"):
        assert counted[fact] + facts[fact] == expected[fact]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["as-is", "row-normalize", "standardize"])
def test_old_rows_stay_and_what_was_fitted_stays(kind, sparse):
    raw = sp.csr_array(RAW) if sparse else RAW
    adjacency, facts = build_adjacency(OLD, 5)
    fitted = FittedFeatures.fit(kind, raw[:5])
    facts |= {"nodes": 5, "classes": 2, "zero_feature_rows": 1, "unlabelled_nodes": 1}
    base = Graph(adjacency, fitted.transform(raw[:5]), LABELS[:5], ["x", "y"], IDS[:5], facts, fitted)
    merged = merged_graph(base.grown(IDS[5:], IDS[NEW], raw[5:], ["y", None]))
    expected = fitted.transform(raw)
    assert sp.issparse(merged.features) == sp.issparse(expected)
    for array, whole in zip(*(parts_of(features) for features in (merged.features, expected)), strict=True):
        assert array.tobytes() == whole.astype(np.int64 if array.dtype == np.int64 else whole.dtype).tobytes()
    assert merged.fitted.to_json() == fitted.to_json()
    assert merged.node_ids.tolist() == IDS.tolist()
    assert merged.labels.tolist() == LABELS.tolist()
    assert merged.classes == ["x", "y"]
    _, whole = build_adjacency(np.concatenate([OLD, NEW], axis=1), 7)
    counts = {"nodes": 7, "classes": 2, "zero_feature_rows": 2, "unlabelled_nodes": 2}
    assert merged.facts == whole | counts


def parts_of(features):
    return [features.indptr, features.indices, features.data] if sp.issparse(features) else [features]


@pytest.mark.parametrize("kind", ["degree", "onehot-degree", "adjacency", "standardized-adjacency"])
def test_features_of_the_graph_have_the_columns_of_the_base_however_often_it_grows(kind):
    of_neighbors = "adjacency" in kind
    adjacency, facts = build_adjacency(OLD, 5)
    raw = (neighbor_marks if of_neighbors else degree_column)(adjacency)
    fitted = FittedFeatures.fit(kind, raw, node_ids=IDS[:5])
    graph = Graph(adjacency, fitted.transform(raw), LABELS[:5], ["x", "y"], IDS[:5], facts, fitted)
    for nodes, edges in ((IDS[5:6], IDS[NEW]), (IDS[6:], [["g", "g"], ["f", "a"]])):
        graph = merged_graph(graph.grown(nodes, edges))
    whole, _ = build_adjacency(np.concatenate([OLD, NEW, [[6, 6], [5, 0]]], axis=1), 7)
    assert graph.adjacency.fingerprint == whole.fingerprint
    made = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    if kind == "onehot-degree":  # of 2 and 3 neighbours; a node with another number has none of both
        assert made.tolist() == [[float(d == 2), float(d == 3)] for d in whole.degrees - 1]
        return
    expected = fitted.transform(neighbor_marks(whole)[:, :5] if of_neighbors else degree_column(whole))
    assert made.tolist() == (expected.toarray() if sp.issparse(expected) else expected).tolist()
