"""Is a prediction made with confidence p right in a fraction p of the cases? And how to make it so.

Bins, error and temperature follow Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017):
bins of equal width over [0, 1], open on the left, so bin i holds (i / bins, (i + 1) / bins].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from grandplus.errors import GrandPlusError

BINS = 15
EXTREME = 20.0  # temperatures lie between 1 / EXTREME and EXTREME
PRECISION, CERTAINTY = 0.9, 0.95  # of what is called confident
_ROUNDING = 1e-5  # by how much a float32 softmax may miss [0, 1]


@dataclass(frozen=True)
class Reliability:
    """One value per bin, in order of confidence.

    Attributes
    ----------
    count : int64, shape (bins,)
        Predictions in the bin.
    confidence : float64, shape (bins,)
        Their mean confidence; NaN where the bin is empty.
    accuracy : float64, shape (bins,)
        The fraction of them that is right; NaN where the bin is empty.
    """

    count: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def reliability(confidence: NDArray[Any], correct: NDArray[Any], bins: int = BINS) -> Reliability:
    """Sort predictions into bins by confidence.

    Parameters
    ----------
    confidence : floating, shape (n,)
        Probability of the predicted class, in [0, 1].
    correct : bool, shape (n,)
        Whether the prediction is right.
    bins : number of bins, at least 1.

    Raises
    ------
    GrandPlusError : a confidence is not a number or lies outside [0, 1].

    >>> reliability(np.array([0.6, 0.9, 0.7]), np.array([True, True, False]), bins=2).count.tolist()
    [0, 3]
    """
    confidence = _probabilities(confidence)
    inner_edges = np.linspace(0, 1, bins + 1)[1:-1]
    index = np.searchsorted(inner_edges, confidence, side="left")
    count = np.bincount(index, minlength=bins)
    sum_confidence = np.bincount(index, weights=confidence, minlength=bins)
    sum_correct = np.bincount(index, weights=correct, minlength=bins)
    divisor = np.where(count > 0, count, np.nan)
    return Reliability(count, sum_confidence / divisor, sum_correct / divisor)


def expected_calibration_error(confidence: NDArray[Any], correct: NDArray[Any], bins: int = BINS) -> float:
    """Σ over the bins of |B| / n · |accuracy(B) - mean confidence(B)|, in [0, 1]; 0 for no predictions.

    Parameters and errors are those of `reliability`.

    >>> round(expected_calibration_error(np.array([0.8, 0.8]), np.array([True, False])), 6)
    0.3
    """
    by_bin = reliability(confidence, correct, bins)
    weighted = by_bin.count * np.abs(by_bin.accuracy - by_bin.confidence)
    return float(np.nansum(weighted) / max(by_bin.count.sum(), 1))


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


def _probabilities(confidence: NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(confidence, dtype=np.float64)
    wrong = ~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))  # also true of NaN
    if wrong.any():
        raise GrandPlusError(
            f"a prediction's confidence is {values[wrong][0]:g}",
            expected="a probability in [0, 1]",
            fix="if training diverged, lower train.lr",
        )
    return values.clip(0, 1)
