"""What a baseline is given, and what it gives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Split
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import Rows

MOST_FITTED = 5000  # training nodes that a classifier is fitted on, and validation nodes that choose its penalty


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph, its splits and how Π and rows of it are computed.

    Attributes
    ----------
    graph : Graph
    splits : sequence of Split
    weights : float64 (N + 1,)
        w_0..w_N of Π.
    rmax : float
    top_k : int
    """

    graph: Graph
    splits: Sequence[Split]
    weights: NDArray[np.float64]
    rmax: float
    top_k: int

    @functools.cached_property
    def rows(self) -> Rows:
        """Rows of Π of the nodes that classifiers are fitted on and chosen by, over all splits."""
        nodes = [chosen for split in self.splits for chosen in (self.fitted_on(split), self.chosen_by(split))]
        sources = np.unique(np.concatenate(nodes))
        return gfpush(self.graph, sources, weights=self.weights, rmax=self.rmax, top_k=self.top_k)

    def labels(self, nodes: Nodes) -> NDArray[np.int64]:
        """Class numbers of some nodes; -1 where unknown."""
        return np.asarray(self.graph.labels[nodes])

    def known(self, nodes: Nodes) -> Nodes:
        """Those of some nodes whose label is known."""
        return nodes[self.labels(nodes) >= 0]

    def candidates(self, split: Split) -> NDArray[np.int64]:
        """The classes among the training nodes, the most frequent first.

        Validation nodes are counted too, as splits often hold equally many training nodes of each class. Of equally
        frequent classes the lower number comes first.
        """
        labels = self.labels(self.known(np.concatenate([split.train, split.val])))
        counts = np.bincount(labels, minlength=len(self.graph.classes))
        ranked = np.argsort(-counts, kind="stable")
        return ranked[np.isin(ranked, self.labels(split.train))]

    def fitted_on(self, split: Split) -> Nodes:
        """At most ``MOST_FITTED`` training nodes, drawn at random, with at least one of each class."""
        nodes = self.known(split.train)
        if len(nodes) <= MOST_FITTED:
            return nodes
        shuffled = np.random.default_rng(0).permutation(nodes)
        firsts = np.unique(self.labels(shuffled), return_index=True)[1]
        return np.concatenate([shuffled[firsts], np.delete(shuffled, firsts)])[:MOST_FITTED]

    def chosen_by(self, split: Split) -> Nodes:
        """At most ``MOST_FITTED`` validation nodes, drawn at random."""
        nodes = self.known(split.val)
        return (
            nodes if len(nodes) <= MOST_FITTED else np.random.default_rng(0).choice(nodes, MOST_FITTED, replace=False)
        )


class Baseline(NamedTuple):
    """A classifier whose scores are linear: a node's are a row of an (n, c) matrix, or of its product with Π.

    The class with the highest score is predicted; of equal ones, the first of the candidates.

    Attributes
    ----------
    name : str
        As in ``metrics.json``: a key of ``LABELS`` in ``table``.
    propagated : bool
        Whether the matrix is multiplied by Π.
    write : callable
        Given a `Problem`, a `Split`, the candidates (c,) and a float32 (n, c) array of zeros, it writes the matrix,
        one column for each candidate, into the array.
    """

    name: str
    propagated: bool
    write: Callable[[Problem, Split, NDArray[np.int64], NDArray[Any]], None]
