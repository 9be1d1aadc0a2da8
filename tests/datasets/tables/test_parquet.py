"""Tables of Parquet as pandas writes them, under any name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.parquet import first_rows, is_parquet, pieces_of
from grandplus.importing.recognise import recognise
from grandplus.runtime.errors import GrandPlusError

EDGES = [(10, 12), (12, 14), (14, 16), (16, 10)]
LABELS = ["a", "b", "a", "b"]


def read(folder, nodes: pd.DataFrame, suffix: str = ".parquet", **asked: object) -> RawGraph:
    files = [folder / f"edges{suffix}", folder / f"nodes{suffix}"]
    pd.DataFrame(EDGES, columns=["source", "target"]).to_parquet(files[0])
    nodes.to_parquet(files[1])
    form, how = recognise(files, Reading(**asked))
    return read_files(folder, form, [file.name for file in files], Source(format=form, read=how))


def check(graph: RawGraph) -> None:
    assert graph.node_ids.tolist() == [10, 12, 14, 16]
    assert [graph.classes[label] for label in graph.labels] == LABELS
    assert sorted(map(sorted, graph.node_ids[graph.edges.T].tolist())) == sorted(map(sorted, EDGES))
    np.testing.assert_array_equal(graph.features, [[0], [1], [2], [0]])


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".parq", "", ".table"])
def test_it_is_told_by_its_content(tmp_path, suffix):
    check(read(tmp_path, pd.DataFrame({"id": range(10, 17, 2), "label": LABELS, "x": [0, 1, 2, 0]}), suffix))


@pytest.mark.parametrize("name", ["id", "person", None])
@pytest.mark.parametrize("kind", [pd.RangeIndex, pd.Index])
def test_the_index_is_the_id_if_the_edges_name_it(tmp_path, name, kind):
    """pandas writes one that counts only among what it says of itself."""
    index = pd.RangeIndex(10, 18, 2, name=name) if kind is pd.RangeIndex else pd.Index([10, 12, 14, 16], name=name)
    nodes = pd.DataFrame({"label": LABELS, "x": [0, 1, 2, 0]}, index)
    if name is None and kind is pd.RangeIndex:  # every DataFrame has such a one
        with pytest.raises(GrandPlusError):
            read(tmp_path, nodes)
    else:
        check(read(tmp_path, nodes))


def test_a_column_that_holds_the_ids_too_is_not_chosen_in_silence(tmp_path):
    nodes = pd.DataFrame({"label": LABELS, "x": [12, 14, 16, 10]}, pd.RangeIndex(10, 18, 2, name="person"))
    with pytest.raises(GrandPlusError, match=r"holds ids of the edges in several columns: x, person.*--id"):
        read(tmp_path, nodes)


def test_pieces_of_a_counted_index(tmp_path):
    file = tmp_path / "n.parquet"
    pd.DataFrame({"x": np.arange(100_000)}, pd.RangeIndex(5, 300_005, 3, name="id")).to_parquet(file)
    columns, rows = first_rows(file, 2)
    assert (columns.names, columns.indexes, rows) == (["x", "id"], {"id"}, [["0", "5"], ["1", "8"]])
    for wanted in ([1], [1, 0]):
        pieces = [np.asarray(piece[0]) for piece in pieces_of(file, wanted)]
        assert len(pieces) > 1
        np.testing.assert_array_equal(np.concatenate(pieces), np.arange(5, 300_005, 3))


def test_text_that_begins_with_the_mark_is_text(tmp_path):
    (tmp_path / "edges.csv").write_text("PAR1,b\n")
    assert not is_parquet(tmp_path / "edges.csv")
