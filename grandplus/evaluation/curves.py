"""Learning curves: what trials measured at each validation, side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class Curve(NamedTuple):
    """A column of the history; NaN where a trial has no such step.

    Trials stop at different steps, so means over trials go up to the last step that all of them
    reached; beyond it they would jump whenever a trial drops out.
    """

    steps: NDArray[np.int64]  # (s,)
    trials: NDArray[np.float64]  # (t, s)
    common: int  # the first so many steps were reached by all trials

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.asarray(self.trials[:, : self.common].mean(axis=0))


def learning_curve(history: pa.Table, column: str) -> Curve:
    """One column of the history of all trials, which has a line per trial and validation, in any order."""
    _, trial = np.unique(history["trial"].to_numpy(), return_inverse=True)
    steps, step = np.unique(history["step"].to_numpy(), return_inverse=True)
    values = np.full((trial.max() + 1, len(steps)), np.nan)
    values[trial, step] = history[column].to_numpy()
    reached = np.zeros(values.shape, dtype=bool)
    reached[trial, step] = True
    return Curve(steps, values, int(np.logical_and.accumulate(reached.all(axis=0)).sum()))
