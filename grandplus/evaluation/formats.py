"""How scores are written. ± is the standard deviation over trials; an interval is written as an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grandplus.evaluation.statistics import Interval, Sample


def percent(share: float) -> str:
    """A share in per cent.

    Examples
    --------
    >>> percent(0.85134)
    '85.13 %'
    """
    return f"{100 * share:.2f} %"


def points(difference: float) -> str:
    """A difference of shares, in percentage points.

    Examples
    --------
    >>> points(-0.0079)
    '-0.79'
    """
    return f"{100 * difference:+.2f}"


def mean_and_std(sample: Sample) -> str:
    """The mean of shares in per cent with its standard deviation over trials, which a single trial has not.

    Examples
    --------
    >>> mean_and_std(Sample(0.8513, 0.003433, 10)), mean_and_std(Sample.of([0.85]))
    ('85.13 % ± 0.34', '85.00 %')
    """
    return percent(sample.mean) + ("" if math.isnan(sample.std) else f" ± {100 * sample.std:.2f}")


def share_interval(interval: Interval) -> str:
    """The interval of a share in per cent, within 0 and 100; with a second decimal where it is narrow.

    Examples
    --------
    >>> share_interval(Interval(0.848812, 0.853792)), share_interval(Interval(0.850812, 0.851592))
    ('84.9–85.4', '85.08–85.16')
    """
    low, high = (100 * min(max(end, 0.0), 1.0) for end in interval)
    decimals = 1 if interval.high - interval.low >= 0.002 else 2
    return f"{low:.{decimals}f}–{high:.{decimals}f}"


def points_interval(interval: Interval) -> str:
    """The interval of a difference of shares, in percentage points.

    Examples
    --------
    >>> points_interval(Interval(-0.0057, 0.0044))
    '-0.57 to +0.44'
    """
    return f"{points(interval.low)} to {points(interval.high)}"


def mean_std_and_interval(scores: Mapping[str, float]) -> str:
    """A share's ``mean``, ``std`` and ``ci95``, as `over_trials` has summed them up.

    Examples
    --------
    >>> mean_std_and_interval({"mean": 0.8513, "std": 0.003433, "ci95": 0.002456})
    '85.13 % ± 0.34, 95 % CI 84.9–85.4'
    >>> mean_std_and_interval({"mean": 0.8513})
    '85.13 %'
    """
    mean = scores["mean"]
    if "std" not in scores:
        return percent(mean)
    interval = Interval(mean - scores["ci95"], mean + scores["ci95"])
    return f"{percent(mean)} ± {100 * scores['std']:.2f}, 95 % CI {share_interval(interval)}"
