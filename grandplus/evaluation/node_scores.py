"""Which nodes each trial has tested, and where it was right: what a comparison beyond these nodes needs.

Of many test nodes a sample is kept, of each class in proportion. A node's place in the queue for it depends on the node
alone, so all runs on the same splits keep the same nodes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

MOST_NODES = 10_000  # that are kept, but for one more of a class: they tell a standard error within 2 %


@dataclass(frozen=True, eq=False)
class NodeScores:
    """Which nodes each trial of a run has tested, and where it was right.

    Attributes
    ----------
    nodes : int64 array, shape (n,)
        Of the graph, each once, ascending: those that any trial has tested, or a sample of them.
    labels : int64 array, shape (n,)
        Their class numbers.
    tested, correct : bool array, shape (trials, n)
        Whether a trial tests the node, and whether it predicts the node right.
    size : float
        How many nodes a trial tests, as a mean; more than are listed here if these are a sample.
    """

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    tested: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    size: float

    @classmethod
    def of(
        cls, nodes: Sequence[NDArray[np.int64]], correct: Sequence[NDArray[np.bool_]], labels: NDArray[np.int64]
    ) -> Self:
        """Gather the test nodes of all trials, `MOST_NODES` of them at most.

        Parameters
        ----------
        nodes : sequence of int64 arrays
            Of each trial, the nodes that it tests.
        correct : sequence of bool arrays
            Of each trial, whether each of these is predicted right.
        labels : int64 array, shape (nodes of the graph,)
            Class numbers.

        Examples
        --------
        >>> nodes, correct = np.array([[1, 3], [2, 3]]), np.array([[True, False], [True, True]])
        >>> run = NodeScores.of(nodes, correct, labels=np.array([0, 1, 0, 1]))
        >>> run.nodes.tolist(), run.correct.astype(int).tolist()
        ([1, 2, 3], [[1, 0, 0], [0, 1, 1]])
        """
        kept = np.zeros(len(labels), bool)
        for of_trial in nodes:
            kept[of_trial] = True
        chosen = _sample(np.flatnonzero(kept), np.asarray(labels))
        kept[:] = False
        kept[chosen] = True
        tested, right = np.zeros((2, len(nodes), len(chosen)), bool)
        for trial, (of_trial, hits) in enumerate(zip(nodes, correct, strict=True)):
            places = np.searchsorted(chosen, of_trial[kept[of_trial]])
            tested[trial, places], right[trial, places] = True, hits[kept[of_trial]]
        size = float(np.mean([len(of_trial) for of_trial in nodes]))
        return cls(chosen, np.asarray(labels)[chosen].astype(np.int64), tested, right, size)

    def of_trials(self, trials: slice) -> Self:
        """The same of some trials alone.

        Parameters
        ----------
        trials : slice
        """
        return replace(self, tested=self.tested[trials], correct=self.correct[trials])

    def to_json(self) -> dict[str, Any]:
        """As plain JSON: of each trial a bit for each node, eight to a byte, in base64."""
        bits = {"tested": _packed(self.tested), "correct": _packed(self.correct)}
        return {"size": self.size, "nodes": self.nodes.tolist(), "labels": self.labels.tolist(), **bits}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` has made.

        Parameters
        ----------
        content : mapping

        Raises
        ------
        KeyError, TypeError, ValueError
            It is no such content.
        """
        nodes, labels = (np.array(content[key], np.int64) for key in ("nodes", "labels"))
        tested, correct = (_unpacked(content[key], len(nodes)) for key in ("tested", "correct"))
        rightly = nodes.shape == labels.shape and tested.shape == correct.shape and bool(np.all(np.diff(nodes) > 0))
        if not rightly or np.any(correct & ~tested):
            raise ValueError("nodes, labels and trials don't belong together")
        return cls(nodes, labels, tested, correct, float(content["size"]))


def _sample(nodes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most `MOST_NODES` of some nodes, of each class in proportion, rounded up."""
    if len(nodes) <= MOST_NODES:
        return nodes
    queue = np.random.default_rng(0).random(len(labels))[nodes]
    _, places, counts = np.unique(labels[nodes], return_inverse=True, return_counts=True)
    order = np.lexsort((queue, places))
    rank = np.arange(len(nodes)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < np.ceil(MOST_NODES * np.repeat(counts, counts) / len(nodes))
    return np.sort(nodes[order[kept]])


def _packed(bits: NDArray[np.bool_]) -> list[str]:
    return [base64.b64encode(row.tobytes()).decode("ascii") for row in np.packbits(bits, axis=1)]


def _unpacked(rows: Sequence[str], nodes: int) -> NDArray[np.bool_]:
    packed = np.stack([np.frombuffer(base64.b64decode(row, validate=True), np.uint8) for row in rows])
    if packed.shape[1] != -(-nodes // 8):
        raise ValueError(f"{packed.shape[1]} bytes for {nodes} nodes")
    return np.unpackbits(packed, axis=1, count=nodes).astype(bool)
