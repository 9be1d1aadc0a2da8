"""The temperature of a trial, which makes its probabilities say how often it is right.

It follows Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017), and is fitted on the trial's own
validation nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.runtime.errors import GrandPlusError

HIGHEST = 20.0  # temperatures lie between 1 / HIGHEST and HIGHEST


def tempered(probabilities: NDArray[Any], temperature: float) -> NDArray[np.float64]:
    """Apply a temperature T to probabilities: p^(1/T), normalised, which is the softmax of the logits divided by T.

    Parameters
    ----------
    probabilities : ndarray of float, shape (b, C)
    temperature : float

    Returns
    -------
    ndarray of float64, shape (b, C)

    Examples
    --------
    >>> tempered(np.array([[0.8, 0.2]]), 0.5).round(4).tolist()
    [[0.9412, 0.0588]]
    """
    return np.asarray(special.softmax(_logarithms(probabilities) / temperature, axis=1))


def fit_temperature(probabilities: NDArray[Any], labels: NDArray[Any]) -> float:
    """Find the temperature at which `tempered` probabilities have the least cross-entropy with the labels.

    Labels are smoothed by 1 / (b + 2), as Platt's targets are: a handful of nodes that are all predicted right is no
    reason to be certain.

    Parameters
    ----------
    probabilities : ndarray of float, shape (b, C)
        Of nodes that were not trained on.
    labels : ndarray of int, shape (b,)
        Of these nodes; -1 where unknown, which leaves the node out.

    Returns
    -------
    float
        Between 1/20 and 20, to four decimals. It is 1 if the one found doesn't lower the calibration error: a few
        labels that are far off outweigh in the cross-entropy the many that are predicted with due confidence.

    Raises
    ------
    GrandPlusError
        No label is known.
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

    bound = math.log(HIGHEST)
    best = optimize.minimize_scalar(cross_entropy, bounds=(-bound, bound), method="bounded", options={"xatol": 1e-6})
    temperature = round(math.exp(best.x), 4)
    before, after = (_error(special.softmax(logits / divisor, axis=1), labels) for divisor in (1, temperature))
    return temperature if after < before else 1.0


def _error(probabilities: NDArray[np.float64], labels: NDArray[Any]) -> float:
    return expected_calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)


def _logarithms(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    # What a float32 softmax has rounded to 0 counts as the least normal number.
    return np.log(np.maximum(probabilities.astype(np.float64), np.finfo(np.float32).tiny))
