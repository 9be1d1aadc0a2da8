"""The CSR graph: what is merged and dropped, by hand; its invariants; what is on disk."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import EDGE_CASES, graphs, seeded
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grandplus.graph import adjacency as module
from grandplus.graph import symmetrize
from grandplus.graph.adjacency import Adjacency, as_adjacency, build_adjacency
from grandplus.graph.graph import Graph
from grandplus.runtime.errors import ArgumentError, ArtifactError, GrandPlusError

NAMED = pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES.keys())


def same(one: Adjacency, other: Adjacency) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


# --- build_adjacency -------------------------------------------------------------------------


def test_counts_by_hand():
    # 0-1 three times (once backwards): 1 edge, 2 repetitions. 2-1 once. 3-3 twice and 0-0: 3 loops.
    # 4-2 and 2-4: 1 edge, 1 repetition. Nodes 3 (loops only), 5 and 6 have no edge.
    edges = np.array([[0, 1, 0, 2, 3, 3, 0, 4, 2], [1, 0, 1, 1, 3, 3, 0, 2, 4]])
    adjacency, facts = build_adjacency(edges, nodes=7)
    assert facts == {"edges": 3, "merged_duplicates": 3, "dropped_self_loops": 3, "isolated_nodes": 3}
    assert adjacency.indptr.tolist() == [0, 1, 3, 5, 5, 6, 6, 6]
    assert adjacency.indices.tolist() == [1, 0, 2, 1, 4, 2]
    assert adjacency.degrees.tolist() == [2, 3, 3, 1, 2, 1, 1]  # with the self-loop of Ã
    assert adjacency.nodes == 7
    assert (adjacency.indptr.dtype, adjacency.indices.dtype) == (np.int64, np.int32)


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_a_graph_without_edges(nodes):
    adjacency, facts = build_adjacency(np.zeros((2, 0), np.int64), nodes)
    assert facts == {"edges": 0, "merged_duplicates": 0, "dropped_self_loops": 0, "isolated_nodes": nodes}
    assert adjacency.indptr.tolist() == [0] * (nodes + 1)
    assert adjacency.degrees.tolist() == [1] * nodes


@NAMED
def test_odd_graphs_equal_their_dense_matrix(edges):
    check_against_dense(edges)


@given(graphs())
def test_any_graph_equals_its_dense_matrix(edges):
    check_against_dense(edges)


def check_against_dense(edges):
    adjacency, facts = build_adjacency(edges.array, edges.nodes)
    dense = np.zeros((edges.nodes, edges.nodes), int)
    for node, neighborhood in edges.neighborhoods.items():
        dense[node, neighborhood[1:]] = 1
    matrix = sp.csr_array(
        (np.ones(len(adjacency.indices)), adjacency.indices, adjacency.indptr), shape=(edges.nodes, edges.nodes)
    )
    assert np.array_equal(matrix.toarray(), dense)  # so symmetric, without a diagonal, each edge once
    for row in np.split(adjacency.indices, adjacency.indptr[1:-1]):
        assert np.all(np.diff(row) > 0)
    assert np.array_equal(adjacency.degrees, dense.sum(axis=1) + 1)
    assert facts == {
        "edges": dense.sum() // 2,
        "merged_duplicates": sum(u != v for u, v in edges.pairs) - dense.sum() // 2,
        "dropped_self_loops": sum(u == v for u, v in edges.pairs),
        "isolated_nodes": int((dense.sum(axis=1) == 0).sum()),
    }


@given(graphs(), st.sampled_from([1, 2, 3]), st.booleans())
def test_pieces_and_narrow_ids_change_nothing(edges, piece, narrow):
    """Edges read piece by piece, as int32 and from a read-only array that is not contiguous."""
    expected, facts = build_adjacency(edges.array, edges.nodes)
    given = np.asfortranarray(edges.array.astype(np.int32 if narrow else np.int64))
    given.flags.writeable = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetrize, "PIECE", piece)
        patch.setattr(symmetrize, "ENTRIES", piece)
        found, other_facts = build_adjacency(given, edges.nodes)
    assert same(found, expected)
    assert other_facts == facts


@given(graphs(), st.sampled_from([1, 2, 4, 2**16]), st.sampled_from([1, 4, 64]))
def test_rows_a_block_change_nothing(edges, rows, entries):
    expected, facts = build_adjacency(edges.array, edges.nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetrize, "ROWS", rows)
        patch.setattr(symmetrize, "ENTRIES", entries)
        found, other_facts = build_adjacency(edges.array, edges.nodes)
    assert same(found, expected)
    assert other_facts == facts


def test_long_rows_are_sorted_and_merged_too():
    """Rows beyond what insertion sort takes, with every edge several times."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 300, (2, 40_000))
    adjacency, facts = build_adjacency(edges, 300)
    dense = np.zeros((300, 300), bool)
    dense[edges[0], edges[1]] = dense[edges[1], edges[0]] = True
    np.fill_diagonal(dense, False)
    expected = sp.csr_array(dense)
    assert np.array_equal(adjacency.indices, expected.indices)
    assert np.array_equal(adjacency.indptr, expected.indptr)
    assert facts["edges"] == dense.sum() // 2


@given(graphs(), st.randoms(use_true_random=False))
def test_order_and_direction_of_entries_do_not_matter(edges, random):
    shuffled = [random.choice([(u, v), (v, u)]) for u, v in edges.pairs]
    random.shuffle(shuffled)
    expected, facts = build_adjacency(edges.array, edges.nodes)
    found, other_facts = build_adjacency(np.array(shuffled, np.int64).reshape(-1, 2).T, edges.nodes)
    assert same(found, expected)
    assert other_facts == facts


@given(graphs())
def test_building_from_what_was_built_changes_nothing(edges):
    adjacency, facts = build_adjacency(edges.array, edges.nodes)
    rows = np.repeat(np.arange(edges.nodes), np.diff(adjacency.indptr))
    again, again_facts = build_adjacency(np.stack([rows, adjacency.indices]).astype(np.int64), edges.nodes)
    assert same(again, adjacency)
    assert again_facts == facts | {"merged_duplicates": facts["edges"], "dropped_self_loops": 0}


def test_many_nodes_do_not_overflow_the_keys():
    nodes = 3_000_000_000 // 1000  # ids whose products are far above 2³¹
    edges = np.array([[nodes - 1, 0, nodes - 2], [nodes - 2, nodes - 1, nodes - 1]])
    adjacency, facts = build_adjacency(edges, nodes)
    assert facts["edges"] == 2
    assert adjacency.indices.tolist() == [nodes - 1, nodes - 1, 0, nodes - 2]
    assert adjacency.degrees[[0, 1, nodes - 2, nodes - 1]].tolist() == [2, 1, 2, 3]


def test_ids_are_int64_where_int32_is_too_narrow(monkeypatch):
    monkeypatch.setattr(module, "INT32_IDS", 3)
    assert build_adjacency(np.array([[0], [2]]), 3)[0].indices.dtype == np.int32
    assert build_adjacency(np.array([[0], [3]]), 4)[0].indices.dtype == np.int64


@pytest.mark.parametrize(("pair", "bad"), [((0, 3), 3), ((-1, 2), -1), ((7, -2), -2)])
def test_edges_to_nodes_that_do_not_exist(pair, bad):
    with pytest.raises(GrandPlusError, match=f"an edge names node {bad}; expected ids from 0 to 2"):
        build_adjacency(np.array(pair).reshape(2, 1), nodes=3)


# --- as_adjacency ----------------------------------------------------------------------------

FORMATS = [
    *(getattr(sp, f"{name}_array") for name in ("coo", "csr", "csc", "lil", "dok", "dia", "bsr")),
    *(getattr(sp, f"{name}_matrix") for name in ("coo", "csr", "csc", "lil", "dok", "dia", "bsr")),
]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_any_scipy_matrix_is_taken(kind, dtype):
    edges = EDGE_CASES["self-loops beside edges"]
    matrix = kind(edges.matrix.toarray().astype(dtype))
    assert same(as_adjacency(matrix), build_adjacency(edges.array, edges.nodes)[0])


@given(graphs())
def test_one_direction_is_enough_and_values_do_not_count(edges):
    matrix = edges.matrix
    matrix.data = np.linspace(-5.5, -0.5, len(matrix.data))  # of one sign: repeated edges must not add up to 0
    expected = build_adjacency(edges.array, edges.nodes)[0]
    assert same(as_adjacency(matrix), expected)
    assert same(as_adjacency(matrix.tocsr().T), expected)


def test_stored_zeros_are_no_edges():
    matrix = sp.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert as_adjacency(matrix).indices.tolist() == [1, 0]


def test_adjacencies_and_graphs_are_taken_as_they_are():
    adjacency = as_adjacency(sp.csr_array((3, 3)))
    assert as_adjacency(adjacency) is adjacency
    assert as_adjacency(some_graph(adjacency)) is adjacency


@pytest.mark.parametrize(
    ("given_matrix", "message"),
    [
        (np.eye(3), "adjacency is a ndarray; expected a scipy sparse matrix or a Graph"),
        ([[0, 1], [1, 0]], "adjacency is a list"),
        (None, "adjacency is a NoneType"),
        (sp.csr_array((3, 2)), r"adjacency has shape \(3, 2\); expected a square matrix"),
        (sp.coo_array(np.array([0, 1, 1])), r"adjacency has shape \(3,\); expected a square matrix"),
    ],
)
def test_what_is_no_adjacency(given_matrix, message):
    with pytest.raises(ArgumentError, match=message):
        as_adjacency(given_matrix)


# --- Fingerprint, save and load --------------------------------------------------------------


def some_graph(adjacency: Adjacency, features=None, **changes) -> Graph:
    nodes = adjacency.nodes
    parts = {
        "adjacency": adjacency,
        "features": np.arange(2 * nodes, dtype=np.float32).reshape(nodes, 2) if features is None else features,
        "labels": np.arange(nodes) % 3 - 1,
        "classes": ["a", "ü"],
        "node_ids": np.array([f"paper {i}" for i in range(nodes)], object),
        "facts": {"edges": 5, "isolated_nodes": 0},
    }
    return Graph(**(parts | changes))


def test_the_fingerprint_is_that_of_the_structure(tmp_path):
    adjacency = as_adjacency(EDGE_CASES["path"].matrix)
    adjacency.save(tmp_path)
    assert Adjacency.load(tmp_path).fingerprint == adjacency.fingerprint
    others = {as_adjacency(edges.matrix).fingerprint for edges in EDGE_CASES.values()}
    assert len(others) == len(EDGE_CASES) - 2  # two pairs of the cases are one graph each
    assert adjacency.fingerprint in others


@NAMED
def test_an_adjacency_is_mapped_read_only(edges, tmp_path):
    adjacency = as_adjacency(edges.matrix)
    adjacency.save(tmp_path)
    loaded = Adjacency.load(tmp_path)
    assert same(loaded, adjacency)
    for part, other in ((loaded.indptr, adjacency.indptr), (loaded.indices, adjacency.indices)):
        assert part.dtype == other.dtype
        assert isinstance(part.base, np.memmap)
        assert not part.flags.writeable


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_graph_survives(tmp_path, layout):
    x = np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, 3], [0, 0, 0.25]], np.float32)
    graph = some_graph(
        as_adjacency(EDGE_CASES["self-loops beside edges"].matrix), x if layout == "dense" else sp.csr_array(x)
    )
    graph.save(tmp_path)
    loaded = Graph.load(str(tmp_path))
    assert same(loaded.adjacency, graph.adjacency)
    assert sp.issparse(loaded.features) == (layout == "sparse")
    assert loaded.features.dtype == np.float32
    assert loaded.features.shape == (4, 3)
    assert np.array_equal(loaded.features.toarray() if layout == "sparse" else loaded.features, x)
    assert loaded.labels.tolist() == [-1, 0, 1, -1]
    assert loaded.labels.dtype == np.int64
    assert loaded.classes == ["a", "ü"]
    assert loaded.node_ids.tolist() == ["paper 0", "paper 1", "paper 2", "paper 3"]
    assert loaded.facts.items() >= {"edges": 5, "isolated_nodes": 0}.items()


def test_mapped_sparse_features_can_be_computed_with(tmp_path):
    x = np.random.default_rng(0).random((30, 6)).astype(np.float32) * (np.arange(6) % 2)
    graph = some_graph(as_adjacency(seeded(30, 60).matrix), sp.csr_array(x))
    graph.save(tmp_path)
    features = Graph.load(tmp_path).features
    assert isinstance(features.data.base, np.memmap)
    assert np.array_equal(features[[4, 2]].toarray(), x[[4, 2]])
    assert (features @ np.ones(6)) == pytest.approx(x.sum(axis=1), rel=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        features.data[0] = 1


def test_features_without_an_entry_survive(tmp_path):
    some_graph(as_adjacency(sp.csr_array((3, 3))), sp.csr_array((3, 5), dtype=np.float32)).save(tmp_path)
    assert np.array_equal(Graph.load(tmp_path).features.toarray(), np.zeros((3, 5)))


def test_two_saves_are_byte_identical(tmp_path):
    graph = some_graph(as_adjacency(EDGE_CASES["star"].matrix))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        graph.save(tmp_path / name)
    first, second = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert first == second
    assert set(first) == {
        "indptr.npy", "indices.npy", "features.npy", "labels.npy", "classes.json", "node_ids.parquet", "graph.json",
        "features.json", "adjacency.json",
    }  # fmt: skip


@given(graphs(), hnp.arrays(np.int64, 9, elements=st.integers(-1, 3)), st.integers(1, 4))
def test_any_graph_survives(edges, labels, width):
    graph = some_graph(
        as_adjacency(edges.matrix), np.ones((edges.nodes, width), np.float32), labels=labels[: edges.nodes]
    )
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder))
        loaded = Graph.load(folder)
        assert same(loaded.adjacency, graph.adjacency)
        assert np.array_equal(loaded.labels, graph.labels)
        assert np.array_equal(loaded.features, graph.features)
        assert np.array_equal(loaded.node_ids, graph.node_ids)


@pytest.fixture
def saved(tmp_path) -> Path:
    some_graph(as_adjacency(EDGE_CASES["path"].matrix)).save(tmp_path)
    return tmp_path


FILES = ["indptr.npy", "indices.npy", "features.npy", "labels.npy", "classes.json", "node_ids.parquet", "graph.json",
         "features.json"]  # fmt: skip


def refusal(folder: Path) -> str:
    with pytest.raises(ArtifactError) as refused:
        Graph.load(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("name", [name for name in FILES if name != "features.npy"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    assert refusal(saved).startswith(f"{saved / name}: no such file")


def test_missing_features_are_named(saved):
    (saved / "features.npy").unlink()
    assert "features." in refusal(saved)
    assert "no such file" in refusal(saved)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0, 0.05, 0.5, 0.95])
def test_a_truncated_file_is_named(saved, name, share):
    whole = (saved / name).read_bytes()
    (saved / name).write_bytes(whole[: int(share * len(whole))])
    assert refusal(saved).startswith(f"{saved / name}: is no readable")


def test_pickled_arrays_are_refused(saved):
    np.save(saved / "labels.npy", np.array([{}], object), allow_pickle=True)
    assert refusal(saved).startswith(f"{saved / 'labels.npy'}: is no readable array")


@pytest.mark.parametrize("version", [0, 2, None])
def test_another_format_version_is_refused(saved, version):
    facts = json.loads((saved / "graph.json").read_text())
    (saved / "graph.json").write_text(json.dumps(facts | {"format_version": version}))
    assert refusal(saved).startswith(f"{saved}: format version is {version}; expected 1")


def test_edges_of_int32_are_those_of_int64():
    edges = np.random.default_rng(0).integers(0, 100_000, (2, 1000), np.int64)  # 100,000² is beyond int32
    (wanted, wanted_facts), (found, facts) = (build_adjacency(edges.astype(kind), 100_000) for kind in ("i8", "i4"))
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    assert facts == wanted_facts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.ones((3, 2), np.float32)}, r"features has shape \(3, 2\); expected 4 rows of columns"),
        ({"features": np.ones(4, np.float32)}, r"features has shape \(4,\); expected 4 rows of columns"),
        ({"features": sp.csr_array((5, 2))}, r"features has shape \(5, 2\)"),
        ({"labels": np.zeros(5, int)}, r"labels has shape \(5,\); expected \(4,\), as the adjacency has 4 nodes"),
        ({"node_ids": np.arange(3)}, r"node_ids has shape \(3,\)"),
    ],
)
def test_parts_of_other_nodes_are_refused(changes, message):
    with pytest.raises(ArgumentError, match=message):
        some_graph(as_adjacency(sp.csr_array((4, 4))), **changes)


def test_saved_parts_of_other_nodes_are_refused(saved):
    np.save(saved / "labels.npy", np.zeros(1, np.int64))
    assert refusal(saved).startswith(f"{saved}: labels has shape (1,)")


@pytest.mark.parametrize(("name", "text"), [("graph.json", "[]"), ("graph.json", "null"), ("classes.json", "null")])
def test_a_json_file_of_another_kind_is_named(tmp_path, name, text):
    nodes = 4
    adjacency, _ = build_adjacency(np.array([[0], [1]]), nodes)
    Graph(adjacency, np.ones((nodes, 2), np.float32), np.zeros(nodes, np.int64), ["a"], np.arange(nodes)).save(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(ArtifactError, match=r"graph\.json or classes\.json is damaged"):
        Graph.load(tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "graph").touch()
    with pytest.raises(ArtifactError, match="can't be read: Not a directory"):
        Graph.load(tmp_path / "graph")
