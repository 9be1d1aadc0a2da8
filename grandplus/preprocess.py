"""A dataset as its files have it -> a checked, normalised graph and every trial's split."""

from __future__ import annotations

from collections.abc import Callable

from grandplus.datasets.raw import RawGraph
from grandplus.errors import GrandPlusError
from grandplus.features import row_normalize, standardize, zero_rows
from grandplus.graph import Features, Graph, build_adjacency
from grandplus.settings import CATALOG, Settings
from grandplus.splits import Splits, make_splits

_SCALED: dict[str, Callable[[Features], Features]] = {
    "row-normalize": row_normalize,
    "standardize": standardize,
    "as-is": lambda features: features,
}


def preprocess(raw: RawGraph, settings: Settings) -> tuple[Graph, Splits]:
    """Symmetrise, merge, normalise and split.

    Raises
    ------
    GrandPlusError : the counts are not those that the dataset's card expects.
    """
    adjacency, facts = build_adjacency(raw.edges, raw.nodes)
    facts |= {
        "nodes": raw.nodes,
        "classes": len(raw.classes),
        "features": int(raw.features.shape[1]),
        "unlabelled_nodes": int((raw.labels < 0).sum()),
        "zero_feature_rows": zero_rows(raw.features),
    }
    _check(facts, settings)
    features = _SCALED[settings.preprocess.features](raw.features)
    graph = Graph(adjacency, features, raw.labels, raw.classes, raw.node_ids, facts)
    splits = make_splits(raw.labels, settings.preprocess, raw.splits, seed=settings.seed, trials=settings.trials)
    return graph, splits


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
