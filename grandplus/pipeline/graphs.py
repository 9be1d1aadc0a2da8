"""A dataset's graph and splits, by its settings: what the preprocess stage makes."""

from __future__ import annotations

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.settings import Settings


def make_graph(raw: RawGraph, settings: Settings) -> tuple[Graph, Splits]:
    """Preprocess what has been read of a dataset's files.

    Parameters
    ----------
    raw : RawGraph
    settings : Settings

    Returns
    -------
    Graph
    Splits
        Of all trials.

    Raises
    ------
    GrandPlusError
        The graph has no edges, features or classes, or its counts are not those of the card.
    """
    return preprocess(
        raw,
        settings.preprocess,
        seed=settings.seed,
        trials=settings.trials,
        name=settings.dataset,
        expect=settings.expect,
    )
