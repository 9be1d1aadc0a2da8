"""Multinomial logistic regression with an L2 penalty that validation chooses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.features import Features, rows_of
from grandplus.graph.splits import Nodes, Split
from grandplus.runtime import pools

INVERSE_PENALTIES = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)  # scikit-learn's C, from the strongest penalty on
UNCHOSEN = 1.0  # of them, where there is no validation node
PATIENCE = 2  # weaker penalties in a row that gain nothing on validation, once features tell something
MOST_STEPS = 300  # of L-BFGS; with hardly any penalty more steps change few predictions
JITTER = 1e-10  # share of the mean squared length of rows that is added to each, so that equal rows do no harm
MANY_CLASSES = "The number of unique classes is greater than 50% of the number of samples"  # few labels, no regression
BLOCK = 8192  # nodes at a time


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores that are linear in the features: XW + b.

    Attributes
    ----------
    weight : float32 (r, c)
    bias : float32 (c,)
    lookup : int32 (d,) or None
        The row of ``weight`` for each column of sparse features; the last row is 0, for columns that no training
        node has. None where there is a row for each.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    lookup: NDArray[np.int32] | None

    def scores(self, inputs: Features) -> NDArray[np.float32]:
        """The scores of some rows.

        Parameters
        ----------
        inputs : (m, d) ndarray or scipy CSR

        Returns
        -------
        float32 (m, c)
        """
        if self.lookup is not None:
            compact = (inputs.data, self.lookup[inputs.indices], inputs.indptr)
            inputs = sp.csr_array(compact, (inputs.shape[0], len(self.weight)))
        return np.asarray(inputs @ self.weight, np.float32) + self.bias

    def write(self, features: Features, out: NDArray[Any]) -> None:
        """Write the scores of all nodes; the same bytes for any number of workers.

        Parameters
        ----------
        features : float32 (n, d) ndarray or scipy CSR
        out : float32 (n, c)
        """

        def multiply(start: int) -> None:
            nodes = np.arange(start, min(start + BLOCK, len(out)))
            out[nodes] = self.scores(rows_of(features, nodes))

        for _ in pools.map_threads(multiply, range(0, len(out), BLOCK)):
            pass


def fit_linear(
    problem: Problem, split: Split, candidates: NDArray[np.int64], inputs_of: Callable[[Nodes], Features]
) -> Linear:
    """Fit logistic regression to training nodes, with the penalty that predicts most validation nodes right.

    Parameters
    ----------
    problem : Problem
    split : Split
    candidates : int64 (c,)
    inputs_of : callable
        Gives the features (m, d) of some nodes (m,).

    Returns
    -------
    Linear
        Of equally good penalties the strongest. Where all training nodes are of one class, its scores are 0.
    """
    train, val = problem.fitted_on(split), problem.chosen_by(split)
    inputs, lookup = _compact(inputs_of(train))
    rows = inputs.shape[1] + (lookup is not None)
    if len(candidates) < 2 or not inputs.shape[1]:
        return Linear(np.zeros((rows, len(candidates)), np.float32), np.zeros(len(candidates), np.float32), lookup)
    held_out = _looked_up(inputs_of(val), lookup, inputs.shape[1])
    few, few_held_out, back = _reduced(inputs, held_out)
    targets, answers = (_places(problem.labels(nodes), candidates) for nodes in (train, val))
    weight, bias = _best(few, targets, few_held_out, answers)
    full = np.zeros((rows, len(candidates)), np.float32)
    full[: inputs.shape[1]] = back(weight)
    return Linear(full, bias.astype(np.float32), lookup)


def _compact(inputs: Features) -> tuple[Features, NDArray[np.int32] | None]:
    """Inputs in float64 without the columns that no row has, and the place of each of all columns."""
    if not sp.issparse(inputs):
        return np.asarray(inputs, np.float64), None
    used = np.unique(inputs.indices)
    lookup = np.full(inputs.shape[1], len(used), np.int32)
    lookup[used] = np.arange(len(used))
    return _looked_up(inputs, lookup, len(used)), lookup


def _looked_up(inputs: Features, lookup: NDArray[np.int32] | None, width: int) -> Features:
    """The columns of inputs that training nodes have, in float64."""
    if lookup is None:
        return np.asarray(inputs, np.float64)
    compact = (inputs.data.astype(np.float64), lookup[inputs.indices], inputs.indptr.astype(np.int32))
    return sp.csr_array(compact, (inputs.shape[0], width + 1))[:, :width]


def _reduced(inputs: Features, held_out: Features) -> tuple[Features, Features, Callable[[NDArray[Any]], Any]]:
    """The same classification in as few columns as there are training nodes, where that is faster.

    With an L2 penalty W is a combination of training rows, so of inputs = LQ with orthonormal rows in Q only L matters.

    Returns
    -------
    inputs, held_out : (m, r) and (v, r)
    back : callable
        Gives the weight (d, c) of a weight (r, c).
    """
    stored = inputs.nnz if sp.issparse(inputs) else inputs.size
    nodes = inputs.shape[0]
    if stored <= nodes**2:
        return inputs, held_out, lambda weight: weight
    products = _dense(inputs @ inputs.T)
    products[np.diag_indices(nodes)] += JITTER * max(np.trace(products) / nodes, np.finfo(np.float64).tiny)
    lower = cholesky(products, lower=True)
    few = solve_triangular(lower, _dense(inputs @ held_out.T), lower=True).T
    return lower, few, lambda weight: inputs.T @ solve_triangular(lower, weight, lower=True, trans="T")


def _dense(matrix: Features) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _places(labels: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where labels are among the candidates; -1 for another class."""
    matches = labels[:, None] == candidates
    return np.where(matches.any(axis=1), matches.argmax(axis=1), -1)


def _best(
    inputs: Features, targets: NDArray[np.int64], held_out: Features, answers: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight (r, c) and bias (c,) with the penalty that is best on held-out nodes."""
    if not len(answers):
        return next(_path(inputs, targets, [UNCHOSEN]))
    majority = np.bincount(answers[answers >= 0]).max(initial=0) / len(
        answers
    )  # what a penalty that hides all features comes to
    best, chosen, since = -1.0, None, 0
    for weight, bias in _path(inputs, targets, INVERSE_PENALTIES):
        accuracy = float(((held_out @ weight + bias).argmax(axis=1) == answers).mean())
        since += 1
        if accuracy > best:
            best, chosen, since = accuracy, (weight, bias), 0
        if since >= PATIENCE and best > majority:
            break
    assert chosen is not None
    return chosen


def _path(
    inputs: Features, targets: NDArray[np.int64], penalties: Sequence[float]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Fits with one penalty after the other, each from the solution before."""
    regression = LogisticRegression(warm_start=True, max_iter=MOST_STEPS)
    for inverse_penalty in penalties:
        regression.C = inverse_penalty
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", MANY_CLASSES, UserWarning)
            regression.fit(inputs, targets)
        weight, bias = regression.coef_.T.copy(), regression.intercept_.copy()
        if len(bias) == 1:  # of two classes scikit-learn has the second one's scores
            weight, bias = np.hstack([np.zeros_like(weight), weight]), np.concatenate([[0.0], bias])
        yield weight, bias
