"""Logistic regression on the nodes' own features X: what they tell without any edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.baselines.linear import fit_linear
from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.features import rows_of
from grandplus.graph.splits import Split


def write(problem: Problem, split: Split, candidates: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write XW + b.

    Parameters
    ----------
    problem : Problem
    split : Split
    candidates : int64 (c,)
    out : float32 (n, c)
        Of zeros.
    """
    features = problem.graph.features
    fit_linear(problem, split, candidates, lambda nodes: rows_of(features, nodes)).write(features, out)
