"""Graphs whose files hold an adjacency, features and labels of nodes that are numbered from 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grandplus.datasets.account import Account, FileAccount, zero_weights
from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source


class Part(NamedTuple):
    """How to read a part of a graph, and what to call it in an error.

    Attributes
    ----------
    read : callable
        Returns the matrix or array.
    where : object
    """

    read: Callable[[], Any]
    where: object


def numbered_graph(
    source: Source, *, adjacency: Part, features: Part | None, labels: Part, unused: Iterable[str] = ()
) -> RawGraph:
    """Read the parts of a graph one after the other; there is no split.

    Parameters
    ----------
    source : Source
    adjacency, labels : Part
    features : Part or None
    unused : iterable of str
        What else the files hold.

    Returns
    -------
    RawGraph

    Raises
    ------
    GrandPlusError
        A part is damaged, or disagrees with the adjacency.
    """
    matrix = adjacency.read()
    (edges, weights), nodes, entries = edges_of(matrix, source, adjacency.where), matrix.shape[0], matrix.nnz
    del matrix  # it may be large, and so may the next part
    numbers, classes = labels_of(labels.read(), nodes, source, labels.where)
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=None if features is None else features_of(features.read(), nodes, features.where),
        labels=numbers,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[],
        weights=weights,
        account=Account(
            (
                FileAccount(Path(str(adjacency.where)).name, entries, "edges"),
                FileAccount(Path(str(labels.where)).name, nodes, "labels"),
            ),
            unused=tuple(unused),
            dropped=zero_weights(entries, edges.shape[1]),
        ),
    )
