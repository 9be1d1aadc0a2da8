"""How many validation and test nodes each baseline predicts right, in each trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from grandplus.evaluation.baselines import (
    label_propagation,
    logistic_regression,
    propagated_logistic_regression,
)
from grandplus.evaluation.baselines.majority import most_frequent
from grandplus.evaluation.baselines.protocol import Baseline, Problem
from grandplus.evaluation.baselines.table import LABELS, BaselineScore
from grandplus.graph.features import blocks_of
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Split
from grandplus.propagation.matrices import checked_weights
from grandplus.propagation.plan import plan
from grandplus.propagation.power import propagate

BASELINES = (  # beside the majority class
    Baseline("label_propagation", True, label_propagation.write),
    Baseline("logistic_regression", False, logistic_regression.write),
    Baseline("propagated_logistic_regression", True, propagated_logistic_regression.write),
)
LEAST_ENTRIES = 256  # of the rows that a classifier is fitted on, as all nodes are then predicted by whole rows
TELLS_FREQUENCY = "propagated_logistic_regression"  # of classes, where the labels do not
COLUMNS = 64  # to propagate together, if one split has no more: more save hardly any time


def score_baselines(
    graph: Graph, splits: Sequence[Split], *, weights: ArrayLike, rmax: float, top_k: int
) -> list[BaselineScore]:
    """Compute the accuracies of cheap classifiers, with which that of GRAND+ is to be compared.

    They are ``majority`` (the most frequent class), ``label_propagation`` (ΠY of the training labels),
    ``logistic_regression`` on the features X and ``propagated_logistic_regression`` on ΠX. The penalty of the latter
    two is chosen on validation nodes. Only training and validation labels are used to predict. The result is the same
    for any number of workers.

    Parameters
    ----------
    graph : Graph
    splits : sequence of Split
        One a trial. Equal ones are computed once.
    weights : array_like of float, shape (N + 1,)
        w_0..w_N of Π.
    rmax, top_k : float and int
        Of the rows of Π that logistic regression is fitted on, see `gfpush`. They have at least 256 entries, as far
        as there are so many: all nodes are predicted by whole rows, so those of few entries would mislead it.

    Returns
    -------
    list of BaselineScore
        For each trial, one a baseline, in the order of ``LABELS``.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_MEMORY`` is too small for power iteration.

    Examples
    --------
    Two triangles that an edge joins. Features tell nothing, and edges everything:

    >>> import scipy.sparse as sp
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> edges = np.array([[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]])
    >>> adjacency = as_adjacency(sp.coo_array((np.ones(7), edges), (6, 6)))
    >>> classes = ["left", "right"]
    >>> graph = Graph(adjacency, np.ones((6, 1), np.float32), np.repeat([0, 1], 3), classes, np.arange(6))
    >>> split = Split(train=np.array([0, 5]), val=np.array([1, 4]), test=np.array([2, 3]), unlabelled=np.arange(1, 5))
    >>> for score in score_baselines(graph, [split], weights=[0.5, 0.5], rmax=0, top_k=4):
    ...     print(score.baseline, score.test_accuracy)
    majority 0.5
    label_propagation 1.0
    logistic_regression 0.5
    propagated_logistic_regression 0.5
    """
    problem = Problem(graph, splits, checked_weights(weights), rmax, max(top_k, LEAST_ENTRIES))
    trials: dict[str, list[int]] = {}
    for trial, split in enumerate(splits):
        trials.setdefault(split.digest(), []).append(trial)
    scores = []
    with threadpool_limits(1):  # the same bytes on any number of cores
        for group in _groups(problem, [numbers[0] for numbers in trials.values()]):
            for first, predictions in _predictions(problem, group):
                split = splits[first]
                predicted = {"majority": _majority(problem, split, predictions[TELLS_FREQUENCY]), **predictions}
                for name in LABELS:
                    accuracies = (_accuracy(problem, predicted[name], nodes) for nodes in (split.val, split.test))
                    scores.append(BaselineScore(first, name, *accuracies))
    of_first = {numbers[0]: numbers for numbers in trials.values()}
    every = [score._replace(trial=trial) for score in scores for trial in of_first[score.trial]]
    return sorted(every, key=lambda score: score.trial)  # which keeps the order of a trial's


def _groups(problem: Problem, trials: list[int]) -> Iterator[list[int]]:
    """Trials whose columns are propagated together."""
    columns = sum(baseline.propagated for baseline in BASELINES) * len(problem.graph.classes)
    size = max(1, COLUMNS // columns)
    for start in range(0, len(trials), size):
        yield trials[start : start + size]


def _predictions(problem: Problem, trials: Sequence[int]) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """For each of some trials, the class of every node by each of the linear baselines."""
    nodes, splits = problem.graph.adjacency.nodes, {trial: problem.splits[trial] for trial in trials}
    candidates = {trial: problem.candidates(split) for trial, split in splits.items()}
    places, width = {}, 0  # of a baseline's columns, and their number
    for trial in trials:
        for baseline in BASELINES:
            if baseline.propagated:
                places[trial, baseline.name] = slice(width, width + len(candidates[trial]))
                width += len(candidates[trial])
    how = plan(problem.graph, width, 0)
    columns = how.array(nodes)
    columns[:] = 0
    for trial in trials:
        for baseline in BASELINES:
            if baseline.propagated:
                baseline.write(problem, splits[trial], candidates[trial], columns[:, places[trial, baseline.name]])
    propagate(problem.graph, columns, weights=problem.weights, columns=how.columns, out=columns)
    for trial in trials:
        predictions = {}
        for baseline in BASELINES:
            if baseline.propagated:
                scores = columns[:, places[trial, baseline.name]]
            else:
                scores = np.zeros((nodes, len(candidates[trial])), np.float32)
                baseline.write(problem, splits[trial], candidates[trial], scores)
            predictions[baseline.name] = _highest(scores, candidates[trial])
        yield trial, predictions


def _highest(scores: NDArray[np.float32], candidates: NDArray[np.int64]) -> NDArray[Any]:
    """The candidate with the highest score of each node: int (n,)."""
    classes = candidates.astype(np.min_scalar_type(int(candidates.max())))
    predicted = np.empty(len(scores), classes.dtype)
    for rows in blocks_of(len(scores)):
        predicted[rows] = classes[scores[rows].argmax(axis=1)]
    return predicted


def _majority(problem: Problem, split: Split, predicted: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(predicted), most_frequent(problem, split, predicted))


def _accuracy(problem: Problem, predicted: NDArray[Any], nodes: Nodes) -> float | None:
    known = problem.known(nodes)
    return float((predicted[known] == problem.labels(known)).mean()) if len(known) else None
