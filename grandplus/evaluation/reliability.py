"""Is a prediction made with confidence p right in a fraction p of the cases?

Bins and error follow Guo et al., "On Calibration of Modern Neural Networks" (ICML 2017): bins of equal width over
[0, 1], open on the left, so bin i holds (i / bins, (i + 1) / bins].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.runtime.errors import GrandPlusError

BINS = 15
_ROUNDING = 1e-5  # by how much a float32 softmax may miss [0, 1]


@dataclass(frozen=True)
class Reliability:
    """One value per bin, in order of confidence.

    Attributes
    ----------
    count : ndarray of int64, shape (bins,)
        Predictions in the bin.
    confidence : ndarray of float64, shape (bins,)
        Their mean confidence; NaN where the bin is empty.
    accuracy : ndarray of float64, shape (bins,)
        The fraction of them that is right; NaN where the bin is empty.
    """

    count: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def reliability(confidence: NDArray[Any], correct: NDArray[Any], bins: int = BINS) -> Reliability:
    """Sort predictions into bins by confidence.

    Parameters
    ----------
    confidence : ndarray of float, shape (n,)
        Probability of the predicted class, in [0, 1].
    correct : ndarray of bool, shape (n,)
        Whether the prediction is right.
    bins : int
        Their number, at least 1.

    Returns
    -------
    Reliability

    Raises
    ------
    GrandPlusError
        A confidence is not a number or lies outside [0, 1].

    Examples
    --------
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
    """The mean gap between confidence and accuracy: ``Σ_B |B| / n · |accuracy(B) - confidence(B)|`` over bins B.

    Parameters
    ----------
    confidence : ndarray of float, shape (n,)
        Probability of the predicted class, in [0, 1].
    correct : ndarray of bool, shape (n,)
        Whether the prediction is right.
    bins : int
        Their number, at least 1.

    Returns
    -------
    float
        In [0, 1]; 0 for no predictions.

    Raises
    ------
    GrandPlusError
        A confidence is not a number or lies outside [0, 1].

    Examples
    --------
    >>> round(expected_calibration_error(np.array([0.8, 0.8]), np.array([True, False])), 6)
    0.3
    """
    by_bin = reliability(confidence, correct, bins)
    weighted = by_bin.count * np.abs(by_bin.accuracy - by_bin.confidence)
    return float(np.nansum(weighted) / max(by_bin.count.sum(), 1))


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
