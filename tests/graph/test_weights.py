"""Edges with weights, and in one direction, against dense matrices and against the graph without weights."""

import re

import numpy as np
import pytest
from graphs import DIRECTIONS, EDGE_CASES, FIVE, WeightedEdges, graphs, weighted_graphs
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from grandplus.graph.adjacency import Adjacency, as_adjacency, build_adjacency
from grandplus.graph.grown_adjacency import grow
from grandplus.graph.merged import merged_adjacency
from grandplus.runtime.errors import ArgumentError, ArtifactError

direction_of = pytest.mark.parametrize("direction", DIRECTIONS)


def dense(adjacency: Adjacency) -> np.ndarray:
    """W̃ as it is stored."""
    n, of = adjacency.nodes, adjacency.weights
    entries, loops = (np.ones(len(adjacency.indices)), np.ones(n)) if of is None else (of.entries, of.loops)
    return sparse.csr_array((entries, adjacency.indices, adjacency.indptr), shape=(n, n)).toarray() + np.diag(loops)


@given(weighted_graphs(), st.sampled_from(DIRECTIONS))
def test_the_matrix_is_the_dense_one(edges, direction):
    adjacency, _ = build_adjacency(edges.array, edges.nodes, edges.weights, direction)
    assert (dense(adjacency) == edges.dense(direction)).all()
    assert (adjacency.strengths == edges.dense(direction).sum(axis=1)).all()
    assert (adjacency.strengths_of(np.arange(edges.nodes)) == adjacency.strengths).all()
    assert all((np.diff(row) > 0).all() for row in np.split(adjacency.indices, adjacency.indptr[1:-1]))


@given(graphs())
def test_weights_of_1_are_none(edges):
    plain, facts = build_adjacency(edges.array, edges.nodes)
    weighted, weighted_facts = build_adjacency(edges.array, edges.nodes, np.ones(len(edges.pairs)))
    assert weighted.weights is None
    assert [part.tobytes() for part in (weighted.indptr, weighted.indices)] == [
        part.tobytes() for part in (plain.indptr, plain.indices)
    ]
    assert weighted.indices.dtype == plain.indices.dtype
    assert (weighted.fingerprint, weighted_facts) == (plain.fingerprint, facts)


@given(graphs())
def test_in_is_out_of_the_reversed_edges(edges):
    out, of_out = build_adjacency(edges.array, edges.nodes, None, "out")
    inward, of_in = build_adjacency(edges.array[::-1], edges.nodes, None, "in")
    assert (out.fingerprint, of_out) == (inward.fingerprint, of_in)


def test_a_graph_by_hand():
    entries = np.array([[0, 1, 0, 2, 2, 1], [1, 0, 1, 2, 0, 2]])
    adjacency, facts = build_adjacency(entries, 4, [2, 3, 2, 5, 0, 1])
    assert (dense(adjacency) == [[1, 3, 0, 0], [3, 1, 1, 0], [0, 1, 5, 0], [0, 0, 0, 1]]).all()
    assert adjacency.strengths.tolist() == [4, 5, 6, 1]
    assert facts == {
        "edges": 2,
        "merged_duplicates": 2,
        "zero_weights": 1,
        "dropped_self_loops": 0,
        "differing_weights": 1,
        "weighted_self_loops": 1,
        "isolated_nodes": 1,
    }


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, 1e39, 1e-39])
def test_weights_that_give_no_shares_are_refused(weight):
    found = re.escape(f"edge 2 has weight {weight:g}; expected 0, for no edge, or from")
    with pytest.raises(ArgumentError, match=found):
        build_adjacency(np.array([[0, 1], [1, 2]]), 3, [1, weight])


@pytest.mark.parametrize("weights", [[1], [[1, 1]], ["a", "b"]])
def test_other_arrays_of_weights_are_refused(weights):
    with pytest.raises(ArgumentError, match=r"edge weights have shape .*; expected \(2,\) numbers"):
        build_adjacency(np.array([[0, 1], [1, 2]]), 3, weights)


@pytest.mark.parametrize("bad", [-1, 3])
def test_an_edge_to_a_node_that_is_not_there_is_refused(bad):
    with pytest.raises(ArgumentError, match=f"an edge names node {bad}; expected ids from 0 to 2"):
        build_adjacency(np.array([[0], [bad]]), 3, [2])


def test_another_direction_is_refused():
    with pytest.raises(ArgumentError, match="direction is 'up'; expected both, out or in"):
        build_adjacency(np.array([[0], [1]]), 2, None, "up")


@direction_of
def test_saved_and_loaded_it_is_the_same(tmp_path, direction):
    matrix = sparse.csr_array(np.array([[0, 2.5, 0], [0.5, 3, 0], [1, 0, 0]]))
    saved = Adjacency.of(matrix, weights="use", direction=direction)
    saved.save(tmp_path)
    loaded = Adjacency.load(tmp_path)
    assert (loaded.fingerprint, loaded.direction) == (saved.fingerprint, direction)
    assert (dense(loaded) == dense(saved)).all()
    assert (loaded.strengths == saved.strengths).all()
    as_adjacency(matrix).save(tmp_path)  # over it
    assert Adjacency.load(tmp_path).weights is None
    assert Adjacency.load(tmp_path).symmetric


def test_weights_are_part_of_the_fingerprint():
    edges, nodes = FIVE.array, FIVE.nodes
    made = [build_adjacency(edges, nodes, weights)[0] for weights in (None, [2, 1, 1, 1], [3, 1, 1, 1])]
    loop = build_adjacency(np.append(edges, [[0], [0]], axis=1), nodes, [2, 1, 1, 1, 4])[0]
    assert len({adjacency.fingerprint for adjacency in (*made, loop)}) == 4


def test_a_damaged_direction_is_told(tmp_path):
    Adjacency.of(FIVE.matrix, direction="out").save(tmp_path)
    (tmp_path / "adjacency.json").write_text('{"direction": "up", "weights": null}')
    with pytest.raises(ArtifactError, match=r"adjacency\.json: holds .*'up'.*; expected direction and weights"):
        Adjacency.load(tmp_path)


@st.composite
def weighted_growths(draw):
    """A graph with weights, and what it grows by: known edges have their weights, self-loops of old nodes, too."""
    before, direction = draw(weighted_graphs()), draw(st.sampled_from(DIRECTIONS))
    w, nodes = before.dense(direction), before.nodes + draw(st.integers(0, 5))
    node = st.integers(0, nodes - 1)
    further = []
    for u, v in draw(st.lists(st.tuples(node, node), max_size=20)):
        weight = draw(st.sampled_from([0.5, 1.0, 3.0]))
        place = (v, u) if direction == "in" else (u, v)
        if max(place) < before.nodes and w[place]:
            weight = w[place]
        further.append((u, v, weight))
    return before, WeightedEdges(nodes, tuple(further)), direction


def grown_and_merged(before, further, direction):
    base, _ = build_adjacency(before.array, before.nodes, before.weights, direction)
    grown, facts = grow(base, further.array, further.nodes, further.weights)
    both = WeightedEdges(further.nodes, before.entries + further.entries)
    return grown, facts, build_adjacency(both.array, both.nodes, both.weights, direction)[0]


@given(weighted_growths())
def test_a_grown_graph_has_the_sums_of_the_merged_one(growth):
    before, further, direction = growth
    if build_adjacency(before.array, before.nodes, before.weights, direction)[0].weights is None:
        return
    grown, _, merged = grown_and_merged(before, further, direction)
    nodes = np.arange(merged.nodes)
    assert grown.strengths_of(nodes).tobytes() == np.asarray(merged.strengths).tobytes()
    assert (grown.degrees_of(nodes) == merged.degrees).all()
    for node in nodes.tolist():
        assert (grown.neighbors_of(node) == merged.indices[merged.indptr[node] : merged.indptr[node + 1]]).all()
    of_parts = merged_adjacency(grown)
    assert (of_parts.fingerprint, of_parts.direction) == (merged.fingerprint, direction)
    assert of_parts.weights.strengths.tobytes() == merged.weights.strengths.tobytes()


def weighted_path():
    return build_adjacency(np.array([[0, 1, 1], [1, 2, 1]]), 3, [2, 3, 4])[0]


def test_growth_changes_no_weights():
    with pytest.raises(ArgumentError, match=r"the edge of row 0 and row 1 has weight 5; expected 2, its weight in the"):
        grow(weighted_path(), np.array([[1], [0]]), 4, [5])
    with pytest.raises(ArgumentError, match=r"the self-loop of row 0 has weight 5; expected 1, its weight in the"):
        grow(weighted_path(), np.array([[0], [0]]), 4, [5])


def test_growth_of_a_graph_with_weights_needs_them():
    with pytest.raises(ArgumentError, match="the edges have no weights; expected one for each"):
        grow(weighted_path(), np.array([[3], [0]]), 4)


def test_growth_of_a_graph_without_weights_has_none():
    base, _ = build_adjacency(np.array([[0], [1]]), 2)
    with pytest.raises(ArgumentError, match="edge 1 has weight 2, and all edges of the graph have weight 1"):
        grow(base, np.array([[2], [0]]), 3, [2])
    assert grow(base, np.array([[2], [0]]), 3, [1])[0].weights is None


@pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())
@direction_of
def test_odd_graphs(edges, direction):
    weighted = WeightedEdges(edges.nodes, tuple((u, v, 2.0) for u, v in edges.pairs))
    adjacency, facts = build_adjacency(weighted.array, weighted.nodes, weighted.weights, direction)
    assert (dense(adjacency) == weighted.dense(direction)).all()
    off_diagonal = np.triu(weighted.dense("both"), 1)
    assert facts["edges"] == np.count_nonzero(off_diagonal)


def test_what_was_loaded_can_be_saved_over_itself(tmp_path):
    saved = build_adjacency(FIVE.array, FIVE.nodes, [2, 0.5, 1, 7])[0]
    saved.save(tmp_path)
    loaded = Adjacency.load(tmp_path)
    loaded.save(tmp_path)
    assert Adjacency.load(tmp_path).fingerprint == saved.fingerprint
    assert (dense(loaded) == dense(saved)).all()


@pytest.mark.parametrize("name", ["weights.npy", "loops.npy", "strengths.npy"])
@pytest.mark.parametrize("change", [lambda array: array[1:], lambda array: array.astype(np.int64)])
def test_damaged_weights_are_told(tmp_path, name, change):
    build_adjacency(FIVE.array, FIVE.nodes, [2, 0.5, 1, 7])[0].save(tmp_path)
    np.save(tmp_path / name, change(np.load(tmp_path / name)))
    with pytest.raises(ArtifactError, match=rf"{name}: has shape .* and type .*; expected \("):
        Adjacency.load(tmp_path)
