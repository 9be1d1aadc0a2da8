"""Logistic regression on propagated features ΠX: what a linear classifier finds in what GRAND+ is trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.baselines.inputs import propagated_rows_of
from grandplus.evaluation.baselines.linear import fit_linear
from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.splits import Split


def write(problem: Problem, split: Split, candidates: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write XW + b, which Π is applied to later: as each row of Π sums to 1, Π(XW + b) = ΠXW + b.

    W and b are fitted to rows of Π̃X, as GRAND+ is trained on them.

    Parameters
    ----------
    problem : Problem
    split : Split
    candidates : int64 (c,)
    out : float32 (n, c)
        Of zeros.
    """
    features, rows = problem.graph.features, problem.rows
    fit_linear(problem, split, candidates, lambda nodes: propagated_rows_of(rows, features, nodes)).write(features, out)
