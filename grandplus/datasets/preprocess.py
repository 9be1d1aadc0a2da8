"""A dataset as its files have it -> a checked, normalised graph and every trial's split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Expect
from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.features import (
    Features,
    adjacency_rows,
    degree,
    onehot_degree,
    row_normalize,
    standardize,
    zero_rows,
)
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.runtime.errors import GrandPlusError

_SCALED: dict[str, Callable[[Features], Features]] = {
    "row-normalize": row_normalize,
    "standardize": standardize,
    "as-is": lambda features: features,
}
_MADE: dict[str, Callable[[Adjacency], Features]] = {
    "degree": degree,
    "onehot-degree": onehot_degree,
    "adjacency": adjacency_rows,
}


def preprocess(
    raw: RawGraph,
    settings: Preprocess,
    *,
    seed: int,
    trials: int,
    name: str = "the graph",
    expect: Expect | None = None,
) -> tuple[Graph, Splits]:
    """Symmetrise, merge, normalise and split.

    Parameters
    ----------
    raw : RawGraph
        The graph as its files have it.
    settings : Preprocess
        How features are scaled and nodes are split.
    seed, trials : int
        Trial i's split is drawn from (seed, i).
    name : str
        What to call the graph in an error.
    expect : Expect, optional
        Counts that must come out.

    Returns
    -------
    Graph
    Splits

    Raises
    ------
    GrandPlusError
        There is no edge, there are no features or fewer than two classes, or the counts are not the expected ones.
    """
    adjacency, facts = build_adjacency(raw.edges, raw.nodes)
    if not facts["edges"]:
        found = f"no edge joins two of {raw.nodes} nodes"
        raise GrandPlusError(found, where=name, expected="a graph with edges")
    _check_classes(raw, name)
    features = _features(raw, adjacency, settings.features, name)
    facts |= {
        "nodes": raw.nodes,
        "classes": len(raw.classes),
        "features": int(features.shape[1]),
        "unlabelled_nodes": int((raw.labels < 0).sum()),
        "zero_feature_rows": zero_rows(features),
    }
    if expect is not None:
        _check_counts(facts, expect, name)
    features = _SCALED.get(settings.features, _SCALED["as-is"])(features)
    graph = Graph(adjacency, features, raw.labels, raw.classes, raw.node_ids, facts)
    return graph, make_splits(raw.labels, settings, raw.splits, classes=raw.classes, seed=seed, trials=trials)


def _check_classes(raw: RawGraph, name: str) -> None:
    labels = np.unique(raw.labels[raw.labels >= 0])
    if len(labels) == 0:
        fix = "add a table with a label for some nodes of each class"
        raise GrandPlusError("no node has a label", where=name, expected="labels to learn from", fix=fix)
    if len(labels) == 1:
        only = f"every labelled node is of class {raw.classes[labels[0]]}"
        raise GrandPlusError(only, where=name, expected="two classes at least")


def _features(raw: RawGraph, adjacency: Adjacency, choice: str, name: str) -> Features:
    """The data's own, or those that the settings make from the graph; never the latter unasked."""
    if choice in _MADE:
        return _MADE[choice](adjacency)
    if raw.features is None:
        fix = f"choose preprocess.features: {', '.join(_MADE)} (import --features)"
        found = f"the data has no features, and preprocess.features is {choice}"
        raise GrandPlusError(found, where=name, fix=fix)
    return raw.features


def _check_counts(facts: dict[str, int], expect: Expect, name: str) -> None:
    for key, wanted in expect.model_dump().items():
        if wanted is not None and facts[key] != wanted:
            raise GrandPlusError(
                f"the files of {name} hold {facts[key]} {key}",
                expected=f"{wanted}, as the card says under expect",
                fix="correct the card if the data is right",
            )
