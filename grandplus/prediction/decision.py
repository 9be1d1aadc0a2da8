"""From which probability on the second of two classes is predicted: chosen on validation nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EVEN = 0.5  # at which the more probable class is predicted


def decision_threshold(second: NDArray[np.float32], labels: NDArray[np.int64]) -> float | None:
    """Find the threshold with the highest balanced accuracy, as scikit-learn's TunedThresholdClassifierCV does.

    Candidates lie half-way between neighbouring probabilities, and at 0.5. Of equally good ones the nearest to 0.5 is
    taken, so that validation nodes which tell nothing change nothing.

    Parameters
    ----------
    second : ndarray of float32, shape (b,)
        Probability of the second class, of nodes that were not trained on.
    labels : ndarray of int64, shape (b,)
        0 and 1; -1 where unknown, which leaves the node out.

    Returns
    -------
    float or None
        The second class is predicted from this probability on. None if not both classes occur.

    Examples
    --------
    >>> decision_threshold(np.array([0.05, 0.1, 0.2, 0.3], np.float32), np.array([0, 0, 1, 1])).__round__(3)
    0.15
    """
    known = labels >= 0
    values, of_second = second[known].astype(np.float64), labels[known] == 1
    zeros, ones = np.sort(values[~of_second]), np.sort(values[of_second])
    if not len(zeros) or not len(ones):
        return None
    distinct = np.unique(values)
    candidates = np.append((distinct[1:] + distinct[:-1]) / 2, EVEN)
    below, above = np.searchsorted(zeros, candidates), len(ones) - np.searchsorted(ones, candidates)
    scores = below * len(ones) + above * len(zeros)  # the recalls' sum, in whole numbers
    best = candidates[scores == scores.max()]
    return float(best[np.abs(best - EVEN).argmin()])
