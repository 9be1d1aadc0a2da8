"""The registry of metrics.

A metric is one entry of `METRICS`. ``reports/metrics.json``, ``grandplus results``, the tables of experiments and of
the report, and the list in ``docs/results.md`` follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, recall_score

from grandplus.evaluation.baselines.table import LABELS
from grandplus.evaluation.formats import percent, share, signed_points, small_share
from grandplus.evaluation.metric import SPREAD, Metric
from grandplus.evaluation.ranking import told_mean
from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.evaluation.scored import Scored, ScoredEnsemble


def _accuracy(nodes: Scored | ScoredEnsemble) -> float:
    return float(nodes.correct.mean())


def _macro_f1(nodes: Scored) -> float:
    # Without labels= scikit-learn would also count, as 0, a class that only occurs among the predictions.
    present = np.unique(nodes.label)
    return float(f1_score(nodes.label, nodes.predicted, labels=present, average="macro", zero_division=0))


def _balanced_accuracy(nodes: Scored | ScoredEnsemble) -> float:
    return _mean_recall(nodes.label, nodes.predicted)


def _mean_recall(label: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    # As balanced_accuracy_score, which warns of classes that only occur among the predictions.
    return float(recall_score(label, predicted, labels=np.unique(label), average="macro", zero_division=0))


def _average_precision(nodes: Scored | ScoredEnsemble) -> float | None:
    return told_mean(nodes.ranking.average_precision) if nodes.ranking else None


def _auroc(nodes: Scored | ScoredEnsemble) -> float | None:
    return told_mean(nodes.ranking.auroc) if nodes.ranking else None


def _of_rule(rule: str, score: Callable[..., float]) -> Callable[[ScoredEnsemble], float | None]:
    """A score of what a rule would predict of two classes; None of more."""

    def scored(nodes: ScoredEnsemble) -> float | None:
        predicted = getattr(nodes, rule)
        return None if predicted is None else score(nodes.label, predicted)

    return scored


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
        written=share,
        score=_ece,
        parts=("test", "val"),
        in_tables=("test",),
    ),
    Metric(
        key="ece.calibrated",
        label="ECE, calibrated",
        meaning="the same with the temperature that is fitted on validation nodes",
        written=share,
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
        key="balanced_accuracy.mean",
        label="balanced accuracy",
        meaning="mean of the recalls of the classes that occur: the rarest class weighs as much as the largest",
        written=percent,
        score=_balanced_accuracy,
        parts=("test", "val"),
        only_in_json=("val",),
        spreads=True,
    ),
    Metric(
        key="average_precision.mean",
        label="average precision",
        meaning="how well the probability of a class ranks its nodes before all others (one-vs-rest), a mean over "
        "the classes that occur; by guessing, a class has its share of the nodes",
        written=percent,
        score=_average_precision,
        parts=("test", "val"),
        only_in_json=("val",),
        spreads=True,
    ),
    Metric(
        key="auroc.mean",
        label="AUROC",
        meaning="likewise: how often a node of a class has a higher probability of it than another node has; 0.5 by "
        "guessing, however rare the class is",
        written=share,
        score=_auroc,
        parts=("test", "val"),
        only_in_json=("val",),
        spreads=True,
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
        written=small_share,
        score=_mean_l1_error,
        parts=("rows",),
        in_tables=("rows",),
    ),
    Metric(
        key="l1_error.max",
        label="L1 error, max",
        meaning="the same of the row that lost most",
        written=small_share,
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
        written=share,
        score=_ece,
        parts=("predictions",),
    ),
    Metric(
        key="balanced_accuracy",
        label="balanced accuracy",
        meaning="of the same table: mean of the recalls of the classes that occur",
        written=percent,
        score=_balanced_accuracy,
        parts=("predictions",),
        only_in_json=("predictions",),
    ),
    Metric(
        key="average_precision",
        label="average precision",
        meaning="of the same table, as above",
        written=percent,
        score=_average_precision,
        parts=("predictions",),
        only_in_json=("predictions",),
    ),
    Metric(
        key="auroc",
        label="AUROC",
        meaning="of the same table, as above",
        written=share,
        score=_auroc,
        parts=("predictions",),
        only_in_json=("predictions",),
    ),
    Metric(
        key="most_probable.accuracy",
        label="accuracy, most probable",
        meaning="of the same probabilities of two classes: accuracy if the more probable class is predicted",
        written=percent,
        score=_of_rule("most_probable", accuracy_score),
        parts=("predictions",),
        only_in_json=("predictions",),
    ),
    Metric(
        key="most_probable.balanced_accuracy",
        label="balanced accuracy, most probable",
        meaning="likewise: balanced accuracy",
        written=percent,
        score=_of_rule("most_probable", _mean_recall),
        parts=("predictions",),
    ),
    Metric(
        key="threshold.accuracy",
        label="accuracy by threshold",
        meaning="of two classes: accuracy if the threshold of `calibration.json` decides, which validation nodes chose",
        written=percent,
        score=_of_rule("by_threshold", accuracy_score),
        parts=("predictions",),
        only_in_json=("predictions",),
    ),
    Metric(
        key="threshold.balanced_accuracy",
        label="balanced accuracy by threshold",
        meaning="likewise: balanced accuracy",
        written=percent,
        score=_of_rule("by_threshold", _mean_recall),
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
