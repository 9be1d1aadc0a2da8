"""The graph of a prediction, where it isn't that of ``fit``: read and scaled as that one was."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from grandplus.datasets.in_memory.inputs import Inputs, inputs_of
from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.graph.entries import Direction, directed_edges
from grandplus.graph.features import Features
from grandplus.graph.fitted import OF_NEIGHBORS, RAW_ROWS, FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.methods.protocol import Model
from grandplus.runtime.errors import ArgumentError


def other_graph(
    graph: Any, X: Any, model: Model, width: int | None, *, edge_weights: str | None, direction: Direction
) -> Graph:
    """The graph that a trained model is to predict.

    Parameters
    ----------
    graph, X : object
        As ``fit`` takes them.
    model : Model
        It has what was fitted to the features.
    width : int or None
        How many columns X had in ``fit``; None if there was none.
    edge_weights : {None, "ignore", "use"}
    direction : {"both", "out", "in"}

    Returns
    -------
    Graph
        Without labels.

    Raises
    ------
    ArgumentError
        The graph or X is not what it should be, or X lacks a column.

    Warns
    -----
    UserWarning
        X has columns with names that X in ``fit`` had not; they are ignored.
    """
    inputs = inputs_of(graph, X, edge_weights=edge_weights)
    edges, weights = directed_edges(inputs.edges, inputs.weights, inputs.undirected, direction)
    adjacency, facts = build_adjacency(edges, inputs.nodes, weights, direction)
    fitted = FittedFeatures.from_json(model.preprocessing)
    features = fitted.transform(_raw(inputs, adjacency, fitted, width))
    unknown, ids = np.full(inputs.nodes, -1), np.arange(inputs.nodes)
    return Graph(adjacency, features, unknown, model.classes, ids, facts, fitted)


def _raw(inputs: Inputs, adjacency: Adjacency, fitted: FittedFeatures, width: int | None) -> Features:
    if fitted.kind in OF_NEIGHBORS:
        assert fitted.node_ids is not None
        if inputs.nodes < len(fitted.node_ids):
            expected = f"at least {len(fitted.node_ids)}, the first of them those of fit"
            raise ArgumentError(f"the graph has {inputs.nodes} nodes", expected=expected)
        return RAW_ROWS[fitted.kind](adjacency)[:, : len(fitted.node_ids)]
    if fitted.kind in RAW_ROWS:
        return RAW_ROWS[fitted.kind](adjacency)
    features, names = inputs.features, inputs.feature_names
    if features is None:
        raise ArgumentError("X has no columns of features", expected=f"{width}, as in fit")
    if fitted.names is not None and names is not None:
        features = _in_order(features, names, fitted.names)
    if features.shape[1] != width:
        raise ArgumentError(f"X has {features.shape[1]} columns", expected=f"{width}, as in fit")
    return features


def _in_order(features: Features, names: list[str], known: list[str]) -> Features:
    """The columns of X in the order that they had in ``fit``, without those that it had not."""
    lacking = [name for name in known if name not in names]
    if lacking:
        found = f"X lacks {len(lacking)} of {len(known)} columns, such as {lacking[0]!r}"
        raise ArgumentError(found, expected="the columns that X had in fit")
    unknown = [name for name in names if name not in known]
    if unknown:
        warnings.warn(f"X has {len(unknown)} columns that it had not in fit: {', '.join(unknown)}", stacklevel=6)
    return features[:, [names.index(name) for name in known]]
