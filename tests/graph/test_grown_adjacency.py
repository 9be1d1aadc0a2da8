"""An adjacency that grew, beside the one that is built of all edges at once."""

import numpy as np
import pytest
from graphs import Edges, growths
from hypothesis import given

from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.graph.grown_adjacency import grow
from grandplus.runtime.errors import ArgumentError


def grown_and_merged(before: Edges, further: Edges):
    base, _ = build_adjacency(before.array, before.nodes)
    grown, facts = grow(base, further.array, further.nodes)
    merged, _ = build_adjacency(np.concatenate([before.array, further.array], axis=1), further.nodes)
    return grown, merged, facts


@given(growths())
def test_neighbors_and_degrees_are_those_of_the_merged_graph(growth):
    grown, merged, facts = grown_and_merged(*growth)
    for node in range(merged.nodes):
        expected = merged.indices[merged.indptr[node] : merged.indptr[node + 1]]
        assert grown.neighbors_of(node).tolist() == expected.tolist()
    assert grown.degrees_of(np.arange(merged.nodes)).tolist() == merged.degrees.tolist()
    assert merged.degrees_of(np.arange(merged.nodes)).tolist() == merged.degrees.tolist()
    assert facts["edges"] == (len(merged.indices) - len(grown.base.indices)) // 2
    assert sum(facts.values()) == growth[1].array.shape[1]
    assert grown.index_type == merged.index_type


def test_memory_is_that_of_what_was_added():
    ring = np.arange(100_000)
    base, _ = build_adjacency(np.stack([ring, np.roll(ring, 1)]), len(ring))
    hub, _ = build_adjacency(np.stack([np.zeros_like(ring), ring]), len(ring))
    for stored in (base, hub):
        grown, _ = grow(stored, np.array([[100_000, 0, 5], [0, 50, 100_001]]), 100_002)
        assert grown.base is stored
        assert sum(array.nbytes for array in grown.growth.arrays) <= 8 * (5 + 6 + 6 + 6)


def test_the_fingerprint_tells_growths_apart():
    base, _ = build_adjacency(np.array([[0], [1]]), 3)
    grown = [grow(base, np.array(edges).reshape(2, -1), nodes)[0] for edges, nodes in (([], 3), ([], 4), ([0, 2], 3))]
    assert len({base.fingerprint, *(one.fingerprint for one in grown)}) == 4
    assert grow(Adjacency(base.indptr, base.indices), np.array([[2], [0]]), 3)[0].fingerprint == grown[2].fingerprint


@pytest.mark.parametrize("bad", [-1, 4])
def test_an_edge_to_a_node_that_is_not_there_is_refused(bad):
    base, _ = build_adjacency(np.array([[0], [1]]), 3)
    with pytest.raises(ArgumentError, match=f"an edge names node {bad}; expected ids from 0 to 3"):
        grow(base, np.array([[0], [bad]]), 4)
