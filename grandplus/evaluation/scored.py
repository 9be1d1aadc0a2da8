"""Predictions as they are scored: read from Parquet, nodes with a known label only.

A trial's predictions are an Arrow table with a line per node and (at least) the columns `COLUMNS`. A node whose label
is unknown (-1, or null in the table of the trials' mean) counts nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.evaluation.probabilities import CLASSES, probabilities_of
from grandplus.evaluation.ranking import Ranking, rank
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
    ranking : Ranking or None
        How probabilities rank these nodes, if that is known.
    """

    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    calibrated: NDArray[np.float32]
    ranking: Ranking | None = None

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is right; shape (n,)."""
        return np.asarray(self.label == self.predicted)


class ScoredEnsemble(NamedTuple):
    """The nodes with a known label that no trial trained or validated on, as the trials' mean predicts them.

    Attributes
    ----------
    label, predicted : ndarray of int64, shape (n,)
        Class numbers.
    confidence : ndarray of float32, shape (n,)
        Calibrated probability of the predicted class.
    confident : ndarray of bool, shape (n,)
        Whether the prediction is called confident.
    ranking : Ranking
    most_probable, by_threshold : ndarray of int64, shape (n,), or None
        What either rule would predict; None where there is no decision threshold.
    """

    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    confident: NDArray[np.bool_]
    ranking: Ranking
    most_probable: NDArray[np.int64] | None = None
    by_threshold: NDArray[np.int64] | None = None

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is right; shape (n,)."""
        return np.asarray(self.label == self.predicted)


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
    return [read_columns(file, list(COLUMNS), labelled) for file in files]


def load_rankings(folder: Path, parts: Sequence[str]) -> dict[str, list[Ranking]]:
    """Rank the nodes of ``trial-*.parquet`` with a known label.

    The probabilities of one trial are in memory at a time.

    Parameters
    ----------
    folder : path
    parts : sequence of str
        Of "val" and "test".

    Returns
    -------
    dict of list of Ranking
        One a trial, by part.

    Raises
    ------
    ArtifactError
        A file is no such table.
    """
    rankings: dict[str, list[Ranking]] = {part: [] for part in parts}
    for file in sorted(folder.glob("trial-*.parquet")):
        for part in parts:
            table = read_columns(file, ["label", "probabilities"], [("part", "==", part), ("label", ">=", 0)])
            rankings[part].append(rank(table["label"].to_numpy(), probabilities_of(table)))
    return rankings


def load_ensemble(file: Path, decision: float | None = None) -> ScoredEnsemble:
    """Read what is scored of ``predictions.parquet``, the mean of the calibrated trials.

    Parameters
    ----------
    file : path
    decision : float, optional
        Of two classes, the least probability of the second one for which a threshold chosen on validation nodes would
        predict it.

    Raises
    ------
    ArtifactError
        The file is missing or no such table.
    """
    columns = ["label", "predicted", "confidence", "confident", "probabilities"]
    table = read_columns(file, columns, (pc.field("part") == "test") & pc.field("label").is_valid())
    with artifact_errors(file, "can't be read as predictions", KeyError, TypeError, ValueError):
        classes = pa.array(json.loads(table.schema.metadata[CLASSES]))
    label, predicted = (
        pc.index_in(table[name], classes).to_numpy().astype(np.int64) for name in ("label", "predicted")
    )
    probabilities = probabilities_of(table)
    rules = () if decision is None else both_rules(probabilities, decision)
    marks = table["confidence"].to_numpy(), table["confident"].to_numpy()
    return ScoredEnsemble(label, predicted, *marks, rank(label, probabilities), *rules)


def both_rules(probabilities: NDArray[np.float32], decision: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The more probable of two classes, and what the threshold on the probability of the second one says.

    Examples
    --------
    >>> probabilities = np.array([[0.7, 0.3], [0.4, 0.6]], np.float32)
    >>> [numbers.tolist() for numbers in both_rules(probabilities, 0.25)]
    [[0, 1], [1, 1]]
    """
    return probabilities.argmax(axis=1), (probabilities[:, 1] >= decision).astype(np.int64)


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


def read_columns(file: Path, columns: Sequence[str], chosen: Any) -> pa.Table:
    """Some columns of a table of predictions.

    Parameters
    ----------
    file : path
    columns : sequence of str
    chosen : object
        Which lines, as ``pyarrow.parquet.read_table`` takes it for ``filters``.

    Raises
    ------
    ArtifactError
        The file is missing or no such table.
    """
    with artifact_errors(file, "can't be read as predictions", pa.ArrowException):
        return pq.read_table(file, columns=list(columns), filters=chosen)
