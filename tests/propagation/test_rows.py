"""Rows in memory and as Parquet shards: nothing is lost, and nothing foreign or damaged is read."""

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graphs import FIVE, graphs, mixtures, seeded
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.adjacency import as_adjacency
from grandplus.propagation import rows as module
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import METADATA, Rows, RowsInfo, shards
from grandplus.runtime.errors import ArgumentError, ArtifactError

INFO = RowsInfo("avg", (0.5, 0.5), 1e-5, 3, 40, "0" * 64)


def made(count=10, info=INFO, id_type=np.int32) -> Rows:
    """Rows of the nodes 0, 3, 6, ...: row i has 1 + i % 3 entries."""
    lengths = 1 + np.arange(count) % 3
    held = np.arange(3) < lengths[:, None]
    neighbors = np.where(held, (np.arange(count)[:, None] + 7 * np.arange(3)) % info.nodes, -1).astype(id_type)
    values = np.where(held, np.float32(0.1) / (1 + np.arange(3)), 0).astype(np.float32)
    node = 3 * np.arange(count, dtype=np.int64)
    return Rows(node, neighbors, values, np.linspace(0, 1, count, dtype=np.float32), info)


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(module, "ROWS_A_SHARD", 4)


def assert_same(rows: Rows, expected: Rows) -> None:
    """Equal but for the width, which loading cuts to the longest row."""
    assert rows.info == expected.info
    for name in ("node", "l1_error"):
        mine, theirs = getattr(rows, name), getattr(expected, name)
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    width = rows.neighbors.shape[1]
    for name, filler in (("neighbors", -1), ("values", 0)):
        mine, theirs = getattr(rows, name), getattr(expected, name)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs[:, :width])
        assert np.all(theirs[:, width:] == filler)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


# --- Saved and loaded ------------------------------------------------------------------------


@pytest.mark.parametrize("id_type", [np.int32, np.int64])
@pytest.mark.parametrize(("count", "files"), [(0, 1), (1, 1), (4, 1), (5, 2), (8, 2), (10, 3)])
def test_round_trip_over_several_shards(tmp_path, small_shards, count, files, id_type):
    rows = made(count, id_type=id_type)
    rows.save(tmp_path)
    assert [file.name for file in sorted(tmp_path.iterdir())] == [
        f"rows-{number:05d}-of-{files:05d}.parquet" for number in range(files)
    ]
    assert_same(Rows.load(tmp_path), rows)
    assert_same(Rows.load(str(tmp_path), graph=INFO.graph), rows)


@given(edges=graphs(), w=mixtures(), rmax=st.floats(0, 0.5), top_k=st.integers(1, 10), size=st.integers(1, 5))
def test_rows_of_any_graph_survive(edges, w, rmax, top_k, size):
    rows = gfpush(edges.matrix, range(edges.nodes), weights=w, rmax=rmax, top_k=top_k)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_A_SHARD", size)
        rows.save(folder)
        assert len(list(Path(folder).iterdir())) == -(-edges.nodes // size)
        loaded = Rows.load(folder, graph=as_adjacency(edges.matrix).fingerprint)
        assert_same(loaded, rows)
        again = Path(folder) / "again"
        loaded.save(again)
        first = bytes_of_parquet(Path(folder))
        assert first == bytes_of_parquet(again)


def bytes_of_parquet(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.parquet"))}


def test_two_saves_are_byte_identical(tmp_path, small_shards):
    for name in ("first", "second"):
        made().save(tmp_path / name)
    assert bytes_of(tmp_path / "first") == bytes_of(tmp_path / "second")
    assert len(bytes_of(tmp_path / "first")) == 3


def test_a_shard_made_alone_is_the_same_file(tmp_path, small_shards):
    rows = made()
    rows.save(tmp_path / "whole")
    for name, start, end in shards(10):
        rows.part(start, end).write_shard(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_files_are_as_the_design_has_them(tmp_path):
    made().save(tmp_path)
    file = tmp_path / "rows-00000-of-00001.parquet"
    schema = pq.read_schema(file)
    assert [(name, str(kind)) for name, kind in zip(schema.names, schema.types, strict=True)] == [
        ("node", "int64"),
        ("neighbors", "list<element: int32>"),
        ("weights", "list<element: float>"),
        ("l1_error", "float"),
    ]
    assert json.loads(schema.metadata[METADATA]) == {
        "matrix": "avg",
        "weights": [0.5, 0.5],
        "rmax": 1e-5,
        "top_k": 3,
        "nodes": 40,
        "graph": "0" * 64,
    }
    # No filler is stored.
    assert pq.read_table(file)["neighbors"].to_pylist()[:3] == [[0], [1, 8], [2, 9, 16]]
    wide = made(id_type=np.int64)
    wide.save(tmp_path)
    assert str(pq.read_schema(file).field("neighbors").type) == "list<element: int64>"


def test_shards_cover_all_rows_once():
    assert list(shards(0)) == [("rows-00000-of-00001.parquet", 0, 0)]
    assert list(shards(4096)) == [("rows-00000-of-00001.parquet", 0, 4096)]
    assert list(shards(4097)) == [
        ("rows-00000-of-00002.parquet", 0, 4096),
        ("rows-00001-of-00002.parquet", 4096, 4097),
    ]


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fails(table, file, **options):
        Path(file).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", fails)
    with pytest.raises(OSError, match="disk full"):
        made().save(tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- Refused ---------------------------------------------------------------------------------


def refusal(folder: Path, graph: str | None = None) -> str:
    with pytest.raises(ArtifactError) as refused:
        Rows.load(folder, graph)
    message = str(refused.value)
    assert "\n" not in message
    assert "dvc" not in message  # the library doesn't know what made the rows
    return message


SECOND = "rows-00001-of-00003.parquet"


@pytest.fixture
def saved(tmp_path, small_shards) -> Path:
    made().save(tmp_path)
    return tmp_path


def test_rows_of_another_graph_than_wanted(saved):
    message = refusal(saved, graph="1" * 64)
    assert message.startswith(f"{saved / 'rows-00000-of-00003.parquet'}: is of another graph")


@pytest.mark.parametrize(
    "change",
    [{"graph": "1" * 64}, {"top_k": 4}, {"rmax": 1e-6}, {"weights": (0.25, 0.75)}, {"matrix": "ppr"}, {"nodes": 41}],
)
@pytest.mark.parametrize("graph", [None, INFO.graph])
def test_a_shard_of_another_graph_or_other_settings(saved, change, graph):
    made(info=replace(INFO, **change)).part(4, 8).write_shard(saved / SECOND)
    assert f"{saved / SECOND}: is of another graph or other settings" in refusal(saved, graph)


def rewritten(file: Path, change) -> None:
    table = pq.read_table(file)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), file)


def cast(position: int, name: str, kind: pa.DataType):
    return lambda table: table.set_column(position, name, table[name].cast(kind))


OTHER_SCHEMAS = {
    "no weights": lambda table: table.drop_columns(["weights"]),
    "one column more": lambda table: table.append_column("more", pa.array(np.zeros(len(table)))),
    "other order": lambda table: table.select(["node", "weights", "neighbors", "l1_error"]),
    "other name": lambda table: table.rename_columns(["id", "neighbors", "weights", "l1_error"]),
    "float64 errors": cast(3, "l1_error", pa.float64()),
    "float64 weights": cast(2, "weights", pa.list_(pa.float64())),
    "int16 ids": cast(1, "neighbors", pa.list_(pa.int16())),
    "ids unlike the other shards'": cast(1, "neighbors", pa.list_(pa.int64())),
}


@pytest.mark.parametrize("change", OTHER_SCHEMAS.values(), ids=OTHER_SCHEMAS.keys())
def test_a_shard_of_another_schema(saved, change):
    rewritten(saved / SECOND, change)
    message = refusal(saved)
    assert message.startswith(f"{saved / SECOND}: has columns")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {"other": "{}"},
        {METADATA: ""},
        {METADATA: "{"},
        {METADATA: "[]"},
        {METADATA: "{}"},
        {METADATA: '{"matrix": "avg"}'},
        {METADATA: '{"matrix": "avg", "weights": 1, "rmax": 0, "top_k": 1, "nodes": 1, "graph": ""}'},
        {METADATA: '{"matrix": "avg", "weights": [], "rmax": 0, "top_k": 1, "nodes": 1, "graph": "", "more": 1}'},
    ],
)
def test_a_shard_that_does_not_say_what_it_is_of(saved, metadata):
    pq.write_table(pq.read_table(saved / SECOND).replace_schema_metadata(metadata), saved / SECOND)
    assert refusal(saved).startswith(f"{saved / SECOND}: says nothing of what it was made from")


@pytest.fixture(scope="module")
def three_shards(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_A_SHARD", 4)
        made().save(folder)
    return folder


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_shard(three_shards, share):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(three_shards, folder, dirs_exist_ok=True)
        whole = (folder / SECOND).read_bytes()
        (folder / SECOND).write_bytes(whole[: int(share * len(whole))])
        assert refusal(folder).startswith(f"{folder / SECOND}: can't be read")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"<!DOCTYPE html>\n<html></html>\n" * 9, bytes(4096)])
def test_a_file_that_is_no_parquet(saved, content):
    (saved / SECOND).write_bytes(content)
    assert refusal(saved).startswith(f"{saved / SECOND}: can't be read")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_shard_is_named(saved, number):
    missing = saved / f"rows-{number:05d}-of-00003.parquet"
    missing.unlink()
    assert refusal(saved).startswith(f"{missing}: no such file")


def test_an_empty_and_an_absent_folder(tmp_path):
    assert refusal(tmp_path).startswith(f"{tmp_path}: holds no rows")
    assert refusal(tmp_path / "nowhere").startswith(f"{tmp_path / 'nowhere'}: holds no rows")


def test_a_save_takes_the_place_of_another_number_of_shards(saved):
    (saved / "rows-of-mine.csv").write_text("kept")
    for count in (3, 10, 6):
        made(count).save(saved)
        assert Rows.load(saved).node.tolist() == made(count).node.tolist()
    assert (saved / "rows-of-mine.csv").exists()


def test_shards_of_two_sets(saved):
    made(3).write_shard(saved / "rows-00000-of-00001.parquet")
    assert refusal(saved).startswith(f"{saved}: holds shards of several sets, of 1 and of 3")


# --- In memory -------------------------------------------------------------------------------


def test_positions_find_the_rows_of_nodes():
    rows = made(4)  # nodes 0, 3, 6, 9
    assert rows.positions(np.array([6, 0, 9, 9])).tolist() == [2, 0, 3, 3]
    assert rows.positions(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize(("nodes", "missing"), [([0, 4, 3], 4), ([10], 10), ([-1], -1), ([9, 100, 1], 100)])
def test_positions_of_a_node_without_a_row(nodes, missing):
    with pytest.raises(ArgumentError, match=f"there is no row of node {missing}$"):
        made(4).positions(np.array(nodes))


def test_positions_where_there_are_no_rows():
    with pytest.raises(ArgumentError, match="no row of node 0"):
        made(0).positions(np.array([0]))


@given(nodes=st.sets(st.integers(0, 50), max_size=20), data=st.data())
def test_positions_of_any_nodes(nodes, data):
    rows = replace(made(len(nodes)), node=np.array(sorted(nodes), np.int64))
    wanted = np.array(data.draw(st.lists(st.sampled_from(sorted(nodes)))) if nodes else [], np.int64)
    assert np.array_equal(rows.node[rows.positions(wanted)], wanted)


@pytest.mark.parametrize("top_k", [1, 4, 9])
def test_the_largest_are_those_that_a_smaller_k_keeps(top_k):
    nodes = np.arange(0, 300, 3)
    graph = as_adjacency(seeded(300, 3000).matrix)
    long, short = (gfpush(graph, nodes, weights=[0.2] * 5, rmax=1e-4, top_k=k) for k in (9, top_k))
    largest = long.largest(top_k)
    assert largest.info == short.info
    for part in ("node", "neighbors", "values"):
        assert getattr(largest, part).tobytes() == getattr(short, part).tobytes()
    np.testing.assert_allclose(largest.l1_error, short.l1_error, atol=1e-6)


@pytest.mark.parametrize("top_k", [0, 4])
def test_there_are_no_more_than_were_kept(top_k):
    with pytest.raises(ArgumentError, match=f"top_k is {top_k}; expected from 1 to 3, as the rows have"):
        made().largest(top_k)


def test_to_csr_by_hand():
    # From 3 with weights 1/2 and 1/2: half of it stays, half of the other half goes to 2.
    rows = gfpush(FIVE.matrix, [3, 4], weights=[0.5, 0.5], rmax=0, top_k=5)
    matrix = rows.to_csr()
    assert matrix.dtype == np.float32
    assert matrix.toarray().tolist() == [[0, 0, 0.25, 0.75, 0], [0, 0, 0, 0, 1]]
    assert matrix.nnz == 3  # no filler


@given(count=st.integers(0, 12))
def test_to_csr_holds_each_entry_where_it_belongs(count):
    rows = made(count)
    expected = np.zeros((count, 40), np.float32)
    for row in range(count):
        for neighbor, value in zip(rows.neighbors[row], rows.values[row], strict=True):
            if neighbor >= 0:
                expected[row, neighbor] = value
    assert np.array_equal(rows.to_csr().toarray(), expected)


def test_length_and_order():
    assert len(made(7)) == 7
    assert replace(INFO, weights=(0.25,) * 4).order == 3


@pytest.mark.parametrize(("nodes", "width"), [([0, 3, 6], 3), ([3, 12], 2), ([0], 1), ([9], 1), ([], 0)])
def test_the_rows_of_some_nodes_are_as_wide_as_the_longest(nodes, width):
    rows, everything = made().of(np.array(nodes, np.int64)), made()
    assert rows.neighbors.shape == rows.values.shape == (len(nodes), width)
    assert rows.node.tolist() == nodes
    assert_same(rows, replace(everything, **{
        name: getattr(everything, name)[[node // 3 for node in nodes]]
        for name in ("node", "neighbors", "values", "l1_error")
    }))  # fmt: skip


def test_the_rows_of_a_node_without_one():
    with pytest.raises(ArgumentError, match="there is no row of node 4"):
        made().of(np.array([0, 4]))
