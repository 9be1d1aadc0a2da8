"""The kernel of GFPush against dense float64: local indices, degrees, the choice of the largest entries."""

import numpy as np
import pytest
from graphs import EDGE_CASES, FIVE, Edges, graphs, mixtures, seeded
from hypothesis import example, given
from hypothesis import strategies as st

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.propagation import gfpush as module
from grandplus.propagation import push
from grandplus.propagation.gfpush import Pushed, RowPusher
from grandplus.propagation.workspace import Workspace
from grandplus.runtime.errors import ArgumentError

LARGER = seeded(300, 2000)
RMAX = st.one_of(st.just(0.0), st.integers(1, 20).map(lambda power: 2.0**-power))


def dense(edges: Edges, w, rmax) -> np.ndarray:
    """Π̃ by whole passes over a dense P: float64, without lists and without top-k."""
    walk = edges.walk
    degrees = np.array([len(edges.neighborhoods[node]) for node in range(edges.nodes)])
    residue = np.eye(edges.nodes)
    mixed = w[0] * residue
    for weight in w[1:]:
        residue = np.where(residue > degrees * rmax, residue, 0) @ walk
        mixed = mixed + weight * residue
    return mixed


def pushed(edges: Edges, w, rmax, top_k: int, ids=np.int32, nodes=None) -> Pushed:
    given = as_adjacency(edges.matrix)
    adjacency = Adjacency(given.indptr, given.indices.astype(ids))
    sources = np.arange(edges.nodes) if nodes is None else np.array(nodes)
    return RowPusher(adjacency, np.asarray(w, np.float64), rmax, top_k).push(sources)


def check(rows: Pushed, exact: np.ndarray, rmax: float) -> None:
    """Entries, order, what was kept and the certificate of every row."""
    for row, expected in enumerate(exact):
        held = rows.neighbors[row] >= 0
        nodes, values = rows.neighbors[row][held], rows.values[row][held]
        assert np.all(held[: len(nodes)])  # filler comes last
        assert len(set(nodes.tolist())) == len(nodes)
        # A push that rounding decides moves an entry by rmax at most.
        assert values == pytest.approx(expected[nodes], rel=1e-6, abs=2 * rmax + 1e-15)
        assert list(zip(-values, nodes, strict=True)) == sorted(zip(-values, nodes, strict=True))
        left = np.delete(expected, nodes)
        if len(nodes) == rows.neighbors.shape[1]:
            assert np.all(left <= values[-1] * (1 + 1e-6) + 2 * rmax)
        else:
            assert np.all(left <= 2 * rmax)
        assert rows.l1_error[row] == pytest.approx(1 - values.sum(dtype=np.float64), abs=1e-6)


def same(one: Pushed, other: Pushed) -> bool:
    parts = ("neighbors", "values", "l1_error", "edges")
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)


@given(edges=graphs(), w=mixtures(), rmax=RMAX, top_k=st.sampled_from([1, 2, 3, 9, 10**9]))
@example(edges=LARGER, w=np.full(4, 1 / 4), rmax=1e-4, top_k=1)
@example(edges=LARGER, w=np.full(4, 1 / 4), rmax=1e-4, top_k=17)
@example(edges=LARGER, w=np.full(4, 1 / 4), rmax=0.0, top_k=10**9)
@example(edges=LARGER, w=np.eye(3)[2], rmax=1e-3, top_k=64)
def test_rows_are_those_of_whole_dense_passes(edges, w, rmax, top_k):
    exact = dense(edges, w, rmax)
    narrow = pushed(edges, w, rmax, top_k)
    check(narrow, exact, rmax)
    assert same(narrow, pushed(edges, w, rmax, top_k, np.int64))


@pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())
@pytest.mark.parametrize("rmax", [0.0, 1e-3, 0.2])
def test_odd_graphs(edges, rmax):
    w = np.full(4, 1 / 4)
    check(pushed(edges, w, rmax, 3), dense(edges, w, rmax), rmax)


def test_long_rows_short_rows_and_many_pushes():
    # A hub whose row is longer than what is prefetched, beside a path.
    hub = Edges(400, tuple((0, i) for i in range(1, 300)) + tuple((i, i + 1) for i in range(299, 399)))
    w = np.full(6, 1 / 6)
    check(pushed(hub, w, 1e-6, 50), dense(hub, w, 1e-6), 1e-6)


# --- The choice of the largest ---------------------------------------------------------------


@pytest.mark.parametrize("top_k", [1, 2, 16, 100, 400])
@pytest.mark.parametrize("leaves", [15, 33, 34, 35, 300])
def test_of_many_equal_values_the_lowest_nodes_stay(leaves, top_k):
    # From the centre, which comes last, one step gives all leaves the same. They are kept in the order of
    # their numbers, however often the room for candidates is full.
    star = Edges(leaves + 1, tuple((leaves, i) for i in range(leaves)))
    rows = pushed(star, [0.5, 0.5], 0.0, top_k, nodes=[leaves])
    assert rows.neighbors[0].tolist() == [leaves, *range(leaves)][:top_k]


def test_equal_values_reached_in_another_order_are_kept_by_node():
    # Two steps from 0: the leaves of node 2 have higher numbers than those of node 1, or the other way.
    for first, second in ((range(3, 103), range(103, 203)), (range(103, 203), range(3, 103))):
        edges = Edges(203, ((0, 1), (0, 2), *((1, i) for i in first), *((2, i) for i in second)))
        rows = pushed(edges, [0, 0, 1.0], 0.0, 12, nodes=[0])
        assert rows.neighbors[0].tolist() == [0, 1, 2, *range(3, 12)]


@pytest.mark.parametrize("edges", [LARGER, seeded(150, 8000)])
def test_a_graph_that_is_large_enough_to_prefetch_gives_the_same(edges):
    adjacency, w = as_adjacency(edges.matrix), np.full(4, 1 / 4)
    padded = Adjacency(np.pad(adjacency.indptr, (0, push.CACHED_NODES), "edge"), adjacency.indices)
    for top_k in (8, 100):
        small, large = (RowPusher(graph, w, 1e-4, top_k).push(np.arange(150)) for graph in (adjacency, padded))
        assert same(large, small)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_memory_that_is_kept_changes_nothing(monkeypatch, workers):
    monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
    monkeypatch.setattr(module, "EDGES_WORTH_THREADS", 5000)
    pusher, w = RowPusher(as_adjacency(LARGER.matrix), np.full(4, 1 / 4), 1e-4, 8), np.full(4, 1 / 4)
    expected = pushed(LARGER, w, 1e-4, 8)
    for _ in range(3):
        assert same(pusher.push(np.arange(300)), expected)
    assert pusher.push(np.array([7])).values.tolist() == expected.values[7:8].tolist()


# --- Local indices and degrees -----------------------------------------------------------------


def test_local_indices_begin_anew_when_they_run_out(monkeypatch):
    w, rmax = np.full(4, 1 / 4), 1e-4
    expected = pushed(LARGER, w, rmax, 8)
    starts = []

    class Late(Workspace):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.first = push.INDICES - len(self.node) - 500  # a row or two before there are none
            starts.append(self)

    monkeypatch.setattr(module, "Workspace", Late)
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    assert same(pushed(LARGER, w, rmax, 8), expected)
    assert starts[0].first < push.INDICES // 2
    fresh = Workspace(as_adjacency(LARGER.matrix), 3, rmax, 8)
    assert np.array_equal(starts[0].local >> push.INDEX_BITS, fresh.local >> push.INDEX_BITS)


def test_logarithms_of_degrees_are_exact():
    degrees = np.array([1, 2, 3, 4, 7, 8, 2**20 - 1, 2**20, 2**31 - 1, 2**31])
    graph = Adjacency(np.concatenate([[0], np.cumsum(degrees - 1)]), np.empty(0, np.int32))
    assert (Workspace(graph, 1, 0.5, 1).local >> push.INDEX_BITS).tolist() == [0, 1, 1, 2, 2, 3, 19, 20, 30, 31]


def test_a_workspace_is_small_where_rmax_bounds_what_a_row_reaches():
    graph = Adjacency(np.zeros(1_000_001, np.int64), np.empty(0, np.int32))
    bounded = sum(part.nbytes for part in Workspace(graph, 4, 1e-2, 32).arrays)
    assert bounded < 4 * 1_000_000 + 57 * 1_000
    most = sum(part.nbytes for part in Workspace(graph, 4, 0.0, 32).arrays)
    assert most < 61 * 1_000_100


def test_more_nodes_than_local_indices_are_refused():
    graph = Adjacency(np.broadcast_to(np.int64(0), push.INDICES + 1), np.empty(0, np.int32))  # takes no memory
    with pytest.raises(ArgumentError, match=f"a row may reach {push.INDICES} nodes; expected fewer than"):
        Workspace(graph, 4, 0.0, 32)


def test_every_order_of_pushes_of_the_five_nodes():
    w = np.array([0.25, 0.25, 0.5])
    for rmax in (0.0, 0.05, 1 / 8, 0.3):
        check(pushed(FIVE, w, rmax, 5), dense(FIVE, w, rmax), rmax)
