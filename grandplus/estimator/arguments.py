"""The arguments of ``fit``, read into a graph as preprocessing takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.in_memory.inputs import Inputs, inputs_of
from grandplus.datasets.in_memory.labels import numbered_labels
from grandplus.datasets.in_memory.splits import given_splits
from grandplus.datasets.raw import RawGraph
from grandplus.graph.splits import Nodes

_MASK_OF = {"train": "train_mask", "val": "val_mask", "test": "test_mask"}


@dataclass(frozen=True, eq=False)
class Arguments:
    """What ``fit`` was given.

    Attributes
    ----------
    raw : RawGraph
    classes : ndarray, shape (C,)
        The labels that occur, of the kind of y, sorted.
    inputs : Inputs
    """

    raw: RawGraph
    classes: NDArray[Any]
    inputs: Inputs


def read_arguments(graph: Any, X: Any, y: Any, parts: dict[str, Any], *, edge_weights: str | None) -> Arguments:
    """Read the arguments of ``fit``.

    Parameters
    ----------
    graph, X, y : object
        As ``fit`` has them.
    parts : dict
        ``train``, ``val`` and ``test``. If all are None, masks of the graph stand for them.
    edge_weights : {None, "ignore", "use"}

    Returns
    -------
    Arguments

    Raises
    ------
    ArgumentError
        An argument is not what it should be.
    """
    inputs = inputs_of(graph, X, y, edge_weights=edge_weights)
    classes, labels = numbered_labels(inputs.labels, inputs.nodes)
    masked = all(nodes is None for nodes in parts.values())
    if masked:
        parts = {part: inputs.masks.get(mask) for part, mask in _MASK_OF.items()}
    public = given_splits(parts, labels)
    raw = RawGraph(
        edges=inputs.edges,
        nodes=inputs.nodes,
        features=inputs.features,
        labels=_without_unlisted(labels, public) if masked else labels,
        classes=[str(label) for label in classes.tolist()],
        node_ids=np.arange(inputs.nodes),
        splits=public,
        feature_names=inputs.feature_names,
        weights=inputs.weights,
        undirected=inputs.undirected,
    )
    return Arguments(raw, classes, inputs)


def _without_unlisted(labels: NDArray[np.int64], splits: list[dict[str, Nodes]]) -> NDArray[np.int64]:
    """Masks of a ``Data`` object say which labels are meant: the label of a node in none of them is unknown."""
    listed = np.zeros(len(labels), bool)
    for split in splits:
        for nodes in split.values():
            listed[nodes] = True
    return np.where(listed, labels, -1) if splits else labels
