"""How far to look: the order N of a propagation matrix that suits a graph, by what a linear classifier finds in ΠX."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from grandplus.evaluation.baselines.inputs import propagated_rows_of
from grandplus.evaluation.baselines.linear import fit_linear
from grandplus.evaluation.baselines.protocol import Problem
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.propagation.matrices import MATRICES, propagation_weights
from grandplus.propagation.settings import GFPush

ORDERS = (0, 1, 2, 4, 8)  # that are tried; 0 looks at no edge
FAMILIES = ("avg", "single")  # whose order alone decides how far they look
STANDARD_ERRORS = 1.0  # by which the best order must be better than the usual one


def suited_order(graph: Graph, split: Split, matrix: str, settings: GFPush) -> int:
    """The order with which logistic regression on Π̃X predicts most validation nodes right.

    The family's default is kept unless another order is better than it by more than the standard error of the
    difference. No labels are looked at but those of training and validation nodes.

    Parameters
    ----------
    graph : Graph
    split : Split
        Of the first trial.
    matrix : {"avg", "single"}
    settings : GFPush
        Of the rows Π̃.

    Returns
    -------
    int

    Examples
    --------
    A path of nodes whose features say all, and whose neighbours say nothing:

    >>> import scipy.sparse as sp
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array(np.ones(99), offsets=1, shape=(100, 100)))
    >>> labels = np.random.default_rng(1).integers(0, 2, 100)
    >>> graph = Graph(path, np.eye(2, dtype=np.float32)[labels], labels, ["a", "b"], np.arange(100))
    >>> nodes = np.random.default_rng(0).permutation(100)
    >>> split = Split(train=nodes[:20], val=nodes[20:60], test=nodes[60:], unlabelled=nodes[20:])
    >>> suited_order(graph, split, "single", GFPush())
    0
    """
    usual = usual_order(matrix)
    right: dict[int, NDArray[np.bool_]] = {}
    with threadpool_limits(1):  # the same bytes on any number of cores
        for order in ORDERS:
            right[order] = _right(graph, split, propagation_weights(matrix, order=order), settings)
    best = max(ORDERS, key=lambda order: (right[order].mean(), -abs(order - usual)))
    gained = right[best].astype(float) - right[usual]
    return best if gained.mean() > STANDARD_ERRORS * gained.std() / np.sqrt(len(gained)) else usual


def usual_order(matrix: str) -> int:
    """The default order of a family of Π.

    Parameters
    ----------
    matrix : {"avg", "single"}

    Examples
    --------
    >>> usual_order("avg")
    4
    """
    return int(MATRICES[matrix].model_fields["order"].default)


def _right(graph: Graph, split: Split, weights: NDArray[np.float64], settings: GFPush) -> NDArray[np.bool_]:
    """Which validation nodes are predicted right."""
    problem = Problem(graph, [split], weights, settings.rmax, settings.top_k)
    candidates, nodes = problem.candidates(split), problem.chosen_by(split)
    linear = fit_linear(problem, split, candidates, lambda some: propagated_rows_of(problem.rows, graph.features, some))
    predicted = candidates[linear.scores(propagated_rows_of(problem.rows, graph.features, nodes)).argmax(axis=1)]
    return np.asarray(predicted == problem.labels(nodes))
