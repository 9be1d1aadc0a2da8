"""Learning curves: the scores of trials at each validation, side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class Curve(NamedTuple):
    """A column of the history.

    Trials stop at different steps, so means over trials go up to the last step that all of them
    reached; beyond it they would jump whenever a trial stops.

    Attributes
    ----------
    steps : ndarray of int64, shape (s,)
    trials : ndarray of float64, shape (t, s)
        NaN where a trial has no such step.
    common : int
        How many steps, from the first on, all trials have reached.
    """

    steps: NDArray[np.int64]
    trials: NDArray[np.float64]
    common: int

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over trials of the common steps; shape (common,)."""
        return np.asarray(self.trials[:, : self.common].mean(axis=0))


def learning_curve(history: pa.Table, column: str) -> Curve:
    """Take one column of the history.

    Parameters
    ----------
    history : pyarrow.Table
        Of all trials: a line per trial and validation, in any order.
    column : str

    Returns
    -------
    Curve
    """
    _, trial = np.unique(history["trial"].to_numpy(), return_inverse=True)
    steps, step = np.unique(history["step"].to_numpy(), return_inverse=True)
    values = np.full((trial.max() + 1, len(steps)), np.nan)
    values[trial, step] = history[column].to_numpy()
    reached = np.zeros(values.shape, dtype=bool)
    reached[trial, step] = True
    return Curve(steps, values, int(np.logical_and.accumulate(reached.all(axis=0)).sum()))
