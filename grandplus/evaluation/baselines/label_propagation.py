"""Label propagation: a node has the class whose training nodes have most of its row of Π."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.splits import Split


def write(problem: Problem, split: Split, candidates: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write Y: a 1 for the class of each training node, and 0 elsewhere; Π is applied later.

    A node that no training node is near has no mass, so it gets the most frequent class.

    Parameters
    ----------
    problem : Problem
    split : Split
    candidates : int64 (c,)
    out : float32 (n, c)
        Of zeros.
    """
    nodes = problem.known(split.train)
    out[nodes] = problem.labels(nodes)[:, None] == candidates
