"""Predictions for all nodes from finished models (the paper's Eq. 15)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from grandplus import execution
from grandplus.errors import GrandPlusError
from grandplus.graph import Features, Graph
from grandplus.propagation.power import propagate
from grandplus.scratch import finished_whole
from grandplus.splits import Split, Splits
from grandplus.training.model import Model


def infer_trials(graph_folder: Path, model_folder: Path, out: Path) -> None:
    """Write ``trial-00000.parquet``, … into the existing folder ``out`` for every model.

    Columns: node (original id), part (train, val, test or other), label (-1: unknown), predicted,
    confidence (of the predicted class) and probabilities (one a class).
    """
    torch.set_num_threads(1)  # one thread gives the same bytes anywhere
    graph, splits = Graph.load(graph_folder), Splits.load(graph_folder)
    files = sorted(model_folder.glob("trial-*.safetensors"))
    if not files:
        raise GrandPlusError("holds no model", where=model_folder, fix="run dvc repro train")
    inputs = None
    for trial, file in enumerate(tqdm(files, "infer", unit="trial", disable=None)):
        target = out / f"{file.stem}.parquet"
        if target.exists():
            continue
        model = Model.load(file, execution.device())
        if inputs is None and not model.multiplies_first:
            inputs = model_inputs(graph, model)  # the same for all trials: they share the propagation matrix
        table = predictions_table(graph, splits.of(trial), infer(graph, model, inputs=inputs))
        with finished_whole(target) as partial:
            pq.write_table(table, partial)


def infer(graph: Graph, model: Model, *, inputs: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Class probabilities of every node: float32 (n, C).

    Propagates the narrower side of the first layer where that is exact: (ΠX)W = Π(XW).

    inputs : ``model_inputs(graph, model)`` if it is there already, from a model of the same settings
    """
    if model.multiplies_first:
        return model.predict_proba_of_products(_propagated(graph, model.first_product(graph.features), model))
    return model.predict_proba(model_inputs(graph, model) if inputs is None else inputs)


def model_inputs(graph: Graph, model: Model) -> NDArray[np.float32]:
    """What the MLP takes, by power iteration: ΠX, or (1 - δ)ΠX if the model doesn't renormalise.

    float32 (n, d); models of the same settings share it.
    """
    return _propagated(graph, graph.features, model)


def _propagated(graph: Graph, features: Features, model: Model) -> NDArray[np.float32]:
    scale = 1.0 if model.train.renormalize else 1 - model.train.dropnode
    return propagate(graph, features, weights=model.weights) * np.float32(scale)


def predictions_table(graph: Graph, split: Split, probabilities: NDArray[np.float32]) -> pa.Table:
    """One line a node, in the order of the graph."""
    part = np.full(graph.adjacency.nodes, 3, np.int8)
    for number, nodes in enumerate((split.train, split.val, split.test)):
        part[nodes] = number
    names = pa.array(["train", "val", "test", "other"])
    flat = pa.array(probabilities.ravel())
    return pa.table(
        {
            "node": pa.array(graph.node_ids),
            "part": pa.DictionaryArray.from_arrays(part, names).cast(pa.string()),
            "label": pa.array(graph.labels),
            "predicted": pa.array(probabilities.argmax(axis=1)),
            "confidence": pa.array(probabilities.max(axis=1)),
            "probabilities": pa.FixedSizeListArray.from_arrays(flat, probabilities.shape[1]),
        }
    )
