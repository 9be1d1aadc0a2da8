"""The hidden layer of a finished run's models as a table, for other programs to use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.methods.files import load_model
from grandplus.prediction.predictions import GROUP_ROWS
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.paths import as_path
from grandplus.runtime.storage import finished_whole


def embed_run(data: Path | str = "data", trial: int = 0) -> tuple[Graph, NDArray[np.float32]]:
    """The hidden layer of every node, by one trial's model of a finished run.

    The trials' layers have nothing to do with each other, so there is no mean of them.

    Parameters
    ----------
    data : path
        The folder with the run's graph and models.
    trial : int

    Returns
    -------
    graph : Graph
    embeddings : float32 (n, h)
        See `grandplus.methods.protocol.Model.embed`.

    Raises
    ------
    ArtifactError
        There is no finished run, or its folders are of different runs.
    ArgumentError
        There is no such trial, or the method has no hidden layer that sees a node's neighbours.
    GrandPlusError
        It needs more memory than ``GRANDPLUS_MEMORY`` allows.
    """
    data = as_path(data, "data")
    files = sorted((data / "model").glob("trial-*.safetensors"))
    if not files:
        raise ArtifactError("holds no model", where=data / "model")
    if not 0 <= trial < len(files):
        raise ArgumentError(f"trial is {trial}", where=data / "model", expected=f"0 to {len(files) - 1}")
    graph, model = Graph.load(data / "graph"), load_model(files[trial], environment.device())
    if graph.classes != model.classes or graph.fitted.to_json() != model.preprocessing:
        raise ArtifactError("the graph and the models are of different runs", where=data)
    return graph, model.embed(graph)


def write_embeddings(file: Path | str, graph: Graph, embeddings: NDArray[np.float32]) -> None:
    """Write a Parquet file with a line for each node, in the order of the graph, whole or not at all.

    Its columns are node (original id) and embedding (a list of float32).

    Parameters
    ----------
    file : path
    graph : Graph
    embeddings : ndarray of float32, shape (n, h)

    Raises
    ------
    OSError
        It can't be written; a file that was there before is still there.
    """
    schema = pa.schema(
        {"node": pa.array(graph.node_ids[:1]).type, "embedding": pa.list_(pa.float32(), embeddings.shape[1])}
    )
    with (
        finished_whole(as_path(file, "file"), alone=True) as partial,
        pq.ParquetWriter(partial, schema, use_dictionary=False) as writer,
    ):
        for start in range(0, len(embeddings), GROUP_ROWS):
            rows = slice(start, start + GROUP_ROWS)
            values = pa.array(np.ascontiguousarray(embeddings[rows]).ravel())
            lists = pa.FixedSizeListArray.from_arrays(values, embeddings.shape[1])
            writer.write_table(pa.Table.from_arrays([pa.array(graph.node_ids[rows]), lists], schema=schema))
