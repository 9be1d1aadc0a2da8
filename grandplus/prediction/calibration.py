"""Calibration: one temperature per trial, and the confidence from which on an answer can be relied on.

The temperature follows Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017). A trial's temperature is
fitted on its own validation nodes; the answer is the mean of the calibrated trials.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Splits
from grandplus.runtime.errors import ArtifactError, GrandPlusError
from grandplus.runtime.storage import finished_whole

EXTREME = 20.0  # temperatures lie between 1 / EXTREME and EXTREME


PRECISION, CERTAINTY = 0.9, 0.95  # of what is called confident


def tempered(probabilities: NDArray[Any], temperature: float) -> NDArray[np.float64]:
    """p^(1/T), normalised, which is the softmax of the logits divided by T: float64 (b, C) of (b, C).

    >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(4).tolist()
    [[0.9412, 0.0588]]
    """
    return np.asarray(special.softmax(_logarithms(probabilities) / temperature, axis=1))


def fit_temperature(probabilities: NDArray[Any], labels: NDArray[Any]) -> float:
    """The temperature T at which ``tempered`` probabilities have the least cross-entropy with the labels; 1 if that
    doesn't lower their calibration error, as where a few labels are far off and most are predicted with due confidence.

    Parameters
    ----------
    probabilities : floating (b, C), of nodes that were not trained on
    labels : int (b,), theirs; -1 where unknown, which leaves the node out

    Returns
    -------
    T in [1 / 20, 20], to four decimals. Labels are smoothed by 1 / (b + 2) as Platt's targets are, so that a
    handful of nodes, all predicted right, is no reason to be certain.

    Raises
    ------
    GrandPlusError : there are no labels.
    """
    known = labels >= 0
    logits, labels = _logarithms(probabilities[known]), labels[known]
    count, classes = logits.shape
    if not count:
        raise GrandPlusError("no validation node has a known label", fix="label more nodes")
    smoothing = 1 / (count + 2)
    targets = np.full(logits.shape, smoothing / max(classes - 1, 1))
    targets[np.arange(count), labels] = 1 - smoothing
    score = (targets * logits).sum()

    def cross_entropy(log_temperature: float) -> float:
        scale = math.exp(-log_temperature)
        return float(special.logsumexp(scale * logits, axis=1).sum() - scale * score)

    bound = math.log(EXTREME)
    found = optimize.minimize_scalar(cross_entropy, bounds=(-bound, bound), method="bounded", options={"xatol": 1e-6})
    temperature = round(math.exp(found.x), 4)
    before, after = (_error(special.softmax(logits / divisor, axis=1), labels) for divisor in (1, temperature))
    return temperature if after < before else 1.0


def least_confidence(confidence: NDArray[Any], correct: NDArray[Any]) -> float | None:
    """The confidence from which on a prediction is called confident: 90 %, or more where validation asks for it.

    It is the lowest of at least 90 % at which the given predictions bear it out: of those that are as confident,
    90 % are right or more by the one-sided 95 % limit of Clopper and Pearson. None if there is no such: fewer than
    29 predictions say too little, even if all are right.

    Parameters
    ----------
    confidence : float32 (b,), calibrated, of nodes that were not trained on
    correct : bool (b,), whether their predictions are right

    >>> sure = np.full(29, 0.97)
    >>> least_confidence(sure, sure > 0), least_confidence(sure[1:], sure[1:] > 0)
    (0.9, None)
    """
    order = np.argsort(confidence, kind="stable")
    ascending, right = np.asarray(confidence, np.float32)[order], np.asarray(correct)[order]
    least = np.float32(PRECISION)
    thresholds = np.unique(np.append(ascending[ascending > least], least))
    first = np.searchsorted(ascending, thresholds)
    count = len(ascending) - first
    hits = np.append(np.cumsum(right[::-1])[::-1], 0)[first]
    limit = np.where(hits > 0, stats.beta.ppf(1 - CERTAINTY, np.maximum(hits, 1), count - hits + 1), 0)
    enough = np.flatnonzero(limit >= PRECISION)
    if not len(enough):
        return None
    return float(thresholds[enough[0]]) if enough[0] else PRECISION


def _error(probabilities: NDArray[np.float64], labels: NDArray[Any]) -> float:
    return expected_calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)


def _logarithms(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    # What a float32 softmax has rounded to 0 counts as the least normal number.
    return np.log(np.maximum(probabilities.astype(np.float64), np.finfo(np.float32).tiny))


PREDICTIONS, CALIBRATION = "predictions.parquet", "calibration.json"


@dataclass(frozen=True)
class Calibration:
    """How the trials' probabilities become one answer.

    temperatures : one a trial
    threshold : least confidence of a confident answer; None if validation bears out none
    """

    temperatures: tuple[float, ...]
    threshold: float | None

    def combine(self, trials: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
        """The mean of the calibrated probabilities: (b, C) from (b, C) of each trial, taken one by one."""
        return mean_of(zip(trials, self.temperatures, strict=True))

    def confident(self, confidence: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Whether answers are to be relied on, by their confidence."""
        return np.asarray(confidence >= (math.inf if self.threshold is None else np.float32(self.threshold)))

    def save(self, file: Path) -> None:
        content = asdict(self) | {"precision": PRECISION, "certainty": CERTAINTY}
        with finished_whole(file) as partial:
            partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Calibration:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(tuple(content["temperatures"]), content["threshold"])
        except FileNotFoundError:
            raise ArtifactError("no such file", where=file) from None
        except (ValueError, KeyError, TypeError) as error:
            raise ArtifactError(f"is no calibration: {error}", where=file) from None


def mean_of(trials: Iterable[tuple[NDArray[np.float32], float]]) -> NDArray[np.float32]:
    """The same of each trial's probabilities and temperature."""
    total: Any = 0.0
    count = 0
    for probabilities, temperature in trials:
        total = total + tempered(probabilities, temperature)
        count += 1
    return np.asarray(total / count, np.float32)


class HeldOut:
    """What the trials say of their validation nodes, which is all that calibration is fitted to.

    nodes : int64 (v,), those of any trial
    """

    def __init__(self, graph: Graph, splits: Splits) -> None:
        self.nodes = np.unique(np.concatenate([splits.of(trial).val for trial in range(splits.trials)]))
        self._labels = np.asarray(graph.labels[self.nodes])
        self._temperatures: list[float] = []
        self._total = np.zeros((len(self.nodes), len(graph.classes)))  # of the calibrated probabilities
        self._trials = np.zeros(len(self.nodes), np.int64)

    def add(self, val: Nodes, probabilities: NDArray[np.float32]) -> float:
        """Take note of the next trial's validation nodes (b,) and their probabilities (b, C); its temperature."""
        at = np.searchsorted(self.nodes, val)
        temperature = fit_temperature(probabilities, self._labels[at])
        self._total[at] += tempered(probabilities, temperature)
        self._trials[at] += 1
        self._temperatures.append(temperature)
        return temperature

    def calibration(self) -> Calibration:
        """After all trials. A node's held-out answer is the mean of those trials that validate on it."""
        mean = np.asarray(self._total / self._trials[:, None], np.float32)
        known = self._labels >= 0
        confidence, correct = mean.max(axis=1), mean.argmax(axis=1) == self._labels
        return Calibration(tuple(self._temperatures), least_confidence(confidence[known], correct[known]))
