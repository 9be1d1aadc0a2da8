"""Predictions as they are scored: read from Parquet, nodes with a known label only.

A trial's predictions are an Arrow table with a line per node and (at least) the columns `COLUMNS`. A node whose label
is unknown (-1, or null in the table of the trials' mean) counts nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.runtime.errors import ArtifactError, GrandPlusError
from grandplus.runtime.system_errors import artifact_errors

COLUMNS = ("part", "label", "predicted", "confidence", "calibrated")


class Scored(NamedTuple):
    """The nodes of one part with a known label, in one trial.

    Attributes
    ----------
    label, predicted : ndarray of int64, shape (n,)
        Class numbers.
    confidence, calibrated : ndarray of float32, shape (n,)
        Probability of the predicted class, before and after the trial's temperature.
    """

    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    calibrated: NDArray[np.float32]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is right; shape (n,)."""
        return np.asarray(self.label == self.predicted)


class ScoredEnsemble(NamedTuple):
    """The nodes with a known label that no trial trained or validated on, as the trials' mean predicts them.

    Attributes
    ----------
    correct : ndarray of bool, shape (n,)
        Whether the prediction is right.
    confidence : ndarray of float32, shape (n,)
        Calibrated probability of the predicted class.
    confident : ndarray of bool, shape (n,)
        Whether the prediction is called confident.
    """

    correct: NDArray[np.bool_]
    confidence: NDArray[np.float32]
    confident: NDArray[np.bool_]


def load_predictions(folder: Path | str) -> list[pa.Table]:
    """Read what is scored of ``trial-*.parquet``.

    Only `COLUMNS`, and only validation and test nodes with a known label, so that a large
    graph's other nodes take no memory.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of pyarrow.Table
        One per trial, in order.

    Raises
    ------
    ArtifactError
        The folder holds no trial, or a file is not such a table.
    """
    files = sorted(Path(folder).glob("trial-*.parquet"))
    if not files:
        raise ArtifactError("holds no predictions", where=folder)
    labelled = [("part", "in", ["val", "test"]), ("label", ">=", 0)]
    return [_read(file, list(COLUMNS), labelled) for file in files]


def load_ensemble(file: Path) -> ScoredEnsemble:
    """Read what is scored of ``predictions.parquet``, the mean of the calibrated trials.

    Parameters
    ----------
    file : path

    Raises
    ------
    ArtifactError
        The file is missing or no such table.
    """
    columns = ["label", "predicted", "confidence", "confident"]
    table = _read(file, columns, (pc.field("part") == "test") & pc.field("label").is_valid())
    correct = pc.equal(table["label"], table["predicted"]).to_numpy()
    return ScoredEnsemble(correct, table["confidence"].to_numpy(), table["confident"].to_numpy())


def judged_by(predictions: Sequence[pa.Table]) -> str:
    """Choose the part that a run is judged by.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table

    Returns
    -------
    {"test", "val"}
        ``val`` where no test node has a known label: all were needed for training and validation.
    """
    tested = any(pc.any(_is_labelled(table, "test")).as_py() for table in predictions)
    return "test" if tested or not predictions else "val"


def select(predictions: Sequence[pa.Table], part: str, classes: Sequence[str]) -> list[Scored]:
    """Take the nodes of one part that can be scored.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table
        One per trial, at least one.
    part : {"val", "test"}
    classes : sequence of str
        Class names, by class number.

    Returns
    -------
    list of Scored
        One per trial, nodes in the order of the table.

    Raises
    ------
    GrandPlusError
        A trial has no such node, class names repeat, or a class number is beyond them.
    """
    if not predictions:
        raise GrandPlusError("no predictions", expected="one table per trial")
    if len(set(classes)) < len(classes):
        raise GrandPlusError(f"the class names {list(classes)} repeat", expected="a name of its own for each class")
    return [_select(table, part, trial, len(classes)) for trial, table in enumerate(predictions)]


def _select(table: pa.Table, part: str, trial: int, classes: int) -> Scored:
    chosen = table.filter(_is_labelled(table, part))
    scored = Scored(*(chosen[column].to_numpy() for column in COLUMNS[1:]))
    if not len(scored.label):
        raise GrandPlusError(f"no {part} node has a known label", where=f"trial {trial}")
    highest = max(scored.label.max(), scored.predicted.max())
    if highest >= classes:
        raise GrandPlusError(f"class number {highest}", where=f"trial {trial}", expected=f"at most {classes - 1}")
    return scored


def _is_labelled(table: pa.Table, part: str) -> pa.ChunkedArray:
    return pc.and_(pc.equal(table["part"], part), pc.greater_equal(table["label"], 0))


def _read(file: Path, columns: list[str], chosen: Any) -> pa.Table:
    with artifact_errors(file, "can't be read as predictions", pa.ArrowException):
        return pq.read_table(file, columns=columns, filters=chosen)
