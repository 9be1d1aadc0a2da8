"""A dataset as its files have it -> a checked, normalised graph and every trial's split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grandplus.datasets.raw import RawGraph
from grandplus.errors import GrandPlusError
from grandplus.features import adjacency_rows, degree, onehot_degree, row_normalize, standardize, zero_rows
from grandplus.graph import Adjacency, Features, Graph, build_adjacency
from grandplus.settings import CATALOG, Settings
from grandplus.splits import Splits, make_splits

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


def preprocess(raw: RawGraph, settings: Settings) -> tuple[Graph, Splits]:
    """Symmetrise, merge, normalise and split.

    Raises
    ------
    GrandPlusError : there is no edge, there are no features or fewer than two classes, or the counts are not those
        that the dataset's card expects.
    """
    adjacency, facts = build_adjacency(raw.edges, raw.nodes)
    if not facts["edges"]:
        found = f"no edge joins two of {raw.nodes} nodes"
        raise GrandPlusError(found, where=settings.dataset, expected="a graph with edges")
    _check_classes(raw, settings)
    features = _features(raw, adjacency, settings)
    facts |= {
        "nodes": raw.nodes,
        "classes": len(raw.classes),
        "features": int(features.shape[1]),
        "unlabelled_nodes": int((raw.labels < 0).sum()),
        "zero_feature_rows": zero_rows(features),
    }
    _check(facts, settings)
    features = _SCALED.get(settings.preprocess.features, _SCALED["as-is"])(features)
    graph = Graph(adjacency, features, raw.labels, raw.classes, raw.node_ids, facts)
    options = {"seed": settings.seed, "trials": settings.trials}
    return graph, make_splits(raw.labels, settings.preprocess, raw.splits, classes=raw.classes, **options)


def _check_classes(raw: RawGraph, settings: Settings) -> None:
    found = np.unique(raw.labels[raw.labels >= 0])
    if len(found) == 0:
        fix = "add a table with a label for some nodes of each class"
        raise GrandPlusError("no node has a label", where=settings.dataset, expected="labels to learn from", fix=fix)
    if len(found) == 1:
        only = f"every labelled node is of class {raw.classes[found[0]]}"
        raise GrandPlusError(only, where=settings.dataset, expected="two classes at least")


def _features(raw: RawGraph, adjacency: Adjacency, settings: Settings) -> Features:
    """The data's own, or those that the settings make from the graph; never the latter unasked."""
    choice = settings.preprocess.features
    if choice in _MADE:
        return _MADE[choice](adjacency)
    if raw.features is None:
        fix = f"choose preprocess.features: {', '.join(_MADE)} (import --features)"
        found = f"the data has no features, and preprocess.features is {choice}"
        raise GrandPlusError(found, where=settings.dataset, fix=fix)
    return raw.features


def _check(facts: dict[str, int], settings: Settings) -> None:
    if settings.expect is None:
        return
    for name, wanted in settings.expect.model_dump().items():
        if wanted is not None and facts[name] != wanted:
            raise GrandPlusError(
                f"the files of {settings.dataset} hold {facts[name]} {name}",
                where=CATALOG / f"{settings.dataset}.yaml",
                expected=f"{wanted}, as the card says under expect",
                fix="correct the card if the data is right",
            )
