"""GFPush against dense power iteration, a plain Algorithm 1, and rows worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import EDGE_CASES, FIVE, Edges, graphs, mixtures, regular, seeded
from hypothesis import assume, example, given
from hypothesis import strategies as st

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.graph import Graph
from grandplus.propagation.gfpush import RowPusher, gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError

FLOAT32 = 2.0**-24  # largest relative error of rounding to float32
RMAX = st.one_of(st.just(0.0), st.integers(0, 24).map(lambda power: 2.0**-power), st.floats(1e-8, 1))
NAMED = pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())


def rows_of(edges: Edges, w, rmax, top_k=None, nodes=None):
    sources = range(edges.nodes) if nodes is None else nodes
    return gfpush(edges.matrix, sources, weights=w, rmax=rmax, top_k=top_k or edges.nodes)


def entries(rows, row: int) -> dict[int, float]:
    held = rows.neighbors[row] >= 0
    return dict(zip(rows.neighbors[row][held].tolist(), rows.values[row][held].tolist(), strict=True))


def arrays(rows) -> list[bytes]:
    return [part.tobytes() for part in (rows.node, rows.neighbors, rows.values, rows.l1_error)]


def algorithm_1(neighborhoods, source, w, rmax, one=1.0):
    """The paper's Algorithm 1, line by line, in the number type of ``one``.

    Returns Π̃_s, the edges pushed over, and how near (relatively) any decision came to a tie.
    """
    order = len(w) - 1
    r = [{source: one}] + [{} for _ in range(order)]
    q = [{source: one}] + [{} for _ in range(order)]
    edges, nearest = 0, float("inf")
    for n in range(1, order + 1):
        for v, mass in r[n - 1].items():
            limit = len(neighborhoods[v]) * rmax
            nearest = min(nearest, abs(float(mass - limit)) / float(mass))
        while ready := [v for v, mass in r[n - 1].items() if mass > len(neighborhoods[v]) * rmax]:
            v = ready[0]
            for u in neighborhoods[v]:
                r[n][u] = r[n].get(u, 0 * one) + r[n - 1][v] / len(neighborhoods[v])
                q[n][u] = r[n][u]
                edges += 1
            r[n - 1][v] = 0 * one
    mixed: dict[int, float] = {}
    for weight, part in zip(w, q, strict=True):
        for u, mass in part.items():
            mixed[u] = mixed.get(u, 0 * one) + weight * mass
    return {u: mass for u, mass in mixed.items() if mass > 0}, edges, nearest


# --- By hand, on the graph in graphs.py ------------------------------------------------------
#
# q⁽⁰⁾, q⁽¹⁾, q⁽²⁾ of a source, and the edges pushed over. Degrees d: 3, 3, 4, 2, 1.
THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)
BY_HAND = {
    # From 3, d = 2: q⁽¹⁾ gives 2 and 3 a half each.
    # A limit of nearly nothing: 2 gives 0, 1, 2, 3 an eighth each; 3 gives 2 and 3 a quarter each.
    (3, 1e-9): ([{3: 1}, {2: 1 / 2, 3: 1 / 2}, {0: 1 / 8, 1: 1 / 8, 2: 3 / 8, 3: 3 / 8}], 2 + 4 + 2),
    # r = 1/2 of node 2 is exactly d · rmax = 4 · 1/8, not more: not pushed. 3 is: 1/2 > 2 · 1/8.
    (3, 1 / 8): ([{3: 1}, {2: 1 / 2, 3: 1 / 2}, {2: 1 / 4, 3: 1 / 4}], 2 + 2),
    # The next lower limit, and 2 is pushed.
    (3, np.nextafter(1 / 8, 0)): ([{3: 1}, {2: 1 / 2, 3: 1 / 2}, {0: 1 / 8, 1: 1 / 8, 2: 3 / 8, 3: 3 / 8}], 8),
    # Now 3 is just not pushed either, as 1/2 = 2 · 1/4.
    (3, 1 / 4): ([{3: 1}, {2: 1 / 2, 3: 1 / 2}, {}], 2),
    # Nor in the first round: 1 = 2 · 1/2.
    (3, 1 / 2): ([{3: 1}, {}, {}], 0),
    # From 0, d = 3: a third each to 0, 1, 2. Then 0 and 1 (d = 3) give a ninth to each of 0, 1, 2,
    # and 2 (d = 4) a twelfth to each of 0, 1, 2, 3: 2/9 + 1/12 = 11/36.
    (0, 1e-9): (
        [{0: 1}, dict.fromkeys((0, 1, 2), THIRD), dict.fromkeys((0, 1, 2), Fraction(11, 36)) | {3: Fraction(1, 12)}],
        3 + 3 + 3 + 4,
    ),
    # 1/3 > 3 · .1, but not > 4 · .1: without node 2.
    (0, 0.1): ([{0: 1}, dict.fromkeys((0, 1, 2), THIRD), dict.fromkeys((0, 1, 2), Fraction(2, 9))], 3 + 3 + 3),
    # 1 > 3 · .2, then 1/3 is less than 3 · .2.
    (0, 0.2): ([{0: 1}, dict.fromkeys((0, 1, 2), THIRD), {}], 3),
    # From 2, d = 4: a quarter each. 0 and 1 give a twelfth to each of 0, 1, 2; 2 a sixteenth to all
    # four; 3 an eighth to 2 and 3. So 0 and 1: 2/12 + 1/16 = 11/48; 2: 2/12 + 1/16 + 1/8 = 17/48.
    (2, 1e-9): (
        [
            {2: 1},
            dict.fromkeys((0, 1, 2, 3), QUARTER),
            {0: Fraction(11, 48), 1: Fraction(11, 48), 2: Fraction(17, 48), 3: Fraction(9, 48)},
        ],
        4 + 3 + 3 + 4 + 2,
    ),
    # Node 2 is just not pushed: 1/4 = 4 · 1/16. 0 and 1 (3/16) and 3 (2/16) are.
    (2, 1 / 16): (
        [
            {2: 1},
            dict.fromkeys((0, 1, 2, 3), QUARTER),
            {0: Fraction(1, 6), 1: Fraction(1, 6), 2: Fraction(7, 24), 3: Fraction(1, 8)},
        ],
        4 + 3 + 3 + 2,
    ),
    # The isolated node walks on the spot.
    (4, 1e-9): ([{4: 1}, {4: 1}, {4: 1}], 2),
    (4, 0.999): ([{4: 1}, {4: 1}, {4: 1}], 2),
    (4, 1.0): ([{4: 1}, {}, {}], 0),
}
MIXES = {
    "ppr": [Fraction(4, 7), Fraction(2, 7), Fraction(1, 7)],  # α = 1/2
    "avg": [THIRD] * 3,
    "single": [0, 0, 1],
    "custom": [Fraction(1, 2), Fraction(1, 8), Fraction(3, 8)],
}
PARAMETERS = {"ppr": {"alpha": 0.5}, "custom": {"weights": [float(weight) for weight in MIXES["custom"]]}}


@pytest.mark.parametrize("matrix", MIXES)
@pytest.mark.parametrize(("source", "rmax"), BY_HAND)
def test_rows_worked_out_by_hand(matrix, source, rmax):
    reserves, edges = BY_HAND[source, rmax]
    mix = MIXES[matrix]
    w = propagation_weights(matrix, order=2, **PARAMETERS.get(matrix, {}))
    expected = {
        u: float(sum(weight * q.get(u, 0) for weight, q in zip(mix, reserves, strict=True)))
        for u in range(5)
        if any(weight and u in q for weight, q in zip(mix, reserves, strict=True))
    }
    rows = gfpush(FIVE.matrix, [source], weights=w, rmax=rmax, top_k=5, matrix=matrix)
    assert entries(rows, 0) == pytest.approx(expected, rel=1e-6)
    assert rows.l1_error[0] == pytest.approx(1 - sum(expected.values()), abs=1e-7)
    assert list(entries(rows, 0)) == sorted(expected, key=lambda u: (-np.float32(expected[u]), u))
    assert rows.info.matrix == matrix
    assert rows.info.weights == pytest.approx([float(weight) for weight in mix])
    pushed = RowPusher(as_adjacency(FIVE.matrix), w, rmax, 5).push(np.array([source]))
    assert pushed.edges.tolist() == [edges]


def test_one_row_in_plain_numbers():
    # From 3 with average pooling, N = 2 and r_max = 1/8: (1 + 1/2 + 1/4) / 3 stays at 3 and
    # (1/2 + 1/4) / 3 reaches 2; the 1/2 that node 2 held is not passed on: a third of it is lost.
    rows = gfpush(FIVE.matrix, [3], weights=[1 / 3] * 3, rmax=1 / 8, top_k=2)
    assert rows.neighbors.tolist() == [[3, 2]]
    assert rows.values.tolist() == [[np.float32(7 / 12), np.float32(1 / 4)]]
    assert rows.l1_error.tolist() == [np.float32(1 / 6)]


# --- Against dense float64 power iteration --------------------------------------------------


@given(edges=graphs(), w=mixtures(), rmax=RMAX)
@example(edges=seeded(60, 150), w=np.full(11, 1 / 11), rmax=2.0**-9)
@example(edges=seeded(60, 150), w=propagation_weights("ppr", order=20, alpha=0.2), rmax=1e-3)
def test_rows_never_exceed_pi_and_the_bounds_hold(edges, w, rmax):
    pi, rows = edges.pi(w), rows_of(edges, w, rmax)
    assert np.all(rows.to_csr().toarray() <= pi * (1 + 2 * FLOAT32) + 1e-15)
    order = len(w) - 1
    degrees = sum(map(len, edges.neighborhoods.values()))  # 2|E| + |V|
    assert np.all(rows.l1_error <= order * degrees * rmax + 1e-6)
    if rmax > 0:
        pushed = RowPusher(as_adjacency(edges.matrix), w, rmax, edges.nodes).push(np.arange(edges.nodes))
        assert np.all(pushed.edges <= order / rmax)


@given(edges=graphs(), w=mixtures(), rmax=RMAX, top_k=st.integers(1, 10))
@example(edges=seeded(200, 500), w=np.full(5, 1 / 5), rmax=1e-4, top_k=8)  # several blocks of rows
def test_l1_error_is_the_true_distance(edges, w, rmax, top_k):
    rows = rows_of(edges, w, rmax, top_k)
    distance = np.abs(edges.pi(w) - rows.to_csr().toarray()).sum(axis=1)
    assert rows.l1_error == pytest.approx(distance, abs=1e-6)
    assert np.all(rows.l1_error >= 0)


@pytest.mark.parametrize("rmax", [0.0, 1e-300, 1e-12])
@given(edges=graphs(), w=mixtures())
def test_pushing_everything_gives_pi(rmax, edges, w):
    rows = rows_of(edges, w, rmax)
    assert rows.to_csr().toarray() == pytest.approx(edges.pi(w), rel=2 * FLOAT32, abs=1e-10 if rmax == 1e-12 else 1e-15)
    assert np.all(rows.l1_error <= 1e-9)


@NAMED
def test_pushing_everything_gives_pi_on_odd_graphs(edges):
    w = propagation_weights("avg", order=5)
    rows = rows_of(edges, w, 0.0)
    assert rows.to_csr().toarray() == pytest.approx(edges.pi(w), rel=2 * FLOAT32, abs=1e-15)


def test_mass_too_small_for_a_float_is_dropped():
    # From one end of a path a walk is after n steps n nodes away with probability 2⁻¹3¹⁻ⁿ: 0 in float64
    # from n = 680 on. The other weights are such that a third of one is rounded to 0.
    path, tiny = Edges(760, tuple((i, i + 1) for i in range(759))), 5e-324
    w = np.zeros(751)
    w[[0, 100, 101, 750]] = 0.5, tiny, tiny, 0.5
    rows = gfpush(path.matrix, [0], weights=w, rmax=0, top_k=760)
    walk, power = sp.csr_array(path.walk), np.eye(1, 760)[0]
    for _ in range(750):
        power = power @ walk
    expected = 0.5 * power + 0.5 * np.eye(1, 760)[0]
    assert rows.to_csr().toarray()[0] == pytest.approx(expected, rel=1e-6, abs=1e-44)
    assert rows.l1_error[0] == pytest.approx(0, abs=1e-12)


def test_order_zero_is_the_identity():
    rows = rows_of(FIVE, [1.0], 0.0)
    assert rows.to_csr().toarray().tolist() == np.eye(5).tolist()
    assert rows.l1_error.tolist() == [0] * 5


def test_isolated_nodes_keep_all_their_mass():
    edges = EDGE_CASES["two parts and isolated nodes"]
    rows = rows_of(edges, propagation_weights("ppr", order=8, alpha=0.2), 0.01, nodes=[0, 3, 6, 8])
    assert [entries(rows, row) for row in range(4)] == [{0: 1.0}, {3: 1.0}, {6: 1.0}, {8: 1.0}]
    assert rows.l1_error == pytest.approx([0] * 4, abs=1e-12)


@given(edges=graphs(), w=mixtures(), rmax=RMAX)
def test_self_loops_repetitions_and_directions_of_the_input_change_nothing(edges, w, rmax):
    simple = {(min(pair), max(pair)) for pair in edges.pairs if pair[0] != pair[1]}
    assert arrays(rows_of(edges, w, rmax)) == arrays(rows_of(Edges(edges.nodes, tuple(sorted(simple))), w, rmax))


# --- Against a plain implementation of Algorithm 1 ------------------------------------------


@given(edges=graphs(), w=mixtures(), rmax=RMAX)
@example(edges=seeded(40, 100), w=np.full(7, 1 / 7), rmax=3e-4)
@example(edges=seeded(40, 100), w=propagation_weights("ppr", order=10, alpha=0.4), rmax=1e-5)
def test_algorithm_1_in_float64_agrees(edges, w, rmax):
    pushed = RowPusher(as_adjacency(edges.matrix), w, rmax, edges.nodes).push(np.arange(edges.nodes))
    for source in range(edges.nodes):
        expected, count, nearest = algorithm_1(edges.neighborhoods, source, w.tolist(), rmax)
        assume(nearest > 1e-12)  # another order of additions may decide a tie differently
        held = pushed.neighbors[source] >= 0
        neighbors = pushed.neighbors[source][held].tolist()
        assert set(neighbors) == set(expected)
        assert pushed.edges[source] == count
        exact = np.array([expected[u] for u in neighbors])
        # Equal to 1e-12 before the rounding to float32, so between the roundings of both ends.
        assert np.all(pushed.values[source][held] >= (exact - 1e-12).astype(np.float32))
        assert np.all(pushed.values[source][held] <= (exact + 1e-12).astype(np.float32))
        assert pushed.l1_error[source] == pytest.approx(1 - exact.sum(), rel=2 * FLOAT32, abs=1e-12)


@given(
    half=st.integers(2, 6), power=st.integers(0, 12), parts=st.sampled_from(["1", "01", "112", "0004", "2002", "1111"])
)
def test_algorithm_1_in_exact_numbers_agrees_ties_included(half, power, parts):
    # All masses are multiples of 4⁻³, as are many limits: r = d · rmax happens all the time.
    edges, rmax = regular(2 * half), Fraction(1, 2**power)
    total = sum(map(int, parts))
    w = [Fraction(int(part), total) for part in parts]
    adjacency = as_adjacency(edges.matrix)
    pushed = RowPusher(adjacency, np.array(w, float), float(rmax), edges.nodes).push(np.arange(edges.nodes))
    for source in range(edges.nodes):
        expected, count, _ = algorithm_1(edges.neighborhoods, source, w, rmax, one=Fraction(1))
        assert entries(pushed, source) == expected
        assert pushed.l1_error[source] == 1 - sum(expected.values())
        assert pushed.edges[source] == count


# --- Order and top-k ------------------------------------------------------------------------


@given(edges=graphs(), w=mixtures(), rmax=RMAX, top_k=st.integers(1, 12))
def test_a_row_is_its_best_entries_in_order(edges, w, rmax, top_k):
    full, cut = rows_of(edges, w, rmax), rows_of(edges, w, rmax, top_k)
    for row in range(edges.nodes):
        everything = entries(full, row)
        ranked = sorted(everything, key=lambda node: (-everything[node], node))
        assert list(everything) == ranked
        assert list(entries(cut, row).items()) == [(node, everything[node]) for node in ranked[:top_k]]
    assert np.all(cut.l1_error >= full.l1_error)


def test_equal_values_are_ordered_and_cut_by_node():
    star = EDGE_CASES["star with its centre last"]
    rows = rows_of(star, [0.5, 0.5], 0.0, top_k=4, nodes=[8])
    assert rows.neighbors.tolist() == [[8, 0, 1, 2]]
    # Its own half and a ninth of the other, then a ninth of a half each.
    assert rows.values[0] == pytest.approx([5 / 9, 1 / 18, 1 / 18, 1 / 18])
    assert rows.l1_error[0] == pytest.approx(5 / 18)


def test_the_stored_float32_decides_not_the_float64():
    # 0 reaches 1 and 2 alike in one step (1/3), but 2 the sooner in two (1/9 + 1/6 against
    # 1/9 + 1/9, as 1 has a further neighbour). With a weight of 1e-9 the difference is below float32.
    edges = Edges(4, ((0, 1), (0, 2), (1, 3)))
    apart = rows_of(edges, [0.5, 0.25, 0.25], 0.0, nodes=[0])
    assert apart.neighbors.tolist() == [[0, 2, 1, 3]]
    for top_k, expected in ((4, [0, 1, 2, 3]), (2, [0, 1])):
        alike = rows_of(edges, [0.5, 0.5 - 1e-9, 1e-9], 0.0, top_k, nodes=[0])
        assert alike.neighbors.tolist() == [expected]
        assert alike.values[0, 1] == np.float32(1 / 6)


@pytest.mark.parametrize("top_k", [4, 5, 6, 1000, 10**12])
def test_more_than_there_is_keeps_all_and_fills_up(top_k):
    rows = rows_of(FIVE, [0.0, 0.0, 1.0], 0.0, top_k)
    held = rows.neighbors >= 0
    assert held.sum(axis=1).tolist() == [4, 4, 4, 4, 1]
    assert rows.neighbors.shape == (5, min(top_k, 5))
    assert np.all(rows.neighbors[~held] == -1)
    assert np.all(rows.values[~held] == 0)
    assert rows.l1_error == pytest.approx([0] * 5, abs=1e-12)
    assert rows.info.top_k == top_k


@given(edges=graphs(), w=mixtures(), rmax=RMAX, chosen=st.sets(st.integers(0, 8)))
def test_a_row_does_not_depend_on_which_others_are_asked_for(edges, w, rmax, chosen):
    nodes = [node for node in sorted(chosen, reverse=True) if node < edges.nodes]
    all_rows, some = rows_of(edges, w, rmax), rows_of(edges, w, rmax, nodes=nodes)
    assert some.node.tolist() == sorted(nodes)
    assert some.neighbors.tolist() == all_rows.neighbors[some.node].tolist()
    assert some.values.tolist() == all_rows.values[some.node].tolist()


# --- The same bytes however it is run --------------------------------------------------------

LARGER = seeded(700, 2500)


def larger(adjacency=None):
    w = propagation_weights("ppr", order=10, alpha=0.2)
    return gfpush(LARGER.matrix if adjacency is None else adjacency, range(700), weights=w, rmax=1e-5, top_k=16)


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_the_number_of_workers_changes_nothing(monkeypatch, workers):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    alone = arrays(larger())
    monkeypatch.setenv("GRANDPLUS_WORKERS", str(workers))
    assert arrays(larger()) == alone


def test_read_only_and_memory_mapped_arrays_give_the_same(tmp_path):
    adjacency = as_adjacency(LARGER.matrix)
    expected = arrays(larger(adjacency))
    adjacency.save(tmp_path)
    mapped = Adjacency.load(tmp_path)
    assert not mapped.indices.flags.writeable
    assert arrays(larger(mapped)) == expected
    for part in (adjacency.indptr, adjacency.indices):
        part.flags.writeable = False
    assert arrays(larger(adjacency)) == expected
    nodes, w = np.arange(700), propagation_weights("ppr", order=10, alpha=0.2)
    nodes.flags.writeable = w.flags.writeable = False
    assert arrays(gfpush(mapped, nodes, weights=w, rmax=1e-5, top_k=16)) == expected


def test_int64_ids_give_the_same():
    narrow = as_adjacency(LARGER.matrix)
    wide = Adjacency(narrow.indptr, narrow.indices.astype(np.int64))
    rows, wide_rows = larger(narrow), larger(wide)
    assert (rows.neighbors.dtype, wide_rows.neighbors.dtype) == (np.int32, np.int64)
    assert np.array_equal(wide_rows.neighbors, rows.neighbors)
    assert wide_rows.values.tobytes() == rows.values.tobytes()
    assert wide_rows.l1_error.tobytes() == rows.l1_error.tobytes()


def test_types_are_those_that_the_rows_promise():
    rows = larger()
    assert (rows.node.dtype, rows.neighbors.dtype) == (np.int64, np.int32)
    assert (rows.values.dtype, rows.l1_error.dtype) == (np.float32, np.float32)
    assert rows.info.graph == as_adjacency(LARGER.matrix).fingerprint
    assert (rows.info.rmax, rows.info.top_k, rows.info.nodes, rows.info.order) == (1e-5, 16, 700, 10)


def test_what_a_notebook_passes_is_taken(tmp_path):
    expected = rows_of(FIVE, [0.2, 0.3, 0.5], 0.01, top_k=3)
    odd = gfpush(
        sp.csc_matrix(FIVE.matrix.toarray().astype(bool)),
        np.arange(5, dtype=np.uint8)[::-1],
        weights=np.array([0.5, 0.3, 0.2])[::-1],  # not contiguous
        rmax=np.float64(0.01),
        top_k=np.int64(3),
    )
    assert arrays(odd) == arrays(expected)
    odd.save(tmp_path)
    assert type(odd).load(tmp_path).info == expected.info


def test_a_graph_is_taken_as_its_adjacency():
    graph = Graph(as_adjacency(FIVE.matrix), np.eye(5, dtype=np.float32), np.zeros(5, np.int64), ["a"], np.arange(5))
    settings = {"weights": [0.2, 0.3, 0.5], "rmax": 0.01, "top_k": 3}
    expected = arrays(gfpush(FIVE.matrix, range(5), **settings))
    assert arrays(gfpush(graph, range(5), **settings)) == expected
    assert arrays(gfpush(graph.adjacency, range(5), **settings)) == expected


def test_no_nodes_give_no_rows():
    rows = rows_of(FIVE, [0.5, 0.5], 0.1, nodes=[])
    assert len(rows) == 0
    assert rows.to_csr().shape == (0, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": [1, 2, 1]}, "nodes names node 1 twice; expected each node once"),
        ({"nodes": [0, 5]}, "nodes names 5; expected numbers from 0 to 4"),
        ({"nodes": [-1, 3]}, "nodes names -1; expected numbers from 0 to 4"),
        ({"nodes": [0.5]}, "nodes has shape (1,) and type float64"),
        ({"nodes": [[0, 1]]}, "nodes has shape (1, 2)"),
        ({"nodes": [True, False]}, "type bool"),
        ({"rmax": -1e-9}, "rmax is -1e-09"),
        ({"rmax": float("nan")}, "rmax is nan"),
        ({"rmax": "small"}, "rmax is 'small'"),
        ({"rmax": None}, "rmax is None"),
        ({"top_k": 0}, "top_k is 0"),
        ({"top_k": 1.5}, "top_k is 1.5; expected rmax: a number of at least 0, top_k: a whole number of at least 1"),
        ({"top_k": None}, "top_k is None"),
        ({"weights": [0.5, 0.4]}, "sum to 0.9; expected w_0..w_N, at least 0 and summing to 1"),
        ({"weights": [1.5, -0.5]}, "expected w_0..w_N, at least 0"),
        ({"weights": [float("nan"), 1]}, "sum to nan"),
        ({"weights": []}, "sum to 0"),
        ({"weights": [[0.5, 0.5]]}, "expected w_0..w_N"),
        ({"adjacency": np.eye(5)}, "adjacency is a ndarray; expected a scipy sparse matrix or a Graph"),
        ({"adjacency": sp.csr_array((5, 4))}, "adjacency has shape (5, 4); expected a square matrix"),
    ],
)
def test_what_is_refused(changes, message):
    arguments = {"adjacency": FIVE.matrix, "nodes": [0], "weights": [0.5, 0.5], "rmax": 0.1, "top_k": 2} | changes
    with pytest.raises(ArgumentError) as refused:
        gfpush(arguments.pop("adjacency"), arguments.pop("nodes"), **arguments)
    assert message in str(refused.value)
