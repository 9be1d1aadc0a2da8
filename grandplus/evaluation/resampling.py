"""Would a difference of two runs hold for other test nodes too? Nodes are resampled, beside the chance of the trials.

Let s² be the variance of a difference over T trials. The mean of T trials then has the variance s²/T plus the
covariance of two trials, which comes from what they share. The test over trials (`grandplus.evaluation.statistics`)
knows s². The covariance that test nodes cause is measured here, by a bootstrap of the nodes: a node that is drawn is
drawn for both runs, and for all trials that test it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.statistics import LEVEL, Difference

RESAMPLES = 10_000  # so that p-values can be small enough for fifty comparisons
BLOCK = 2**22  # nodes that are drawn at a time


def over_nodes(
    test: Difference, first: NodeScores, second: NodeScores, *, paired: bool = True, overlap: float = 0.0, seed: int = 0
) -> Difference:
    """Widen the interval of a difference over trials to one over trials and nodes.

    Each resample draws as many nodes of each class as there are, with replacement, and adds Student's distribution of
    the trials. Of the spread that the nodes cause, the trials' standard error holds a part already; it is counted once.

    Parameters
    ----------
    test : Difference
        Over trials, as of `paired` or `welch`.
    first, second : NodeScores
        The trials that were compared, at least two of each.
    paired : bool
        Whether trials belong together: then both runs have equally many.
    overlap : float
        As was given to the test.
    seed : int
        Of the draws.

    Returns
    -------
    Difference
        The same difference. The interval is of the resamples' quantiles, and holds that over trials. ``p`` is two
        times the share of resamples on the other side of 0, and at least ``test.p``.

    References
    ----------
    Efron, B.; Tibshirani, R. J. An Introduction to the Bootstrap. 1993.
    Owen, A. B. The pigeonhole bootstrap. The Annals of Applied Statistics 1, 2007: nodes and trials are crossed, and
    to draw both would count up to three times what belongs to neither alone.

    Examples
    --------
    >>> from grandplus.evaluation.statistics import paired
    >>> nodes, labels = [np.arange(100)] * 3, np.arange(100) % 2
    >>> better, worse = ([np.arange(100) >= wrong + trial for trial in range(3)] for wrong in (10, 20))
    >>> test = paired([0.9, 0.89, 0.88], [0.8, 0.79, 0.78])  # the same in each trial
    >>> beyond = over_nodes(test, NodeScores.of(nodes, better, labels), NodeScores.of(nodes, worse, labels))
    >>> round(float(test.high - test.low), 2), round(float(beyond.high - beyond.low), 2)
    (0.0, 0.11)
    """
    nodes = np.union1d(first.nodes, second.nodes)
    labels = np.empty(len(nodes), np.int64)
    for run in (first, second):
        labels[np.searchsorted(nodes, run.nodes)] = run.labels
    strata = _strata(labels)
    one, other = (_shares(run, nodes, strata) for run in (first, second))
    samples = [one - other] if paired else [one, other]
    influence = one.mean(axis=0) - other.mean(axis=0)
    counted = sum(_own_variance(sample) * (1 / len(sample) + overlap) for sample in samples)
    variance = float(influence @ influence)
    left = max(0.0, 1 - counted / variance) if variance else 0.0  # what the standard error over trials doesn't hold
    rng = np.random.default_rng(seed)
    drawn = np.sqrt(left) * sum(_sums(influence[stratum], rng) for stratum in strata)
    quantiles = (rng.permutation(RESAMPLES) + 0.5) / RESAMPLES
    means = test.difference + drawn + test.error * stats.t.ppf(quantiles, test.freedom)
    low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
    low, high = min(low, test.low), max(high, test.high)
    beyond = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    p = min(1.0, max(float(test.p), 2 * (beyond + 1) / (RESAMPLES + 1)))
    return Difference(test.difference, np.hypot(test.error, np.sqrt(left * variance)), low, high, p, test.freedom)


def _strata(labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Places of the nodes of each class; classes of a single node are taken together, as one node has no spread."""
    classes, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    groups = np.where(counts[places] > 1, places, len(classes))
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


def _shares(run: NodeScores, nodes: NDArray[np.int64], strata: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """By how much each node raises the accuracy of each trial, beside another one of its class; shape (trials, n).

    Scaled so that the sum of squares is the variance of the accuracy over draws of nodes.
    """
    counts = np.maximum(1, run.tested.sum(axis=1, keepdims=True))  # a sample may hold none of a trial's nodes
    accuracy = run.correct.sum(axis=1, keepdims=True) / counts
    shares = np.zeros((len(counts), len(nodes)))
    shares[:, np.searchsorted(nodes, run.nodes)] = run.tested * (run.correct - accuracy) / counts
    shares *= np.sqrt(min(1.0, counts.mean() / run.size))
    for stratum in strata:
        shares[:, stratum] -= shares[:, stratum].mean(axis=1, keepdims=True)
        shares[:, stratum] *= np.sqrt(len(stratum) / max(1, len(stratum) - 1))
    return shares


def _own_variance(shares: NDArray[np.float64]) -> float:
    """What the nodes add to the variance over trials: that of one trial, less the covariance of two."""
    trials = len(shares)
    one = float(np.vdot(shares, shares)) / trials
    total = shares.sum(axis=0)
    two = (float(total @ total) - trials * one) / (trials * (trials - 1))
    return one - two


def _sums(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Sums of as many draws from some values as there are of these, with replacement; shape (RESAMPLES,)."""
    rows = max(1, BLOCK // len(values))
    blocks = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    return np.concatenate(
        [values[rng.integers(len(values), size=(block, len(values)), dtype=np.int32)].sum(axis=1) for block in blocks]
    )
