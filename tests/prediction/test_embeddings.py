"""Embeddings as a table: ids beside, whole or not at all."""

import time

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from processes import python

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.prediction import embeddings
from grandplus.prediction.embeddings import write_embeddings

NODES = 23


def graph_of(ids):
    return Graph(as_adjacency(sp.eye_array(len(ids))), np.eye(len(ids), dtype=np.float32), np.zeros(len(ids)), [], ids)


@pytest.mark.parametrize("ids", [np.arange(100, 100 + NODES), np.array([f"node {i}" for i in range(NODES)], object)])
@pytest.mark.parametrize("rows", [7, 2**16])
def test_each_node_has_a_line(tmp_path, monkeypatch, ids, rows):
    monkeypatch.setattr(embeddings, "GROUP_ROWS", rows)
    hidden = np.random.default_rng(0).random((NODES, 5), np.float32)
    write_embeddings(tmp_path / "out.parquet", graph_of(ids), hidden[::1])
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["node"].to_pylist() == ids.tolist()
    assert table["embedding"].to_pylist() == hidden.tolist()
    assert table.schema.field("embedding").type.list_size == 5
    assert [file.name for file in tmp_path.iterdir()] == ["out.parquet"]


def test_what_fails_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "GROUP_ROWS", 7)
    file, graph = tmp_path / "out.parquet", graph_of(np.arange(NODES))
    write_embeddings(file, graph, np.zeros((NODES, 2), np.float32))
    before = file.read_bytes()

    class Breaks:
        shape = (NODES, 2)

        def __len__(self):
            return NODES

        def __getitem__(self, rows):
            if rows.start:
                raise MemoryError
            return np.ones((7, 2), np.float32)

    with pytest.raises(MemoryError):
        write_embeddings(file, graph, Breaks())
    assert file.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["out.parquet"]


WRITES = """
import itertools
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.prediction.embeddings import write_embeddings

nodes = 50_000
features = np.zeros((nodes, 1), np.float32)
graph = Graph(as_adjacency(sp.eye_array(nodes)), features, np.zeros(nodes), [], np.arange(nodes))
for number in itertools.count():
    write_embeddings(Path(sys.argv[1]), graph, np.full((nodes, 16), number, np.float32))
    print(number, flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.05])
def test_a_kill_leaves_nothing_half_written(tmp_path, delay):
    script, file = tmp_path / "writes.py", tmp_path / "out.parquet"
    script.write_text(WRITES)
    with python(script, file) as process:
        assert process.stdout.readline()
        time.sleep(delay)
        process.kill()
        process.wait()
    values = pq.read_table(file)["embedding"].combine_chunks().flatten().to_numpy()
    assert len(values) == 50_000 * 16
    assert (values == values[0]).all()
