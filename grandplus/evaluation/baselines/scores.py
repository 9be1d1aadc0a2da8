"""How many validation and test nodes each baseline predicts right, in each trial."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from grandplus.evaluation.baselines import (
    label_propagation,
    logistic_regression,
    majority,
    propagated_logistic_regression,
)
from grandplus.evaluation.baselines.protocol import Baseline, Problem
from grandplus.evaluation.baselines.table import BaselineScore
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Split
from grandplus.propagation.matrices import checked_weights
from grandplus.propagation.plan import plan
from grandplus.propagation.power import propagate

BASELINES = (
    Baseline("majority", False, majority.write),
    Baseline("label_propagation", True, label_propagation.write),
    Baseline("logistic_regression", False, logistic_regression.write),
    Baseline("propagated_logistic_regression", True, propagated_logistic_regression.write),
)
BLOCK = 2**16  # nodes whose classes are told at a time
LEAST_ENTRIES = 256  # of the rows that a classifier is fitted on, as all nodes are then predicted by whole rows
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
        For each trial, one a baseline, in the order of ``BASELINES``.

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
        trials.setdefault(_digest(split), []).append(trial)
    scores = []
    with threadpool_limits(1):  # the same bytes on any number of cores
        for group in _groups(problem, [numbers[0] for numbers in trials.values()]):
            for first, name, accuracies in _accuracies(problem, group):
                scores += [BaselineScore(trial, name, *accuracies) for trial in trials[_digest(splits[first])]]
    return sorted(scores, key=lambda score: (score.trial, _NAMES.index(score.baseline)))


_NAMES = [baseline.name for baseline in BASELINES]


def _digest(split: Split) -> str:
    digest = hashlib.sha256()
    for nodes in (split.train, split.val, split.test):
        digest.update(len(nodes).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(nodes, np.int64).data)
    return digest.hexdigest()


def _groups(problem: Problem, trials: list[int]) -> Iterator[list[int]]:
    """Trials whose columns are propagated together."""
    columns = sum(baseline.propagated for baseline in BASELINES) * len(problem.graph.classes)
    size = max(1, COLUMNS // columns)
    for start in range(0, len(trials), size):
        yield trials[start : start + size]


def _accuracies(
    problem: Problem, trials: Sequence[int]
) -> Iterator[tuple[int, str, tuple[float | None, float | None]]]:
    """For each of some trials and each baseline, both accuracies."""
    places: list[tuple[int, Baseline, slice]] = []  # where its columns are
    for trial, baseline in itertools.product(trials, BASELINES):
        candidates = problem.candidates(problem.splits[trial])
        if baseline.propagated:
            start = places[-1][2].stop if places else 0
            places.append((trial, baseline, slice(start, start + len(candidates))))
            continue
        scores = np.zeros((problem.graph.adjacency.nodes, len(candidates)), np.float32)
        baseline.write(problem, problem.splits[trial], candidates, scores)
        yield trial, baseline.name, _judged(problem, trial, scores)
    width = places[-1][2].stop
    how = plan(problem.graph, width, 0)
    columns = how.array(problem.graph.adjacency.nodes)
    columns[:] = 0
    for trial, baseline, place in places:
        split = problem.splits[trial]
        baseline.write(problem, split, problem.candidates(split), columns[:, place])
    propagate(problem.graph, columns, weights=problem.weights, columns=how.columns, out=columns)
    for trial, baseline, place in places:
        yield trial, baseline.name, _judged(problem, trial, columns[:, place])


def _judged(problem: Problem, trial: int, scores: NDArray[Any]) -> tuple[float | None, float | None]:
    split = problem.splits[trial]
    candidates = problem.candidates(split)
    return _accuracy(problem, split.val, scores, candidates), _accuracy(problem, split.test, scores, candidates)


def _accuracy(problem: Problem, nodes: Nodes, scores: NDArray[Any], candidates: NDArray[np.int64]) -> float | None:
    known = problem.known(nodes)
    right = 0
    for start in range(0, len(known), BLOCK):
        chosen = known[start : start + BLOCK]
        right += int((candidates[scores[chosen].argmax(axis=1)] == problem.labels(chosen)).sum())
    return right / len(known) if len(known) else None
