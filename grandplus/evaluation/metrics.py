"""Scores of the predictions, as means over trials; those of the trials' mean, which users take, stand apart.

A trial's predictions are an Arrow table with one line per node and (at least) the columns
`COLUMNS`. Nodes whose label is unknown (-1) count nowhere.
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
from sklearn.metrics import f1_score, precision_recall_fscore_support

from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.evaluation.statistics import DECIMALS, over_trials
from grandplus.runtime.errors import ArtifactError, GrandPlusError

COLUMNS = ("part", "label", "predicted", "confidence", "calibrated")


class Scored(NamedTuple):
    """The nodes of one part with a known label, in one trial; arrays of equal length.

    Attributes
    ----------
    label, predicted : int64, shape (n,)
        Class numbers.
    confidence, calibrated : float32, shape (n,)
        Probability of the predicted class, before and after the trial's temperature.
    """

    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]
    calibrated: NDArray[np.float32]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the prediction is right; shape (n,)."""
        return np.asarray(self.label == self.predicted)


def load_predictions(folder: Path | str) -> list[pa.Table]:
    """Read what is scored of ``folder/trial-*.parquet``: one table per trial, in order.

    Only `COLUMNS`, and only validation and test nodes with a known label, so that a large
    graph's other nodes take no memory.

    Raises
    ------
    GrandPlusError : the folder holds no trial, or a file is not such a table.
    """
    files = sorted(Path(folder).glob("trial-*.parquet"))
    if not files:
        raise ArtifactError("holds no predictions", where=folder)
    scored = [("part", "in", ["val", "test"]), ("label", ">=", 0)]
    return [_read(file, list(COLUMNS), scored) for file in files]


def score_predictions(file: Path) -> dict[str, Any]:
    """Of ``predictions.parquet``, on the nodes with a known label that no trial trained or validated on.

    Returns
    -------
    ``nodes``, ``accuracy``, ``ece`` and ``confident.{share,precision}``: how many are called confident, and
    how many of these are right. What has no node to be counted on is left out.

    Raises
    ------
    GrandPlusError : the file is missing or no such table.
    """
    columns = ["label", "predicted", "confidence", "confident"]
    table = _read(file, columns, (pc.field("part") == "test") & pc.field("label").is_valid())
    scores: dict[str, Any] = {"nodes": len(table)}
    if len(table):
        correct = pc.equal(table["label"], table["predicted"]).to_numpy()
        confident = table["confident"].to_numpy()
        scores["accuracy"] = _mean(correct)
        scores["ece"] = _rounded(expected_calibration_error(table["confidence"].to_numpy(), correct))
        scores["confident"] = {"share": _mean(confident)}
        if confident.any():
            scores["confident"]["precision"] = _mean(correct[confident])
    return scores


def summarize(predictions: Sequence[pa.Table], l1_error: NDArray[Any], classes: Sequence[str]) -> dict[str, Any]:
    """The content of ``reports/metrics.json``: nested, with scalars only.

    Parameters
    ----------
    predictions : one table per trial, at least one.
    l1_error : float32, shape (rows,)
        L1 error of each propagation row, see `grandplus.propagation`.
    classes : class names, by class number.

    Returns
    -------
    ``test.accuracy.{mean,std,ci95}``, ``test.ece.{mean,calibrated}`` (before and after the temperature) and the
    same for ``val``, ``test.macro_f1.mean`` and ``rows.l1_error.{mean,max}``, as nested dicts. ``std`` has
    divisor n-1 and ``ci95`` is the half-width of the t interval over trials; a single trial
    defines neither, and both keys are left out. Macro-F1 is the mean over the classes that
    occur among the labels. Where no trial has a test node with a known label, there is no ``test``.

    Raises
    ------
    GrandPlusError : a trial has no labelled test node, though others have, or no validation node; a class
        number beyond `classes` or an impossible confidence.
    """
    found: dict[str, Any] = {}
    if judged_by(predictions) == "test":
        test = select(predictions, "test", classes)
        found["test"] = _scores(test) | {"macro_f1": {"mean": _mean([_macro_f1(trial) for trial in test])}}
    found["val"] = _scores(select(predictions, "val", classes))
    found["rows"] = {"l1_error": {"mean": _mean(l1_error), "max": _rounded(np.max(l1_error))}}
    return found


def per_class(predictions: Sequence[pa.Table], classes: Sequence[str]) -> dict[str, dict[str, float]]:
    """The content of ``reports/per_class.json``: each class's scores on the nodes of `judged_by`.

    Returns
    -------
    class name -> ``precision``, ``recall``, ``f1`` and ``support`` (such nodes of the
    class), means over trials. A score whose divisor is 0, as of a class never predicted, is 0.

    Parameters and errors are those of `summarize`.
    """
    numbers = range(len(classes))
    scores = [
        precision_recall_fscore_support(trial.label, trial.predicted, labels=numbers, zero_division=0)
        for trial in select(predictions, judged_by(predictions), classes)
    ]
    means = np.mean(scores, axis=0)  # (4 scores, classes)
    keys = ("precision", "recall", "f1", "support")
    return {name: {key: _rounded(means[row, c]) for row, key in enumerate(keys)} for c, name in enumerate(classes)}


def judged_by(predictions: Sequence[pa.Table]) -> str:
    """``test``, or ``val`` where no test node has a known label: all were wanted for training and validation."""
    tested = any(pc.any(_known(table, "test")).as_py() for table in predictions)
    return "test" if tested or not predictions else "val"


def select(predictions: Sequence[pa.Table], part: str, classes: Sequence[str]) -> list[Scored]:
    """What of one part (``"val"``, ``"test"``) can be scored, per trial.

    Raises
    ------
    GrandPlusError : see `summarize`.
    """
    if not predictions:
        raise GrandPlusError("no predictions", expected="one table per trial")
    if len(set(classes)) < len(classes):
        raise GrandPlusError(f"the class names {list(classes)} repeat", expected="a name of its own for each class")
    return [_select(table, part, trial, len(classes)) for trial, table in enumerate(predictions)]


def _scores(trials: Sequence[Scored]) -> dict[str, dict[str, float]]:
    ece = {
        "mean": _mean([expected_calibration_error(trial.confidence, trial.correct) for trial in trials]),
        "calibrated": _mean([expected_calibration_error(trial.calibrated, trial.correct) for trial in trials]),
    }
    return {"accuracy": over_trials([trial.correct.mean() for trial in trials]), "ece": ece}


def _select(table: pa.Table, part: str, trial: int, classes: int) -> Scored:
    chosen = table.filter(_known(table, part))
    scored = Scored(*(chosen[column].to_numpy() for column in COLUMNS[1:]))
    if not len(scored.label):
        raise GrandPlusError(f"no {part} node has a known label", where=f"trial {trial}")
    highest = max(scored.label.max(), scored.predicted.max())
    if highest >= classes:
        raise GrandPlusError(f"class number {highest}", where=f"trial {trial}", expected=f"at most {classes - 1}")
    return scored


def _known(table: pa.Table, part: str) -> pa.ChunkedArray:
    return pc.and_(pc.equal(table["part"], part), pc.greater_equal(table["label"], 0))


def _read(file: Path, columns: list[str], chosen: Any) -> pa.Table:
    try:
        return pq.read_table(file, columns=columns, filters=chosen)
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(f"can't be read as predictions: {error}", where=file) from None


def _macro_f1(trial: Scored) -> float:
    # Without labels= scikit-learn would also count, as 0, a class that only occurs among the predictions.
    present = np.unique(trial.label)
    return float(f1_score(trial.label, trial.predicted, labels=present, average="macro", zero_division=0))


def _mean(values: Sequence[float] | NDArray[Any]) -> float:
    return _rounded(np.mean(values, dtype=np.float64))


def _rounded(value: Any) -> float:
    return round(float(value), DECIMALS)
