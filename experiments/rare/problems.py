"""Real graphs, in which all but a few nodes of the largest class are removed, so that there is 1 for 50 others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from experiments.defaults.graphs import WORDS_OF_NODES
from grandplus.datasets.raw import RawGraph

OTHERS = 50  # nodes of other classes for one of the rare class
WATCHED = 510  # nodes to train on, and as many to validate: of the rare class about 10 of each


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph with a rare class.

    Attributes
    ----------
    edges : int64 (2, E)
    X : scipy CSR or ndarray (n, d)
    y : (n,)
        Names of classes.
    rare : str
        The class that is rare.
    """

    edges: NDArray[np.int64]
    X: Any
    y: NDArray[np.str_]
    rare: str

    def split(self, trial: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Nodes to train on, to validate and to test: drawn anew for each trial, from all nodes alike."""
        order = np.random.default_rng([1, trial]).permutation(len(self.y))
        return order[:WATCHED], order[WATCHED : 2 * WATCHED], order[2 * WATCHED :]


def with_a_rare_class(raw: RawGraph, *, two_classes: bool) -> Problem:
    """Take nodes of the largest class out until one is left for `OTHERS` others.

    Parameters
    ----------
    raw : RawGraph
    two_classes : bool
        Whether all other classes count as one.
    """
    largest = int(np.bincount(raw.labels[raw.labels >= 0]).argmax())
    of_it, others = np.flatnonzero(raw.labels == largest), np.flatnonzero((raw.labels != largest) & (raw.labels >= 0))
    few = np.random.default_rng(0).choice(of_it, round(len(others) / OTHERS), replace=False)
    kept = np.sort(np.concatenate([few, others]))
    number = np.full(raw.nodes, -1)
    number[kept] = np.arange(len(kept))
    edges = number[raw.edges]
    edges = edges[:, (edges >= 0).all(axis=0)]
    names = np.array([str(name) for name in raw.classes])
    y = names[raw.labels[kept]]
    if two_classes:
        y = np.where(y == names[largest], y, "others")
    features = sp.csr_array(raw.features)[kept] if sp.issparse(raw.features) else raw.features[kept]
    return Problem(edges, features, y, str(names[largest]))


def problems(files: Path) -> dict[str, Callable[[], Problem]]:
    """How each problem is made, by its name.

    Parameters
    ----------
    files : Path
        The folder with ``graphdata/amazon_photo.npz``.
    """
    graphs = {given.name: given for given in WORDS_OF_NODES}

    def made(name: str, two_classes: bool) -> Callable[[], Problem]:
        return lambda: with_a_rare_class(graphs[name].load(files)[0], two_classes=two_classes)

    return {
        "Pubmed, 2 classes": made("pubmed", True),
        "Pubmed, 3 classes": made("pubmed", False),
        "Amazon Photo, 8 classes": made("amazon_photo", False),
    }
