"""Is one run better than another, or could chance have done it?

Runs with the same splits and seeds are compared trial by trial, which takes out what the trials have in
common: the interval of the mean difference is Student's, the p-value that of a sign-flip permutation test
(every assignment of signs up to 13 trials, 10,000 drawn ones beyond). Others are compared by Welch's t test, and
runs on different graphs not at all.
p-values are corrected for the number of comparisons by Holm's method.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05
FLIPS = 10_000  # drawn at most
PRECISION = 1e-6  # of scores
MANY = 1000  # trials: more are worth no thought
POWER = 0.8  # of the trials that a difference would take


class Test(NamedTuple):
    """Of one pair, or arrays of many: the mean of the first minus that of the second, with its 95 % interval.

    error : standard error of the difference
    """

    difference: Any
    error: Any
    low: Any
    high: Any
    p: Any


@dataclass(frozen=True)
class Comparison:
    """Two runs, by their place in the list that was compared.

    trials : of the run that has fewer
    paired : whether they were compared trial by trial, as far as both go; else by Welch's test
    corrected : p-value, corrected for the number of comparisons
    among : that number
    """

    first: int
    second: int
    trials: int
    paired: bool
    test: Test
    corrected: float
    among: int

    @property
    def differs(self) -> bool:
        """Whether there is evidence of a difference, at the level of 5 %."""
        return self.corrected <= LEVEL

    def verdict(self, names: Sequence[str]) -> str:
        """What may be said, in words."""
        if self.differs:
            better, other = (self.first, self.second) if self.test.difference > 0 else (self.second, self.first)
            return f"{names[better]} is better than {names[other]}"
        words = "no evidence of a difference"
        if self.paired and not self.test.error and not self.test.difference:
            return f"{words}: trial by trial they are equal"
        return words + (f": {self.trials} trials are too few to show any" if self.trials < self._least_trials else "")

    @property
    def by(self) -> str:
        """How they were compared, in words."""
        return f"{self.trials} pairs of trials" if self.paired else "Welch, as splits or seeds differ"

    @property
    def would_take(self) -> str:
        """About how many trials of each would show a difference as large as this one, four times of five."""
        if self.differs or not self.test.difference:
            return ""
        trials = np.arange(max(self._least_trials, self.trials + 1), MANY + 1)
        freedom = (trials - 1) * (1 if self.paired else 2)
        wanted = stats.t.ppf(1 - LEVEL / self.among / 2, freedom) + stats.t.ppf(POWER, freedom)
        enough = trials[wanted * self.test.error * np.sqrt(self.trials / trials) <= abs(self.test.difference)]
        return f"{enough[0]} trials" if len(enough) else f"> {MANY:,} trials"

    @property
    def _least_trials(self) -> int:
        """That can show a difference at all: of 2ⁿ assignments of signs two are as extreme as the most extreme."""
        return 1 + math.ceil(math.log2(self.among / LEVEL)) if self.paired else 2


def compare(
    scores: Sequence[Sequence[float]], pairs: Sequence[Sequence[object]], subjects: Sequence[object] | None = None
) -> list[Comparison]:
    """Compare every two of some runs that are of the same subject.

    Parameters
    ----------
    scores : of each run, one a trial
    pairs : of each run, what its trials were made from: trials of two runs are paired as far as these agree
        from the first on, and at all only if they do so to the end of the shorter one
    subjects : of each run, the graph and which of its nodes are judged; by default all are the same

    Runs of a single trial are compared with none: nothing is known about how much their scores vary.
    """
    tests, fewer = {}, {}
    for first, second in itertools.combinations(range(len(scores)), 2):
        a, b = scores[first], scores[second]
        common = min(len(a), len(b))
        if common >= 2 and (subjects is None or subjects[first] == subjects[second]):
            same = list(pairs[first][:common]) == list(pairs[second][:common])
            fewer[first, second] = common, same
            tests[first, second] = paired(a[:common], b[:common]) if same else welch(a, b)
    corrected = holm([float(test.p) for test in tests.values()])
    return [
        Comparison(*both, *fewer[both], test, p, len(tests))
        for (both, test), p in zip(tests.items(), corrected, strict=True)
    ]


def paired(a: ArrayLike, b: ArrayLike) -> Test:
    """Of trials that belong together, along the last axis: at least two.

    >>> difference, *_, p = paired([0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.6])
    >>> round(float(difference), 6), float(p)  # all four signs alike: 2 of 2⁴ assignments
    (0.1, 0.125)
    """
    differences = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    count = differences.shape[-1]
    mean = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(count)
    half = stats.t.ppf(1 - LEVEL / 2, count - 1) * error
    return Test(mean, error, mean - half, mean + half, _sign_flip_p(differences))


def welch(a: ArrayLike, b: ArrayLike) -> Test:
    """Of trials that have nothing in common, along the last axis: at least two of each.

    B. L. Welch. The generalization of "Student's" problem when several different population variances are involved.
    Biometrika 34, 1947.
    """
    runs = np.asarray(a, np.float64), np.asarray(b, np.float64)
    difference = runs[0].mean(axis=-1) - runs[1].mean(axis=-1)
    of_means = [run.var(axis=-1, ddof=1) / run.shape[-1] for run in runs]
    error = np.sqrt(of_means[0] + of_means[1])
    if np.ndim(difference) == 0 and error < PRECISION:  # all alike in both: Student's t would divide by it
        return Test(difference, 0.0, difference, difference, float(abs(difference) < PRECISION))
    freedom = error**4 / sum(of**2 / (run.shape[-1] - 1) for of, run in zip(of_means, runs, strict=True))
    half = stats.t.ppf(1 - LEVEL / 2, freedom) * error
    p = 2 * stats.t.sf(abs(difference) / error, freedom)
    return Test(difference, error, difference - half, difference + half, p)


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1, np.maximum.accumulate(factors * np.asarray(p)[order]))
    return [float(value) for value in corrected]


def _sign_flip_p(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided p-value of a mean as far from 0, were each difference's sign as likely as its opposite."""
    whole = np.round(differences / PRECISION)  # sums of these are exact, so equal ones are seen to be equal

    def mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray(np.mean(values, axis=axis))

    found = stats.permutation_test(
        (whole,),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=FLIPS,
        axis=-1,
        rng=np.random.default_rng(0),
    )
    return np.asarray(found.pvalue)
