"""The most frequent class, for every node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.splits import Split


def write(problem: Problem, split: Split, candidates: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Leave all scores 0: the first of the candidates, which is the most frequent one, is then predicted.

    Parameters
    ----------
    problem : Problem
    split : Split
    candidates : int64 (c,)
    out : float32 (n, c)
    """
