"""Answers for a few nodes from their own rows of Π: no power iteration over the graph.

The rows are pushed as those for training were, but keep more entries than its top-k: inference is with Π
itself, and what a row lacks of it is known exactly.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.model import Model, as_input
from grandplus.methods.grandplus.random_propagation import Batch, RandomPropagation
from grandplus.methods.protocol import load_model
from grandplus.prediction.calibration import CALIBRATION, Calibration
from grandplus.propagation.gfpush import push_rows
from grandplus.propagation.rows import Rows, RowsInfo
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError, ArtifactError, GrandPlusError

KEPT = 2**14  # entries of a row
AT_ONCE = 64  # rows that are there together
GIB = 2**30


@dataclass(frozen=True, eq=False)
class Answers:
    """Of b nodes, ascending.

    node : int64 (b,)
    l1_error : float32 (b,), of their rows of Π
    probabilities : float32 (b, C), calibrated
    confident : bool (b,)
    """

    node: NDArray[np.int64]
    l1_error: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    confident: NDArray[np.bool_]

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Class numbers (b,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @property
    def confidence(self) -> NDArray[np.float32]:
        """Probability of the predicted class (b,)."""
        return np.asarray(self.probabilities.max(axis=1))


@dataclass(frozen=True, eq=False)
class Predictor:
    """A finished run: its graph, its models and how they become one answer.

    info : how its rows of Π were pushed
    """

    graph: Graph
    models: list[Model]
    info: RowsInfo
    calibration: Calibration

    @classmethod
    def load(cls, data: Path | str = "data", dataset: str | None = None) -> Predictor:
        """What the stages left below ``data``.

        dataset : the one that the models must be of, where one is wanted

        Raises
        ------
        GrandPlusError : there is no finished run, or it is of another dataset; the models are too large for
            ``GRANDPLUS_MEMORY``; the folders are of different runs.
        """
        data = Path(data)
        files = sorted((data / "model").glob("trial-*.safetensors"))
        if not files:
            raise ArtifactError("holds no model", where=data / "model")
        size, budget = sum(file.stat().st_size for file in files), environment.memory()
        if size > budget:
            found = f"the {len(files)} models take {size / GIB:.2f} GiB of memory, and may use {budget / GIB:.2f}"
            raise GrandPlusError(found, where=data / "model", fix="set GRANDPLUS_MEMORY higher if the machine has more")
        first = _load(files[0])
        trained_on = first.info.get("dataset")
        if dataset not in (None, trained_on):
            expected = f"{trained_on}, which the models in {data / 'model'} are of"
            raise ArgumentError(f"dataset is {dataset}", expected=expected)
        models = [first, *map(_load, files[1:])]
        graph, info = Graph.load(data / "graph"), RowsInfo.load(data / "rows")
        calibration = Calibration.load(data / "predictions" / CALIBRATION)
        of_one_run = (
            graph.classes == first.classes
            and graph.adjacency.nodes == info.nodes
            and info.weights == first.weights
            and len(calibration.temperatures) == len(models)
        )
        if not of_one_run:
            raise ArtifactError("the model, rows and predictions in it are of different runs", where=data)
        return cls(graph, models, info, calibration)

    def answer(self, nodes: ArrayLike) -> Answers:
        """Predict nodes (b,); each is answered once."""
        wanted = np.unique(nodes)
        errors, parts = [], []
        for start in range(0, len(wanted), AT_ONCE):
            rows = self.push(wanted[start : start + AT_ONCE])
            inputs = as_input(self.inputs(rows), "cpu")
            errors.append(rows.l1_error)
            parts.append([torch.softmax(model.mlp.evaluate(inputs), dim=-1).numpy() for model in self.models])
        probabilities = self.calibration.combine(np.concatenate(trial) for trial in zip(*parts, strict=True))
        confident = self.calibration.confident(probabilities.max(axis=1))
        return Answers(wanted, np.concatenate(errors), probabilities, confident)

    def push(self, nodes: NDArray[np.int64]) -> Rows:
        """Rows of Π of nodes (b,), ascending, as ``gfpush`` gives them but without the graph's fingerprint."""
        info = dataclasses.replace(self.info, top_k=KEPT)
        found = push_rows(self.graph.adjacency, nodes, np.array(info.weights), info.rmax, info.top_k)
        return Rows(nodes, found.neighbors, found.values, found.l1_error, info)

    def inputs(self, rows: Rows) -> Batch:
        """What the first layer takes of each row: the sum over its neighbours, renormalised as in training."""
        model, features = self.models[0], self.graph.features
        propagation = RandomPropagation(
            features,
            rows,
            dropnode=model.settings.dropnode,
            renormalize=model.settings.renormalize,
            sparse=sp.issparse(features) and model.mlp.takes_sparse,
        )
        return propagation.expected(rows.node)


def _load(file: Path) -> Model:
    model = load_model(file)
    assert isinstance(model, Model)
    return model
