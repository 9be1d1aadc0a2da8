"""How sure a mean over trials is."""

from __future__ import annotations

import numpy as np
from scipy import stats


def mean_and_error(scores: list[float]) -> str:
    """The mean in percent, with its standard error where there are several.

    >>> mean_and_error([0.85, 0.86, 0.87])
    '86.00 ± 0.58'
    """
    error = f" ± {100 * np.std(scores, ddof=1) / np.sqrt(len(scores)):.2f}" if len(scores) > 1 else ""
    return f"{100 * np.mean(scores):.2f}{error}"


def half_width(deviation: float, trials: int) -> float:
    """Of the 95 % t interval of a mean over trials, from their standard deviation (divisor n - 1)."""
    return float(stats.t.ppf(0.975, trials - 1) * deviation / np.sqrt(trials))


def welch_half_width(one: tuple[float, int], other: tuple[float, int]) -> float:
    """Of Welch's 95 % interval of the difference of two means: each a standard deviation and a number of trials."""
    (a, count_a), (b, count_b) = ((deviation**2 / trials, trials) for deviation, trials in (one, other))
    freedom = (a + b) ** 2 / (a**2 / (count_a - 1) + b**2 / (count_b - 1))
    return float(stats.t.ppf(0.975, freedom) * np.sqrt(a + b))
