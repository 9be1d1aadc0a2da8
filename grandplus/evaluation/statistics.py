"""Means over trials, their intervals, and tests of the difference of two runs.

All intervals are of 95 %. Scores vary over trials; how much is their standard deviation, with divisor n - 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05
DECIMALS = 6  # of scores in files, so that differences between runs read well
MOST_FLIPS = 10_000  # assignments of signs that a permutation test draws; up to 13 trials it takes all there are
PRECISION = 1e-6  # of scores: smaller differences are rounding


class Interval(NamedTuple):
    """A 95 % interval.

    Attributes
    ----------
    low, high : float
    """

    low: float
    high: float


class Sample(NamedTuple):
    """What is known of a run's scores: enough for the interval of its mean.

    Attributes
    ----------
    mean : float
    std : float
        Standard deviation over trials, divisor n - 1; NaN for a single trial.
    trials : int

    Examples
    --------
    >>> round(Sample.of([0.8, 0.9]).half_width, 6)
    0.63531
    """

    mean: float
    std: float
    trials: int

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[Any]) -> Self:
        """The sample of one score a trial, shape (trials,)."""
        trials = len(values)
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)) if trials > 1 else math.nan, trials)

    @property
    def half_width(self) -> float:
        """Half the width of the t interval of the mean."""
        return float(stats.t.ppf(1 - LEVEL / 2, self.trials - 1) * self.std / np.sqrt(self.trials))

    @property
    def interval(self) -> Interval:
        """The t interval of the mean."""
        return Interval(self.mean - self.half_width, self.mean + self.half_width)


class Difference(NamedTuple):
    """The mean of one run minus that of another, or arrays of such differences.

    Attributes
    ----------
    difference : float or ndarray
    error : float or ndarray
        Its standard error.
    low, high : float or ndarray
        Its 95 % interval.
    p : float or ndarray
        Two-sided p-value of no difference.
    freedom : float or ndarray
        Degrees of freedom of the error.
    """

    difference: Any
    error: Any
    low: Any
    high: Any
    p: Any
    freedom: Any

    @property
    def interval(self) -> Interval:
        """Its 95 % interval."""
        return Interval(self.low, self.high)


def over_trials(values: Sequence[float], *, overlap: float = 0.0) -> dict[str, float]:
    """Sum up one value per trial, as files of results have it.

    Parameters
    ----------
    values : sequence of float
    overlap : float
        As of `paired`: splits that are drawn anew for each trial widen the interval.

    Returns
    -------
    dict
        ``mean``, ``std`` (divisor n - 1) and ``ci95``, the half-width of the t interval of the mean. A single
        trial has only a mean.

    Examples
    --------
    >>> over_trials([0.8, 0.9])
    {'mean': 0.85, 'std': 0.070711, 'ci95': 0.63531}
    >>> over_trials([0.8])
    {'mean': 0.8}
    """
    sample = Sample.of(np.asarray(values, np.float64))
    if sample.trials < 2:
        return {"mean": round(sample.mean, DECIMALS)}
    scores = {
        "mean": sample.mean,
        "std": sample.std,
        "ci95": sample.half_width * math.sqrt(1 + sample.trials * overlap),
    }
    return {name: round(score, DECIMALS) for name, score in scores.items()}


def overlap_of_trials(*, trials: int, splits: int, train: int, test: int) -> float:
    """How much more variance a mean over trials has, whatever splits they have.

    Parameters
    ----------
    trials, splits : int
        How many trials there are, and how many different splits.
    train, test : int
        Nodes of each part, at least one.

    Returns
    -------
    float
        0 if all trials have the same split; that of `overlap_of_splits` if each has its own, and that of
        `overlap_of_repeats` if some are repeated.

    Examples
    --------
    >>> overlap_of_trials(trials=10, splits=1, train=160, test=7250)
    0.0
    >>> overlap_of_trials(trials=10, splits=10, train=160, test=7250) == 160 / 7250
    True
    >>> overlap_of_trials(trials=10, splits=2, train=160, test=7250) > 1  # two splits tell little
    True
    """
    if splits == 1:
        return 0.0
    shared = overlap_of_splits(train=train, test=test)
    return shared if splits == trials else overlap_of_repeats(shared, trials=trials, splits=splits)


def overlap_of_splits(*, train: int, test: int) -> float:
    """How much more variance a mean over trials has whose splits are drawn from one graph: they share nodes.

    Such trials are correlated. If their correlation is ρ, the variance of the mean of T trials is
    s² (1/T + ρ / (1 - ρ)), where s² is the variance over trials. Nadeau and Bengio take ρ = test / (train + test), the
    share of test nodes that two trials have in common, as trials differ by few test nodes where most nodes train; the
    second term is test / train then. Where few nodes have labels, trials differ by the nodes that they train on, and
    ρ = train / (train + test) is the share that they have in common of these. So the term is the smaller part divided
    by the larger one.

    Parameters
    ----------
    train, test : int
        Nodes of each part, at least one.

    Returns
    -------
    float
        ρ / (1 - ρ), between 0 and 1.

    References
    ----------
    Nadeau, C.; Bengio, Y. Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    >>> overlap_of_splits(train=900, test=100) == 1 / 9, overlap_of_splits(train=160, test=7250) == 16 / 725
    (True, True)
    """
    return min(train, test) / max(train, test)


def overlap_of_repeats(overlap: float, *, trials: int, splits: int) -> float:
    """The overlap of trials that repeat splits: more trials than the data brings splits.

    Trials of one split differ by chance in training alone, so the mean is hardly known better than that of one trial a
    split. With this overlap, intervals are as if there were so few trials: of variance s² (1 / splits + overlap), and
    with the quantile of splits - 1 degrees of freedom.

    Parameters
    ----------
    overlap : float
        Of splits that differ, see `overlap_of_splits`.
    trials, splits : int
        How many there are; at least two splits, and more trials.

    Returns
    -------
    float

    Examples
    --------
    >>> overlap = overlap_of_repeats(0.0, trials=4, splits=2)
    >>> over_trials([0.8, 0.9, 0.8, 0.9])["ci95"], over_trials([0.8, 0.9, 0.8, 0.9], overlap=overlap)["ci95"]
    (0.091869, 0.518729)
    """
    quantiles = [float(stats.t.ppf(1 - LEVEL / 2, count - 1)) for count in (splits, trials)]
    return (1 / splits + overlap) * (quantiles[0] / quantiles[1]) ** 2 - 1 / trials


def paired(first: ArrayLike, second: ArrayLike, *, overlap: float = 0.0) -> Difference:
    """Compare trials that belong together, along the last axis.

    Parameters
    ----------
    first, second : array_like, shape (..., trials)
        Scores, at least two.
    overlap : float
        Of splits that are drawn anew for each trial (see `overlap_of_splits`); 0 for those that all trials share.

    Returns
    -------
    Difference
        With Student's interval of the mean difference, and the p-value of a permutation test that flips signs. With
        an overlap the interval is wider, and the p-value is that of its t test, as signs are not independent.

    Examples
    --------
    >>> test = paired([0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.6])
    >>> round(float(test.difference), 6), float(test.p)  # all four signs are alike: 2 of 2⁴ assignments
    (0.1, 0.125)
    """
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    trials = differences.shape[-1]
    error = np.sqrt(differences.var(axis=-1, ddof=1) * (1 / trials + overlap))
    test = _t_test(differences.mean(axis=-1), error, trials - 1)
    return test if overlap else test._replace(p=_sign_flip_p(differences))


def welch(first: ArrayLike, second: ArrayLike, *, overlap: float = 0.0) -> Difference:
    """Compare trials that have nothing in common, along the last axis.

    Parameters
    ----------
    first, second : array_like, shape (..., trials)
        Scores, at least two of each.
    overlap : float
        As of `paired`.

    Returns
    -------
    Difference
        With the interval and p-value of Welch's t test.

    References
    ----------
    Welch, B. L. The generalization of "Student's" problem when several different population variances are involved.
    Biometrika 34, 1947.
    """
    runs = np.asarray(first, np.float64), np.asarray(second, np.float64)
    squares = [run.var(axis=-1, ddof=1) * (1 / run.shape[-1] + overlap) for run in runs]
    total = squares[0] + squares[1]
    parts = sum(square**2 / (run.shape[-1] - 1) for square, run in zip(squares, runs, strict=True))
    freedom = np.divide(total**2, parts, out=np.ones_like(total), where=parts > 0)
    return _t_test(runs[0].mean(axis=-1) - runs[1].mean(axis=-1), np.sqrt(total), freedom)


def welch_interval(first: Sample, second: Sample) -> Interval:
    """Welch's interval of the difference of two means, where only samples are known, as of published results.

    Parameters
    ----------
    first, second : Sample
        Of at least two trials each.

    Examples
    --------
    >>> low, high = welch_interval(Sample(0.85, 0.01, 10), Sample(0.84, 0.01, 10))
    >>> round(low, 4), round(high, 4)
    (0.0006, 0.0194)
    """
    variances = [(sample.std**2 / sample.trials, sample.trials - 1) for sample in (first, second)]
    error = math.sqrt(sum(variance for variance, _ in variances))
    if not error:
        return Interval(first.mean - second.mean, first.mean - second.mean)
    freedom = error**4 / sum(variance**2 / count for variance, count in variances)
    half = float(stats.t.ppf(1 - LEVEL / 2, freedom)) * error
    return Interval(first.mean - second.mean - half, first.mean - second.mean + half)


def _t_test(difference: Any, error: Any, freedom: Any) -> Difference:
    """By Student's distribution; without any error, a difference above rounding is certain."""
    known = error > PRECISION
    t = np.where(
        known, np.abs(difference) / np.where(known, error, 1), np.where(abs(difference) < PRECISION, 0, np.inf)
    )
    half = stats.t.ppf(1 - LEVEL / 2, freedom) * error
    return Difference(difference, error, difference - half, difference + half, 2 * stats.t.sf(t, freedom), freedom)


def _sign_flip_p(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided p-value of a mean as far from 0, were each difference's sign as likely as its opposite."""
    whole = np.round(differences / PRECISION)  # sums of these are exact, so equal ones are seen to be equal

    def mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray(np.mean(values, axis=axis))

    test = stats.permutation_test(
        (whole,),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=MOST_FLIPS,
        axis=-1,
        rng=np.random.default_rng(0),
    )
    return np.asarray(test.pvalue)
