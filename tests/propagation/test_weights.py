"""Rows and products of graphs with weights or a direction: against dense float64, and the theorem's bound for them."""

import numpy as np
import pytest
from graphs import DIRECTIONS, EDGE_CASES, WeightedEdges, mixtures, seeded, weighted_graphs
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.grown_adjacency import grow
from grandplus.propagation import push
from grandplus.propagation.gfpush import RowPusher, gfpush
from grandplus.propagation.power import column_sums, propagate

RMAX = st.one_of(st.just(0.0), st.floats(1e-6, 0.3))
directions = st.sampled_from(DIRECTIONS)


def adjacency_of(edges: WeightedEdges, direction: str):
    return build_adjacency(edges.array, edges.nodes, edges.weights, direction)[0]


def dense_rows(rows, nodes: int) -> np.ndarray:
    return np.asarray(rows.to_csr().toarray(), np.float64).reshape(-1, nodes)


@given(weighted_graphs(), directions, mixtures())
def test_rows_without_threshold_are_those_of_the_dense_matrix(edges, direction, w):
    rows = gfpush(adjacency_of(edges, direction), range(edges.nodes), weights=w, rmax=0, top_k=edges.nodes)
    assert dense_rows(rows, edges.nodes) == pytest.approx(edges.pi(w, direction), abs=1e-6)


@given(weighted_graphs(), directions, mixtures(), RMAX, st.integers(1, 9))
def test_the_error_is_exact_and_within_the_bound(edges, direction, w, rmax, top_k):
    adjacency, pi = adjacency_of(edges, direction), edges.pi(w, direction)
    rows = gfpush(adjacency, range(edges.nodes), weights=w, rmax=rmax, top_k=edges.nodes)
    missing = np.abs(pi - dense_rows(rows, edges.nodes)).sum(axis=1)
    assert rows.l1_error == pytest.approx(missing, abs=1e-6)
    entries = len(adjacency.indices) + edges.nodes
    assert (missing <= (len(w) - 1) * entries * rmax + 1e-6).all()
    kept = gfpush(adjacency, range(edges.nodes), weights=w, rmax=rmax, top_k=top_k)
    assert kept.l1_error == pytest.approx(np.abs(pi - dense_rows(kept, edges.nodes)).sum(axis=1), abs=1e-6)


@given(weighted_graphs(), directions, mixtures(), st.floats(1e-3, 0.3))
def test_a_row_visits_no_more_entries_than_the_bound(edges, direction, w, rmax):
    pushed = RowPusher(adjacency_of(edges, direction), w, rmax, 4).push(np.arange(edges.nodes))
    assert (pushed.edges <= (len(w) - 1) / rmax).all()


@given(weighted_graphs(), directions, mixtures())
def test_products_equal_dense_ones(edges, direction, w):
    x = np.random.default_rng(edges.nodes).normal(size=(edges.nodes, 3)).astype(np.float32)
    product = propagate(adjacency_of(edges, direction), x, weights=w)
    assert product == pytest.approx(edges.pi(w, direction) @ x, abs=1e-5)


@pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_odd_graphs(edges, direction):
    weighted = WeightedEdges(edges.nodes, tuple((u, v, 1.5 + u) for u, v in edges.pairs))
    w, adjacency = np.array([0.2, 0.3, 0.5]), adjacency_of(weighted, direction)
    rows = gfpush(adjacency, range(edges.nodes), weights=w, rmax=0, top_k=9)
    assert dense_rows(rows, edges.nodes) == pytest.approx(weighted.pi(w, direction), abs=1e-6)
    products = propagate(adjacency, np.eye(edges.nodes, dtype=np.float32), weights=w)
    assert products == pytest.approx(weighted.pi(w, direction), abs=1e-6)


def grown_and_merged(before, further, direction):
    base = adjacency_of(before, direction)
    grown, _ = grow(base, further.array, further.nodes, further.weights)
    return grown, adjacency_of(WeightedEdges(further.nodes, before.entries + further.entries), direction)


def symmetric_weight(u: int, v: int) -> float:
    return 0.25 + (u * v) % 7


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("cached_nodes", [push.CACHED_NODES, 0])  # with prefetching or without
def test_rows_of_a_grown_graph_have_the_bytes_of_the_merged_one(monkeypatch, direction, cached_nodes):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "3")
    padding = max(0, push.CACHED_NODES + 1 - 300) if not cached_nodes else 0
    pairs, later = seeded(300, 2000).pairs, seeded(400, 1500, seed=1).pairs
    size = 300 + padding
    later = tuple((u + padding * (u >= 300), v + padding * (v >= 300)) for u, v in later)
    before = WeightedEdges(size, tuple((u, v, symmetric_weight(u, v)) for u, v in pairs))
    loops = {(u, v) for u, v in pairs if u == v}
    known = [(u, v) for u, v in later if u != v or u >= size or (u, v) in loops]  # an old loop's weight is not changed
    further = WeightedEdges(size + 100, tuple((u, v, symmetric_weight(u, v)) for u, v in known))
    grown, merged = grown_and_merged(before, further, direction)
    sources, w = np.append(np.arange(300), np.arange(size, size + 100)), np.full(5, 1 / 5)
    for top_k in (8, 400):
        rows, expected = (RowPusher(graph, w, 1e-5, top_k).push(sources) for graph in (grown, merged))
        for part in ("neighbors", "values", "l1_error", "edges"):
            assert getattr(rows, part).tobytes() == getattr(expected, part).tobytes()


@given(weighted_graphs(), directions, mixtures(), RMAX, st.data())
def test_small_grown_graphs_too(before, direction, w, rmax, data):
    if adjacency_of(before, direction).weights is None:
        return
    n, m = before.nodes, before.nodes + data.draw(st.integers(1, 3))
    ends = st.tuples(st.integers(0, m - 1), st.integers(n, m - 1))
    further = WeightedEdges(m, tuple((u, v, 2.5) for u, v in data.draw(st.lists(ends, max_size=9))))
    grown, merged = grown_and_merged(before, further, direction)
    rows, expected = (RowPusher(graph, w, rmax, 5).push(np.arange(m)) for graph in (grown, merged))
    for part in ("neighbors", "values", "l1_error", "edges"):
        assert getattr(rows, part).tobytes() == getattr(expected, part).tobytes()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_weights_may_be_as_large_and_small_as_float32_has_them(direction):
    values = [1e-37, 1e38, 3e38, 1.0, 1e-20, 2e19]
    entries = tuple((u, v, values[(u + 2 * v) % 6]) for u, v in seeded(40, 160).pairs)
    edges = WeightedEdges(40, tuple({entry[:2]: entry for entry in entries}.values()))
    adjacency, w = adjacency_of(edges, direction), np.full(4, 1 / 4)
    pi = edges.pi(w, direction)
    rows = gfpush(adjacency, range(40), weights=w, rmax=0, top_k=40)
    assert dense_rows(rows, 40) == pytest.approx(pi, abs=1e-6)
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32) * 1e6
    assert propagate(adjacency, x, weights=w) == pytest.approx(pi @ x, rel=1e-4, abs=1)
    assert column_sums(adjacency, w) == pytest.approx(pi.sum(axis=0), abs=1e-4)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_the_bytes_do_not_depend_on_workers(monkeypatch, workers):
    edges = seeded(2500, 9000)
    weighted = WeightedEdges(edges.nodes, tuple((u, v, symmetric_weight(u, v)) for u, v in edges.pairs))
    adjacency, x = adjacency_of(weighted, "out"), np.random.default_rng(0).normal(size=(2500, 3)).astype(np.float32)
    w, results = np.full(4, 1 / 4), []
    for count in ("2", workers):
        monkeypatch.setenv("GRANDPLUS_WORKERS", count)
        rows = RowPusher(adjacency, w, 1e-5, 16).push(np.arange(2500))
        results.append((rows.values.tobytes(), rows.neighbors.tobytes(), propagate(adjacency, x, weights=w).tobytes()))
    assert results[0] == results[1]


@given(weighted_graphs(), directions, mixtures())
def test_sums_of_columns_are_those_of_the_dense_matrix(edges, direction, w):
    sums = column_sums(adjacency_of(edges, direction), w)
    assert sums == pytest.approx(edges.pi(w, direction).sum(axis=0), rel=1e-4, abs=1e-4)
