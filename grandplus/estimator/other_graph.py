"""The graph of a prediction, where it isn't that of ``fit``: read and scaled as that one was."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from grandplus.datasets.in_memory.attributes import is_igraph, is_networkx
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
        As ``fit`` takes them. Without X its features are those that the graph brings, or that are made of its edges.
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
    fitted = FittedFeatures.from_json(model.preprocessing)
    if X is None and fitted.kind in RAW_ROWS:
        X = np.empty((_count(graph), 0), np.float32)
    inputs = inputs_of(graph, X, edge_weights=edge_weights)
    edges, weights = directed_edges(inputs.edges, inputs.weights, inputs.undirected, direction)
    adjacency, facts = build_adjacency(edges, inputs.nodes, weights, direction)
    features = fitted.transform(_raw(inputs, adjacency, fitted, width))
    unknown, ids = np.full(inputs.nodes, -1), np.arange(inputs.nodes)
    return Graph(adjacency, features, unknown, model.classes, ids, facts, fitted)


def is_graph(given: Any, model: Model) -> bool:
    """Whether a prediction is asked for a graph without X, and not for row numbers.

    It is if the object is a graph of a library, or if features are made of edges and it is a matrix.

    Parameters
    ----------
    given : object
    model : Model
    """
    of_library = hasattr(given, "edge_index") or is_networkx(given) or is_igraph(given) or isinstance(given, Adjacency)
    made = FittedFeatures.from_json(model.preprocessing).kind in RAW_ROWS
    return of_library or (made and getattr(given, "ndim", 1) == 2)


def _count(graph: Any) -> int:
    """How many nodes a graph has, as it says itself."""
    if is_networkx(graph):
        return len(graph)
    if is_igraph(graph):
        return int(graph.vcount())
    for name in ("num_nodes", "nodes"):  # of a Data object, and of an Adjacency
        if isinstance(count := getattr(graph, name, None), int):
            return count
    rows, columns = getattr(graph, "shape", (0, 1))
    if rows != columns:
        fix = "give X too, with a row for each node and no columns: np.empty((n, 0))"
        raise ArgumentError("the graph does not say how many nodes it has", where="X", fix=fix)
    return int(rows)


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
    if names == known:
        return features
    places = {name: place for place, name in enumerate(names)}
    lacking = [name for name in known if name not in places]
    if lacking:
        found = f"X lacks {len(lacking)} of {len(known)} columns, such as {lacking[0]!r}"
        raise ArgumentError(found, expected="the columns that X had in fit")
    wanted = set(known)
    for listed in (known, [name for name in names if name in wanted]):
        for name, count in Counter(listed).most_common(1):
            if count > 1:
                expected = "another name for each, or the same columns in the same order as in fit"
                raise ArgumentError(f"{count} columns are called {name!r}", where="X", expected=expected)
    if unknown := [name for name in places if name not in wanted]:
        warnings.warn(f"X has {len(unknown)} columns that it had not in fit: {', '.join(unknown)}", stacklevel=6)
    return features[:, [places[name] for name in known]]
