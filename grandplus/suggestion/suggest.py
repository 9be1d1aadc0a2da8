"""The nodes whose labels would help most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.graph.splits import outside
from grandplus.propagation.matrices import PPR
from grandplus.propagation.power import column_sums
from grandplus.runtime.errors import ArgumentError
from grandplus.suggestion.embedding import unit_rows
from grandplus.suggestion.medoids import greedy_medoids

MOST = 10_000  # nodes that stand for all, where there are more; also the largest budget
FARTHEST = 2.0  # distance of two rows of length 1
_WEIGHTS = PPR().weights()


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Nodes to label, the most helpful first: what a shorter list has is the beginning of a longer one.

    Attributes
    ----------
    node : int64 (b,)
    score : float64 (b,)
        By how much the weighted mean distance of a node to the nearest one that is labelled, or suggested before,
        falls if this node is labelled too. It is at most 2 for the first node and never rises.
    stands_for : int64 (b,)
        How many nodes are nearer to this one than to any other that is labelled or suggested. An estimate where a
        sample stands for all nodes.
    """

    node: NDArray[np.int64]
    score: NDArray[np.float64]
    stands_for: NDArray[np.int64]


def suggest(
    adjacency: Adjacency | Graph | sp.sparray | sp.spmatrix,
    features: Features,
    budget: int,
    *,
    labelled: ArrayLike = (),
    candidates: ArrayLike | None = None,
    probabilities: NDArray[np.floating[Any]] | None = None,
) -> Suggestions:
    """Choose nodes to label, without any label or with some.

    With xᵢ the row i of ΠX, scaled to length 1, and S the nodes that are labelled or chosen already, the next node is
    the j with the largest score

        Σᵢ wᵢ max(0, min over s ∈ S of ‖xᵢ - xₛ‖ - ‖xᵢ - xⱼ‖) / Σᵢ wᵢ,

    where the minimum is 2 as long as S is empty, and wᵢ = mᵢuᵢ. The mass mᵢ is the sum of column i of Π: how much
    node i tells of all nodes. The uncertainty uᵢ is 1, or with ``probabilities`` their entropy. So the chosen nodes
    represent those that matter to many and that are predicted unsurely.

    Π is that of personalised PageRank with α = 0.2 and N = 10, for any method. Of more than 128 columns, X is projected
    to 128 by a random matrix with seed 0. Of more than 10,000 nodes without a label, a sample of 10,000 (seed 0) is
    represented, and of more than 10,000 candidates or labelled nodes a sample is taken, too. It takes memory for 64
    float32 a node.

    Sources: k-medoids on propagated features are FeatProp (Y. Wu, Y. Xu, A. Singh, Y. Yang, A. Dubrawski. Active
    learning for graph neural networks via node feature propagation. 2019); clusters weighted by entropy are CLUE
    (V. Prabhu, A. Chandrasekaran, K. Saenko, J. Hoffman. Active domain adaptation via clustering uncertainty-weighted
    embeddings. ICCV 2021); to weigh entropy by a node's PageRank is AGE (H. Cai, V. W. Zheng, K. C.-C. Chang. Active
    learning for graph embedding. 2017). The greedy algorithm is described at `greedy_medoids`.

    Parameters
    ----------
    adjacency : Graph, Adjacency or scipy sparse matrix, shape (n, n)
    features : ndarray or scipy sparse matrix, shape (n, d)
        X, scaled as for training.
    budget : int
        How many nodes to choose, at most ``MOST``.
    labelled : array_like of int, optional
        Nodes whose labels are known, or will be. They are not suggested.
    candidates : array_like of int, optional
        The nodes that may be suggested; by default all. The others are represented nevertheless.
    probabilities : ndarray of float, shape (n, C), optional
        Of the classes, as a model that was trained on the labels so far predicts them, best calibrated.

    Returns
    -------
    Suggestions
        Of fewer nodes if there are fewer candidates without a label. Of equal scores the node with the least number
        comes first. The same for any number of workers.

    Raises
    ------
    ArgumentError
        The budget is below 1 or above ``MOST``, a node is not in the graph, or an array has another shape.

    Examples
    --------
    Two groups of nodes, the second one smaller; then the first one is labelled already:

    >>> edges = sp.csr_array(np.kron(np.diag([1, 0]), np.ones((3, 3))) + np.kron(np.diag([0, 1]), np.eye(3)))
    >>> x = np.repeat(np.eye(2, dtype=np.float32), 3, axis=0)
    >>> suggest(edges, x, 2).node.tolist()
    [0, 3]
    >>> suggest(edges, x, 1, labelled=[1]).node.tolist()
    [3]
    """
    graph = as_adjacency(adjacency)
    _check(budget, graph.nodes, features, probabilities)
    known = _numbers(labelled, "labelled", graph.nodes)
    unknown = outside(graph.nodes, known)
    allowed = unknown if candidates is None else np.setdiff1d(_numbers(candidates, "candidates", graph.nodes), known)
    groups = [_sample(nodes) for nodes in (unknown, allowed, known)]
    used, places = np.unique(np.concatenate(groups), return_inverse=True)
    points, choices, near = np.split(places, np.cumsum([len(group) for group in groups])[:-1])
    weights = _weights(graph, probabilities)[groups[0]]
    rows = unit_rows(graph, features, used, _WEIGHTS)
    count = min(budget, len(choices))
    found = greedy_medoids(rows[points], weights, rows[choices], count, near=rows[near], farthest=FARTHEST)
    stands_for = np.bincount(found.nearest + 1, minlength=count + 1)[1:]
    return Suggestions(
        node=groups[1][found.chosen],
        score=found.gains / (weights.sum() or 1.0),
        stands_for=np.rint(stands_for * (len(unknown) / max(len(points), 1))).astype(np.int64),
    )


def _check(budget: Any, nodes: int, features: Features, probabilities: NDArray[np.floating[Any]] | None) -> None:
    if not isinstance(budget, int | np.integer) or not 1 <= budget <= MOST:
        raise ArgumentError(f"budget is {budget!r}", expected=f"a whole number from 1 to {MOST:,}")
    shape: tuple[int, ...] = getattr(features, "shape", ())
    if len(shape) != 2 or shape[0] != nodes:
        raise ArgumentError(f"features have shape {shape}", expected=f"{nodes} rows of columns, one a node")
    if probabilities is not None and (probabilities.ndim != 2 or len(probabilities) != nodes):
        expected = f"{nodes} rows, one a node, with a column for each class"
        raise ArgumentError(f"probabilities have shape {probabilities.shape}", expected=expected)


def _numbers(nodes: ArrayLike, name: str, count: int) -> NDArray[np.int64]:
    """Nodes, ascending and each once."""
    numbers = np.unique(np.asarray(nodes))
    wrong = numbers[~np.isin(numbers, np.arange(count))] if numbers.dtype.kind in "iuf" else numbers
    if len(wrong):
        raise ArgumentError(f"{name} has node {wrong[0]}", expected=f"numbers of nodes, from 0 to {count - 1}")
    return numbers.astype(np.int64)


def _sample(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(nodes) <= MOST:
        return nodes
    return np.sort(np.random.default_rng(0).choice(nodes, MOST, replace=False))


def _weights(graph: Adjacency, probabilities: NDArray[np.floating[Any]] | None) -> NDArray[np.float64]:
    """Mass times uncertainty."""
    mass = column_sums(graph, _WEIGHTS)
    return mass if probabilities is None else mass * entropy(probabilities)


def entropy(probabilities: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """-Σ p ln p of each row: float64 (n,).

    Parameters
    ----------
    probabilities : float (n, C)

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5], [1, 0]])).round(3).tolist()
    [0.693, 0.0]
    """
    shares = np.asarray(probabilities, np.float64)
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1) + 0.0)
