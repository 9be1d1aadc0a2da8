"""The most frequent class, for every node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.splits import Split


def most_frequent(problem: Problem, split: Split, predicted: NDArray[Any]) -> int:
    """The class that most of the labels are of, as far as they tell.

    Often they do not: per-class splits hold equally many nodes of each class, even if one class has most of the graph.

    Parameters
    ----------
    problem : Problem
    split : Split
        Its training and validation labels are counted.
    predicted : ndarray of int, shape (n,)
        A class for each node, as another baseline predicts it. Of classes with equally many labels, the one that is
        predicted most often is taken.

    Returns
    -------
    int
    """
    classes = len(problem.graph.classes)
    labelled = problem.labels(problem.known(np.concatenate([split.train, split.val])))
    counts = [np.bincount(numbers, minlength=classes) for numbers in (labelled, predicted)]
    return int(np.lexsort((-counts[1], -counts[0]))[0])
