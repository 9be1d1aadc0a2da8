"""Rows that are pushed on a grown graph, to the byte those of the merged one."""

import numpy as np
import pytest
from graphs import Edges, growths, mixtures, seeded
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.graph.grown_adjacency import grow
from grandplus.propagation import push
from grandplus.propagation.gfpush import RowPusher, gfpush

RMAX = st.one_of(st.just(0.0), st.floats(1e-6, 0.3))


def grown_and_merged(before: Edges, further: Edges, ids=np.int32):
    base, _ = build_adjacency(before.array, before.nodes)
    grown, _ = grow(Adjacency(base.indptr, base.indices.astype(ids)), further.array, further.nodes)
    return grown, build_adjacency(np.concatenate([before.array, further.array], axis=1), further.nodes)[0]


def bytes_of(pushed) -> list[bytes]:
    return [part.tobytes() for part in (pushed.neighbors, pushed.values, pushed.l1_error, pushed.edges)]


@given(growths(), mixtures(), RMAX, st.integers(1, 14))
def test_rows_have_the_bytes_of_those_of_the_merged_graph(growth, w, rmax, top_k):
    grown, merged = grown_and_merged(*growth)
    sources = np.arange(merged.nodes)
    expected = RowPusher(merged, w, rmax, top_k).push(sources)
    assert bytes_of(RowPusher(grown, w, rmax, top_k).push(sources)) == bytes_of(expected)


@pytest.mark.parametrize("ids", [np.int32, np.int64])
@pytest.mark.parametrize("cached_nodes", [push.CACHED_NODES, 0])  # with prefetching or without
def test_larger_graphs_with_hubs(monkeypatch, ids, cached_nodes):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "3")
    before, later = seeded(300, 2000), seeded(400, 1500, seed=1)
    padding = max(0, push.CACHED_NODES + 1 - 300) if not cached_nodes else 0
    before = Edges(before.nodes + padding, before.pairs)
    further = Edges(before.nodes + 100, tuple((u, before.nodes + v - 300 if v >= 300 else v) for u, v in later.pairs))
    grown, merged = grown_and_merged(before, further, ids)
    sources, w = np.append(np.arange(300), np.arange(before.nodes, further.nodes)), np.full(5, 1 / 5)
    for top_k in (8, 400):
        rows, expected = (RowPusher(graph, w, 1e-5, top_k).push(sources) for graph in (grown, merged))
        assert bytes_of(rows) == bytes_of(expected)


def test_gfpush_takes_a_grown_adjacency():
    grown, merged = grown_and_merged(Edges(3, ((0, 1), (1, 2))), Edges(4, ((3, 0), (0, 2))))
    rows, expected = (gfpush(one, [3], weights=[0.5, 0.25, 0.25], rmax=0, top_k=4) for one in (grown, merged))
    assert rows.values.tolist() == expected.values.tolist()
    assert rows.info.nodes == 4
    assert rows.info.graph == grown.fingerprint
