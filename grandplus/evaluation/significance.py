"""When a difference is claimed: p-values of many comparisons, and how many trials it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from grandplus.evaluation.statistics import LEVEL, Difference

POWER = 0.8  # the chance with which `trials_needed` lets a difference be shown
MOST_TRIALS = 1000  # that `trials_needed` considers


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


def fewest_trials(*, paired: bool, comparisons: int, overlap: float = 0.0) -> int:
    """The number of trials below which no difference can be shown among so many comparisons.

    Of 2ⁿ assignments of signs two are as extreme as the most extreme one. A t test can show one from two trials on.

    Parameters
    ----------
    paired : bool
        Whether trials belong together.
    comparisons : int
    overlap : float
        As of `grandplus.evaluation.statistics.paired`, which takes a t test where there is any.

    Examples
    --------
    >>> fewest_trials(paired=True, comparisons=1)
    6
    """
    return 1 + math.ceil(math.log2(comparisons / LEVEL)) if paired and not overlap else 2


def trials_needed(test: Difference, trials: int, *, paired: bool, comparisons: int, overlap: float = 0.0) -> int | None:
    """About how many trials of each run would show a difference as large as this one, four times of five.

    Parameters
    ----------
    test : Difference
        Over trials.
    trials : int
        What it was measured with.
    paired : bool
        Whether trials belong together.
    comparisons : int
        How many there are, as p-values are corrected for them.
    overlap : float
        As was given to the test.

    Returns
    -------
    int or None
        More than `trials`; None if it is more than `MOST_TRIALS`.
    """
    fewest = fewest_trials(paired=paired, comparisons=comparisons, overlap=overlap)
    counts = np.arange(max(fewest, trials + 1), MOST_TRIALS + 1)
    freedom = (counts - 1) * (1 if paired else 2)
    quantiles = stats.t.ppf(1 - LEVEL / comparisons / 2, freedom) + stats.t.ppf(POWER, freedom)
    errors = test.error * np.sqrt((1 / counts + overlap) / (1 / trials + overlap))
    enough = counts[quantiles * errors <= abs(test.difference)]
    return int(enough[0]) if len(enough) else None
