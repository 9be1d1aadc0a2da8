"""Means over trials, their intervals, and tests of the difference of two runs.

All intervals are of 95 %. Scores vary over trials; how much is their standard deviation, with divisor n - 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05
DECIMALS = 6  # of scores in files, so that differences between runs read well
MOST_FLIPS = 10_000  # assignments of signs that a permutation test draws; up to 13 trials it takes all there are
PRECISION = 1e-6  # of scores: smaller differences are rounding
POWER = 0.8  # the chance with which `trials_needed` lets a difference be shown
MOST_TRIALS = 1000  # that `trials_needed` considers


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
    """

    difference: Any
    error: Any
    low: Any
    high: Any
    p: Any

    @property
    def interval(self) -> Interval:
        """Its 95 % interval."""
        return Interval(self.low, self.high)


def over_trials(values: Sequence[float]) -> dict[str, float]:
    """Sum up one value per trial, as files of results have it.

    Parameters
    ----------
    values : sequence of float

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
    scores = {"mean": sample.mean, "std": sample.std, "ci95": sample.half_width}
    return {name: round(score, DECIMALS) for name, score in scores.items()}


def paired(first: ArrayLike, second: ArrayLike) -> Difference:
    """Compare trials that belong together, along the last axis.

    Parameters
    ----------
    first, second : array_like, shape (..., trials)
        Scores, at least two.

    Returns
    -------
    Difference
        With Student's interval of the mean difference, and the p-value of a permutation test that flips signs.

    Examples
    --------
    >>> test = paired([0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.6])
    >>> round(float(test.difference), 6), float(test.p)  # all four signs are alike: 2 of 2⁴ assignments
    (0.1, 0.125)
    """
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    trials = differences.shape[-1]
    mean = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(trials)
    half = stats.t.ppf(1 - LEVEL / 2, trials - 1) * error
    return Difference(mean, error, mean - half, mean + half, _sign_flip_p(differences))


def welch(first: ArrayLike, second: ArrayLike) -> Difference:
    """Compare trials that have nothing in common, along the last axis.

    Parameters
    ----------
    first, second : array_like, shape (..., trials)
        Scores, at least two of each.

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
    difference = runs[0].mean(axis=-1) - runs[1].mean(axis=-1)
    error = np.sqrt(sum(run.var(axis=-1, ddof=1) / run.shape[-1] for run in runs))
    if np.ndim(difference) == 0 and error < PRECISION:  # all scores of each run are equal: the t test would divide by 0
        return Difference(difference, 0.0, difference, difference, float(abs(difference) < PRECISION))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy warns where the scores of one run are equal
        test = stats.ttest_ind(*runs, axis=-1, equal_var=False)
        interval = test.confidence_interval(1 - LEVEL)
    return Difference(difference, error, interval.low, interval.high, test.pvalue)


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


def holm(p: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's method.

    Parameters
    ----------
    p : sequence of float

    Returns
    -------
    list of float
        In the same order.

    References
    ----------
    Holm, S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1, np.maximum.accumulate(factors * np.asarray(p)[order]))
    return [float(value) for value in corrected]


def fewest_trials(*, paired: bool, comparisons: int) -> int:
    """The number of trials below which no difference can be shown among so many comparisons.

    Of 2ⁿ assignments of signs two are as extreme as the most extreme one.

    Examples
    --------
    >>> fewest_trials(paired=True, comparisons=1)
    6
    """
    return 1 + math.ceil(math.log2(comparisons / LEVEL)) if paired else 2


def trials_needed(test: Difference, trials: int, *, paired: bool, comparisons: int) -> int | None:
    """About how many trials of each run would show a difference as large as this one, four times of five.

    Parameters
    ----------
    test : Difference
    trials : int
        What it was measured with.
    paired : bool
        Whether trials belong together.
    comparisons : int
        How many there are, as p-values are corrected for them.

    Returns
    -------
    int or None
        More than `trials`; None if it is more than `MOST_TRIALS`.
    """
    counts = np.arange(max(fewest_trials(paired=paired, comparisons=comparisons), trials + 1), MOST_TRIALS + 1)
    freedom = (counts - 1) * (1 if paired else 2)
    quantiles = stats.t.ppf(1 - LEVEL / comparisons / 2, freedom) + stats.t.ppf(POWER, freedom)
    enough = counts[quantiles * test.error * np.sqrt(trials / counts) <= abs(test.difference)]
    return int(enough[0]) if len(enough) else None


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
