"""How scores are written. ± is the standard deviation over trials; an interval is written as an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grandplus.evaluation.statistics import Interval


@dataclass(frozen=True)
class Format:
    """How a score is written.

    Attributes
    ----------
    decimals : int
    factor : float
        What a score is multiplied by.
    unit : str
        What follows it.
    limits : tuple of float
        The least and the greatest score that there is; an interval is written within these.
    signed : bool
        Whether a score has its sign, as a difference does.
    """

    decimals: int
    factor: float = 1.0
    unit: str = ""
    limits: tuple[float, float] = (-math.inf, math.inf)
    signed: bool = False

    def __call__(self, score: float) -> str:
        """A score alone.

        Examples
        --------
        >>> percent(0.85134)
        '85.13 %'
        """
        return self._number(score, self.decimals) + self.unit

    def with_std(self, mean: float, std: float = math.nan) -> str:
        """A mean over trials with its standard deviation; NaN if there is a single trial.

        Examples
        --------
        >>> percent.with_std(0.8513, 0.003433), percent.with_std(0.85)
        ('85.13 % ± 0.34', '85.00 %')
        """
        return self(mean) if math.isnan(std) else f"{self(mean)} ± {self.factor * std:.{self.decimals}f}"

    def interval(self, interval: Interval) -> str:
        """An interval, with a decimal less than a score where it is wide.

        Examples
        --------
        >>> percent.interval(Interval(0.848812, 0.853792)), percent.interval(Interval(0.850812, 0.851592))
        ('84.9–85.4', '85.08–85.16')
        >>> signed_points.interval(Interval(-0.0412, 0.0233)), share.interval(Interval(0.22, 1.1))
        ('-4.1 to +2.3', '0.22–1.00')
        """
        wide = self.factor * (interval.high - interval.low) >= 20 * 10**-self.decimals
        least, greatest = self.limits
        ends = (self._number(min(max(end, least), greatest), self.decimals - wide) for end in interval)
        return (" to " if self.signed else "–").join(ends)

    def summary(self, scores: Mapping[str, float]) -> str:
        """What `over_trials` gives: mean, standard deviation and interval.

        Examples
        --------
        >>> percent.summary({"mean": 0.8513, "std": 0.003433, "ci95": 0.002456})
        '85.13 % ± 0.34, 95 % CI 84.9–85.4'
        >>> percent.summary({"mean": 0.8513})
        '85.13 %'
        """
        if not {"std", "ci95"} <= scores.keys():
            return self(scores["mean"])
        interval = Interval(scores["mean"] - scores["ci95"], scores["mean"] + scores["ci95"])
        return f"{self.with_std(scores['mean'], scores['std'])}, 95 % CI {self.interval(interval)}"

    def _number(self, score: float, decimals: int) -> str:
        return f"{self.factor * score:{'+' * self.signed}.{decimals}f}"


percent = Format(2, factor=100, unit=" %", limits=(0, 1))  # of shares
share, small_share = Format(3, limits=(0, 1)), Format(4, limits=(0, 1))
signed_points = Format(2, factor=100, signed=True, limits=(-1, 1))  # of differences of shares


def points(difference: float) -> str:
    """A difference of shares, in percentage points.

    Examples
    --------
    >>> points(-0.0079)
    '-0.79'
    """
    return f"{100 * difference:+.2f}"


def points_interval(interval: Interval) -> str:
    """The interval of a difference of shares, in percentage points, of which there are at most 100.

    Examples
    --------
    >>> points_interval(Interval(-0.0057, 0.0044)), points_interval(Interval(-2.4487, 2.3376))
    ('-0.57 to +0.44', '-100.00 to +100.00')
    """
    low, high = (min(max(end, -1.0), 1.0) for end in interval)
    return f"{points(low)} to {points(high)}"
