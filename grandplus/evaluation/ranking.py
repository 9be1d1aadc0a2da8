"""How well probabilities rank the nodes of each class before all others, whatever is predicted in the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from grandplus.runtime import pools

LARGE = 2**16  # nodes, from which on threads save more than they take


class Ranking(NamedTuple):
    """One-vs-rest scores, NaN for a class without a node, and for one that all nodes are of.

    Attributes
    ----------
    average_precision, auroc : ndarray of float64, shape (C,)
    """

    average_precision: NDArray[np.float64]
    auroc: NDArray[np.float64]


def rank(labels: NDArray[np.int64], probabilities: NDArray[np.float32]) -> Ranking:
    """Rank some nodes by the probability of each class, with scikit-learn's functions.

    Parameters
    ----------
    labels : ndarray of int64, shape (n,)
        Class numbers.
    probabilities : ndarray of float32, shape (n, C)

    Returns
    -------
    Ranking

    Examples
    --------
    >>> probabilities = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.7, 0.3, 0.0]], np.float32)
    >>> rank(np.array([0, 1, 1]), probabilities).auroc.tolist()
    [1.0, 1.0, nan]
    """

    def of_class(number: int) -> tuple[float, float]:
        of_it = labels == number
        if of_it.all() or not of_it.any():
            return np.nan, np.nan
        column = probabilities[:, number]
        return average_precision_score(of_it, column), roc_auc_score(of_it, column)

    run = pools.map_threads if len(labels) >= LARGE else map
    scores = np.array(list(run(of_class, range(probabilities.shape[1]))))
    return Ranking(scores[:, 0], scores[:, 1])


def told_mean(scores: NDArray[np.float64]) -> float | None:
    """The mean of the scores that can be told; None if none can.

    Examples
    --------
    >>> told_mean(np.array([0.5, 1.0, np.nan])), told_mean(np.array([np.nan]))
    (0.75, None)
    """
    told = scores[~np.isnan(scores)]
    return float(told.mean()) if len(told) else None
