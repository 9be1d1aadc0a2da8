"""What a metric is: a number that tells how good a run is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grandplus.evaluation.formats import Format

# What metrics are of: the keys of metrics.json, and how a metric's label begins.
PARTS = {
    "test": "test",
    "val": "validation",
    "baselines": "points above",
    "rows": "row",
    "predictions": "ensemble",
}

# What stands beside the mean of a metric that spreads.
SPREAD = {
    "std": "its standard deviation over trials (divisor n - 1): how much one training differs from another",
    "ci95": "half-width of the 95 % t interval of the mean: how well these trials determine it. It is wider where "
    "splits are drawn anew for each trial, as these share nodes. A single trial has neither",
}


@dataclass(frozen=True)
class Metric:
    """A number that tells how good a run is.

    Attributes
    ----------
    key : str
        Where it stands in ``metrics.json``, below the part.
    label : str
        What it is called, after the part.
    meaning : str
        What it says, for the list in ``docs/results.md``.
    written : Format
        How its value is written.
    score : callable
        Its value: of a `Scored` for ``test`` and ``val``, of the rows' L1 errors for ``rows``, of a `ScoredEnsemble`
        for ``predictions``, of a trial's lead over the best baseline for ``baselines``. None where it can't be told.
    parts : tuple of str
        Which of `PARTS` it is computed for.
    in_tables : tuple of str
        For which of these it is a column of the tables that compare runs.
    only_in_json : tuple of str
        For which of these ``grandplus results`` does not print it.
    spreads : bool
        Whether ``std`` and ``ci95`` over trials stand beside its mean; its key then ends in ``.mean``.
    """

    key: str
    label: str
    meaning: str
    written: Format
    score: Callable[[Any], float | None]
    parts: tuple[str, ...]
    in_tables: tuple[str, ...] = ()
    only_in_json: tuple[str, ...] = ()
    spreads: bool = False

    def name(self, part: str) -> str:
        """What it is called for a part.

        Examples
        --------
        >>> Metric("accuracy.mean", "accuracy", "share right", Format(2), float, ("val",)).name("val")
        'validation accuracy'
        """
        return f"{PARTS[part]} {self.label}"
