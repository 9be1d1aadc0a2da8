"""Predictions for a few nodes from their own rows of Π: no power iteration over the graph.

The rows are pushed as those for training were, but keep more entries than its top-k: inference is with Π
itself, and what a row lacks of it is known exactly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Model, RowModel
from grandplus.prediction.calibration import CALIBRATION, Calibration
from grandplus.prediction.predictions import PREDICTIONS
from grandplus.propagation.gfpush import RowPusher
from grandplus.propagation.rows import Rows, RowsInfo
from grandplus.runtime import environment, pools
from grandplus.runtime.errors import ArgumentError, ArtifactError, MemoryShortageError
from grandplus.runtime.paths import as_path
from grandplus.runtime.sizes import size_text
from grandplus.runtime.sums import digest_of

ROW_ENTRIES = 2**14  # that a row keeps at most
WORTH = 0.1  # of a row's error, that its smallest entries have together to be kept
ROWS_AT_ONCE = 64  # which bounds the memory of a prediction


class RowsNeededError(ArgumentError):
    """The models are of a method that can't predict single nodes from their rows of Π."""


@dataclass(frozen=True, eq=False)
class NodePredictions:
    """Predictions of b nodes, ascending.

    Attributes
    ----------
    node : int64 (b,)
    l1_error : float32 (b,)
        Of their rows of Π.
    probabilities : float32 (b, C)
        Calibrated, the mean over the trials.
    predicted : int64 (b,)
        Class numbers.
    confidence : float32 (b,)
        Probability of the predicted class.
    confident : bool (b,)
    """

    node: NDArray[np.int64]
    l1_error: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    confident: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Predictor:
    """A finished run: its graph, its models and how their probabilities become one.

    Attributes
    ----------
    graph : Graph or GrownGraph
    models : sequence of RowModel
        One of each trial.
    info : RowsInfo
        How the run's rows of Π were pushed.
    calibration : Calibration
    """

    graph: Graph | GrownGraph
    models: Sequence[RowModel]
    info: RowsInfo
    calibration: Calibration

    @classmethod
    def load(cls, data: Path | str = "data", dataset: str | None = None) -> Predictor:
        """Read a finished run back.

        Parameters
        ----------
        data : path
            The folder with the run's graph, rows, models and predictions.
        dataset : str, optional
            The one that the models must be of.

        Raises
        ------
        ArtifactError
            There is no finished run, or the folders are of different runs.
        ArgumentError
            The run is of another dataset.
        RowsNeededError
            It is of a method that needs no rows of Π.
        MemoryShortageError
            The models are too large for ``GRANDPLUS_MEMORY``.
        """
        data = as_path(data, "data")
        models = _load_models(data, dataset)
        graph, info = Graph.load(data / "graph"), RowsInfo.load(data / "rows")
        calibration = Calibration.load(data / "predictions" / CALIBRATION)
        check_models(data, calibration)
        of_one_run = (
            graph.classes == models[0].classes
            and graph.fitted.to_json() == models[0].preprocessing
            and graph.adjacency.fingerprint == info.graph
            and info.weights == models[0].weights
            and len(calibration.temperatures) == len(models)
        )
        if not of_one_run:
            raise ArtifactError("the graph, the rows, the models and the predictions are of different runs", where=data)
        return cls(graph, models, info, calibration)

    @property
    def stored_graph(self) -> Graph:
        """The graph of the run, without what came later."""
        return self.graph if isinstance(self.graph, Graph) else self.graph.base

    def on(self, grown: GrownGraph) -> Predictor:
        """The same models on a graph that has grown, without training.

        Rows are pushed, and their errors are exact, in the grown graph. Calibration stays that of the run.

        Parameters
        ----------
        grown : GrownGraph
            From ``grown`` of this predictor's graph.

        Raises
        ------
        ArgumentError
            It has grown from another graph.
        """
        if grown.base is not self.stored_graph:
            found = "the grown graph comes from another graph than the predictor's"
            raise ArgumentError(found, expected="predictor.graph.grown(nodes, edges)")
        return dataclasses.replace(self, graph=grown)

    def predict(self, nodes: ArrayLike) -> NodePredictions:
        """Predict nodes.

        Parameters
        ----------
        nodes : array_like of int, shape (b,)
            Each is predicted once.
        """
        wanted = np.unique(nodes).astype(np.int64)
        batches = [wanted[start : start + ROWS_AT_ONCE] for start in range(0, len(wanted), ROWS_AT_ONCE)]
        run = pools.map_threads if len(batches) > 1 else map  # to start a thread takes longer than one node
        errors, parts = zip(*run(self._of_batch, batches), strict=True)
        probabilities = self.calibration.combine(np.concatenate(trial) for trial in zip(*parts, strict=True))
        predicted, confidence = self.calibration.decide(probabilities)
        confident = self.calibration.confident(confidence)
        return NodePredictions(wanted, np.concatenate(errors), probabilities, predicted, confidence, confident)

    def push(self, nodes: NDArray[np.int64]) -> Rows:
        """Rows of the Π of inference as ``gfpush`` gives them, but longer and without the graph's fingerprint.

        Parameters
        ----------
        nodes : int64 (b,)
            Ascending.
        """
        pushed = self._pusher.push(nodes)
        neighbors, values, l1_error = _worthwhile(pushed.neighbors, pushed.values, pushed.l1_error)
        info = dataclasses.replace(
            self.info,
            weights=self.models[0].inference_weights,
            top_k=ROW_ENTRIES,
            nodes=self.graph.adjacency.nodes,
        )
        return Rows(nodes, neighbors, values, l1_error, info)

    @functools.cached_property
    def _pusher(self) -> RowPusher:
        weights = np.array(self.models[0].inference_weights)
        return RowPusher(self.graph.adjacency, weights, self.info.rmax, ROW_ENTRIES)

    def _of_batch(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """L1 errors of the nodes' rows (b,), and the probabilities of each trial (b, C)."""
        rows = self.push(nodes)
        inputs = self.models[0].inputs_of_rows(self.graph, rows)  # the trials have the same settings
        return rows.l1_error, [model.predict_proba_of_rows(inputs) for model in self.models]


def _worthwhile(
    neighbors: NDArray[Any], values: NDArray[np.float32], l1_error: NDArray[np.float32]
) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.float32]]:
    """Leave out the smallest entries of each row, as many as add at most a tenth to its error.

    On a large graph most of a row's mass isn't pushed at all, and thousands of entries would be mixed for little.

    >>> neighbors, values = np.array([[3, 1, 2]]), np.array([[0.5, 0.25, 0.02]], np.float32)
    >>> [array.tolist() for array in _worthwhile(neighbors, values, np.array([0.25], np.float32))]
    [[[3, 1]], [[0.5, 0.25]], [0.27000001072883606]]
    """
    behind = np.cumsum(values[:, ::-1], axis=1, dtype=np.float64)[:, ::-1]  # the sum from each entry on
    kept = behind > WORTH * l1_error[:, None]
    width = int(kept.sum(axis=1).max(initial=0))
    left_out = np.where(kept, 0, values).sum(axis=1, dtype=np.float64)
    kept, neighbors, values = kept[:, :width], neighbors[:, :width], values[:, :width]
    error = (l1_error + left_out).astype(np.float32)
    return np.where(kept, neighbors, neighbors.dtype.type(-1)), np.where(kept, values, np.float32(0)), error


def check_dataset(data: Path, dataset: str) -> None:
    """Check that a finished run is of a dataset.

    Parameters
    ----------
    data : Path
        The folder with the run's models.
    dataset : str

    Raises
    ------
    ArtifactError
        There is no finished run.
    ArgumentError
        It is of another dataset.
    """
    _check_dataset(load_model(_model_files(data)[0]), dataset, data)


def check_models(data: Path, calibration: Calibration) -> None:
    """Check that predictions are of the models beside them: a run that was interrupted leaves those of an earlier one.

    Nothing is to be checked where the calibration notes no models, or there are none.

    Parameters
    ----------
    data : Path
        The folder with the run's models.
    calibration : Calibration
        That of the predictions.

    Raises
    ------
    ArtifactError
        They are of other models.
    """
    folder = data / "model"
    if calibration.models is not None and folder.exists() and digest_of(folder) != calibration.models:
        raise ArtifactError("the models and the predictions are of different runs", where=data)


def _load_models(data: Path, dataset: str | None) -> list[RowModel]:
    """The models of all trials, if they are of that dataset and can predict from rows."""
    folder, files = data / "model", _model_files(data)
    size, budget = sum(file.stat().st_size for file in files), environment.memory()
    if size > budget:
        found = f"the {len(files)} models take {size_text(size)} of memory, and may use {size_text(budget)}"
        raise MemoryShortageError(found, where=folder, fix="set GRANDPLUS_MEMORY higher if the machine has more")
    first = load_model(files[0])
    if dataset is not None:
        _check_dataset(first, dataset, data)
    return [_row_model(model, data) for model in [first, *map(load_model, files[1:])]]


def _model_files(data: Path) -> list[Path]:
    files = sorted((data / "model").glob("trial-*.safetensors"))
    if not files:
        raise ArtifactError("holds no model", where=data / "model")
    return files


def _check_dataset(model: Model, dataset: str, data: Path) -> None:
    trained_on = model.info.get("dataset")
    if dataset != trained_on:
        expected = f"{trained_on}, which the models in {data / 'model'} are of"
        raise ArgumentError(f"dataset is {dataset}", expected=expected)


def _row_model(model: Model, data: Path) -> RowModel:
    if not isinstance(model, RowModel):
        found = f"the models are of {model.method}, which needs no rows of Π"
        expected = "models of a method that is trained on rows, like GRAND+"
        fix = f"take the predictions of all nodes from {data / 'predictions' / PREDICTIONS}"
        raise RowsNeededError(found, where=data / "model", expected=expected, fix=fix)
    return model
