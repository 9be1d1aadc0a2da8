"""The registry of metrics, and what they come to for a run.

A metric is one entry of `METRICS`. ``reports/metrics.json``, ``grandplus results``, the tables of experiments and of
the report, and the list in ``docs/results.md`` follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from grandplus.evaluation.baselines.table import LABELS, BaselineScore, accuracies_of, summarize_baselines
from grandplus.evaluation.formats import Format, percent, signed_points
from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.evaluation.scored import Scored, ScoredEnsemble, judged_by, select
from grandplus.evaluation.statistics import DECIMALS, over_trials

# What metrics are of: the keys of metrics.json, and how a metric's label begins.
PARTS = {
    "test": "test",
    "val": "validation",
    "baselines": "points above",
    "rows": "row",
    "predictions": "ensemble",
}

# What stands beside the mean of a metric that spreads.
SPREAD = {
    "std": "its standard deviation over trials (divisor n - 1): how much one training differs from another",
    "ci95": "half-width of the 95 % t interval of the mean: how well these trials determine it. A single trial has "
    "neither",
}


@dataclass(frozen=True)
class Metric:
    """A number that tells how good a run is.

    Attributes
    ----------
    key : str
        Where it stands in ``metrics.json``, below the part.
    label : str
        What it is called, after the part.
    meaning : str
        What it says, for the list in ``docs/results.md``.
    written : Format
        How its value is written.
    score : callable
        Its value: of a `Scored` for ``test`` and ``val``, of the rows' L1 errors for ``rows``, of a `ScoredEnsemble`
        for ``predictions``, of a trial's lead over the best baseline for ``baselines``. None where it can't be told.
    parts : tuple of str
        Which of `PARTS` it is computed for.
    in_tables : tuple of str
        For which of these it is a column of the tables that compare runs.
    spreads : bool
        Whether ``std`` and ``ci95`` over trials stand beside its mean; its key then ends in ``.mean``.
    """

    key: str
    label: str
    meaning: str
    written: Format
    score: Callable[[Any], float | None]
    parts: tuple[str, ...]
    in_tables: tuple[str, ...] = ()
    spreads: bool = False

    def name(self, part: str) -> str:
        """What it is called for a part.

        Examples
        --------
        >>> METRICS[0].name("val")
        'validation accuracy'
        """
        return f"{PARTS[part]} {self.label}"


def _accuracy(nodes: Scored | ScoredEnsemble) -> float:
    return float(nodes.correct.mean())


def _macro_f1(nodes: Scored) -> float:
    # Without labels= scikit-learn would also count, as 0, a class that only occurs among the predictions.
    present = np.unique(nodes.label)
    return float(f1_score(nodes.label, nodes.predicted, labels=present, average="macro", zero_division=0))


def _ece(nodes: Scored | ScoredEnsemble) -> float:
    return expected_calibration_error(nodes.confidence, nodes.correct)


def _calibrated_ece(nodes: Scored) -> float:
    return expected_calibration_error(nodes.calibrated, nodes.correct)


def _confident_share(nodes: ScoredEnsemble) -> float:
    return float(nodes.confident.mean())


def _confident_precision(nodes: ScoredEnsemble) -> float | None:
    return float(nodes.correct[nodes.confident].mean()) if nodes.confident.any() else None


def _mean_l1_error(errors: NDArray[np.float32]) -> float:
    return float(np.mean(errors, dtype=np.float64))


def _max_l1_error(errors: NDArray[np.float32]) -> float:
    return float(np.max(errors))


METRICS = (
    Metric(
        key="accuracy.mean",
        label="accuracy",
        meaning="share of nodes that are predicted right, a mean over trials, which differ by their initial weights "
        "and batches. Choose settings by validation, never by test",
        written=percent,
        score=_accuracy,
        parts=("test", "val"),
        in_tables=("test", "val"),
        spreads=True,
    ),
    Metric(
        key="ece.mean",
        label="ECE",
        meaning="expected calibration error, the mean gap between confidence and accuracy (15 bins), as trained",
        written=Format(3),
        score=_ece,
        parts=("test", "val"),
        in_tables=("test",),
    ),
    Metric(
        key="ece.calibrated",
        label="ECE, calibrated",
        meaning="the same with the temperature that is fitted on validation nodes",
        written=Format(3),
        score=_calibrated_ece,
        parts=("test", "val"),
        in_tables=("test",),
    ),
    Metric(
        key="macro_f1.mean",
        label="macro-F1",
        meaning="F1 averaged over the classes that occur: low where a small class suffers",
        written=percent,
        score=_macro_f1,
        parts=("test",),
        in_tables=("test",),
    ),
    Metric(
        key="difference.mean",
        label="best baseline",
        meaning="accuracy of the method minus that of the best baseline, trial by trial, of test nodes; of validation "
        "nodes where no test node has a label",
        written=signed_points,
        score=float,
        parts=("baselines",),
        in_tables=("baselines",),
        spreads=True,
    ),
    Metric(
        key="l1_error.mean",
        label="L1 error, mean",
        meaning="how much of a row of Π the push and top-k left out, ‖Π_s - Π̃_s‖₁ between 0 and 1, exactly",
        written=Format(4),
        score=_mean_l1_error,
        parts=("rows",),
        in_tables=("rows",),
    ),
    Metric(
        key="l1_error.max",
        label="L1 error, max",
        meaning="the same of the row that lost most",
        written=Format(4),
        score=_max_l1_error,
        parts=("rows",),
    ),
    Metric(
        key="accuracy",
        label="accuracy",
        meaning="of `predictions.parquet`, the mean of the calibrated trials: share of test nodes predicted right",
        written=percent,
        score=_accuracy,
        parts=("predictions",),
    ),
    Metric(
        key="ece",
        label="ECE",
        meaning="of the same table: expected calibration error",
        written=Format(3),
        score=_ece,
        parts=("predictions",),
    ),
    Metric(
        key="confident.share",
        label="share confident",
        meaning="of the same table: share of test nodes that are called confident",
        written=percent,
        score=_confident_share,
        parts=("predictions",),
    ),
    Metric(
        key="confident.precision",
        label="precision if confident",
        meaning="share of those called confident that are right",
        written=percent,
        score=_confident_precision,
        parts=("predictions",),
    ),
)


def summarize(
    predictions: Sequence[pa.Table],
    classes: Sequence[str],
    *,
    l1_error: NDArray[np.float32] | None = None,
    ensemble: ScoredEnsemble | None = None,
    baselines: Sequence[BaselineScore] | None = None,
) -> dict[str, Any]:
    """Compute all metrics of a run.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table
        One per trial, at least one; see `grandplus.evaluation.scored`.
    classes : sequence of str
        Class names, by class number.
    l1_error : ndarray of float32, shape (rows,), optional
        L1 error of each row of Π; None for a method that uses none.
    ensemble : ScoredEnsemble, optional
        What the mean of the trials predicts.
    baselines : sequence of BaselineScore, optional
        What cheap classifiers come to in each of the trials.

    Returns
    -------
    dict
        The content of ``reports/metrics.json``: numbers by part and key, as nested dicts, and the name of the best
        baseline. ``test`` is left out where no trial has a test node with a known label, ``rows`` and ``baselines``
        where there are none. ``std`` (divisor n - 1) and ``ci95`` (half-width of the t interval over trials) are left
        out for a single trial.

    Raises
    ------
    GrandPlusError
        A trial has no labelled test node, though others have, or no validation node; a class number is beyond
        `classes`; a confidence is impossible.
    """
    judged = judged_by(predictions)
    scored = {part: select(predictions, part, classes) for part in dict.fromkeys([judged, "val"])}
    content = {part: _measured(part, trials) for part, trials in scored.items()}
    if baselines is not None:
        content["baselines"] = _compared(baselines, judged, scored[judged])
    if l1_error is not None:
        content["rows"] = _measured("rows", [l1_error])
    if ensemble is not None:
        nodes = len(ensemble.correct)
        content["predictions"] = {"nodes": nodes} | (_measured("predictions", [ensemble]) if nodes else {})
    return content


def listed() -> str:
    """The list of all metrics in ``docs/results.md``, a Markdown table.

    Examples
    --------
    >>> listed().splitlines()[0]
    '| key in `reports/metrics.json` | meaning |'
    """
    lines = ["| key in `reports/metrics.json` | meaning |", "|---|---|"]
    for metric in METRICS:
        if metric.parts == ("baselines",):
            lines += _of_each_baseline()
        keys = [f"{part}.{metric.key}" for part in metric.parts]
        lines.append(_line(keys, metric.meaning))
        if metric.spreads:
            for name, meaning in SPREAD.items():
                lines.append(_line([key.removesuffix("mean") + name for key in keys], meaning))
    return "\n".join(lines) + "\n"


def _of_each_baseline() -> list[str]:
    names = ", ".join(f"`{name}` ({label})" for name, label in LABELS.items())
    keys = [f"baselines.<name>.{part}.accuracy.mean" for part in ("test", "val")]
    return [
        _line(keys, f"accuracy of a baseline, with std and ci95 as above. Names are {names}"),
        _line(["baselines.best"], "name of the baseline with the highest validation accuracy"),
    ]


def _line(keys: Sequence[str], meaning: str) -> str:
    return f"| {', '.join(f'`{key}`' for key in keys)} | {meaning} |"


def _compared(baselines: Sequence[BaselineScore], part: str, trials: Sequence[Scored]) -> dict[str, Any]:
    """The baselines, and what the run has more than the best of them in each trial."""
    content = summarize_baselines(baselines)
    others = accuracies_of(baselines, content.get("best", ""), part)
    if len(others) == len(trials):
        leads = [_accuracy(trial) - other for trial, other in zip(trials, others, strict=True)]
        content |= _measured("baselines", leads)
    return content


def _measured(part: str, trials: Sequence[Any]) -> dict[str, Any]:
    """The metrics of one part, as nested dicts: means over its trials."""
    content: dict[str, Any] = {}
    for metric in METRICS:
        if part not in metric.parts:
            continue
        scores = [score for trial in trials if (score := metric.score(trial)) is not None]
        if scores:
            *path, name = metric.key.split(".")
            group = content
            for step in path:
                group = group.setdefault(step, {})
            group |= over_trials(scores) if metric.spreads else {name: round(float(np.mean(scores)), DECIMALS)}
    return content
