"""A dataset's graph and splits, by its settings: what the preprocess stage makes."""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.growth.files import read_growth
from grandplus.datasets.preprocess import check_counts, preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.graph.grown_splits import grown_splits
from grandplus.graph.merged import merged_graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.folders import RAW, folder_of_growth
from grandplus.pipeline.settings import Settings


def make_graph(raw: RawGraph, settings: Settings, folder: Path = RAW) -> tuple[Graph, Splits]:
    """Preprocess what has been read of a dataset's files, and add what came later.

    Parameters
    ----------
    raw : RawGraph
    settings : Settings
    folder : Path
        Of the dataset's files, with those of nodes and edges that came later.

    Returns
    -------
    Graph
    Splits
        Of all trials.

    Raises
    ------
    GrandPlusError
        The graph has no edges, features or classes, its counts are not those of the card, or what came later doesn't
        go with it.
    """
    source, scaling = settings.source, settings.preprocess.features
    graph, splits = preprocess(
        raw,
        settings.preprocess,
        seed=settings.seed,
        trials=settings.trials,
        name=settings.dataset,
        expect=None if source.grown else settings.expect,
    )
    for number, grown in enumerate(source.grown):
        files = grown.paths(folder_of_growth(folder, number))
        graph, splits = merged_version(read_growth(graph, *files, source.read).graph, splits, settings)
    if source.grown and settings.expect is not None:
        check_counts(graph.facts, settings.expect, scaling, settings.dataset)
    return graph, splits


def merged_version(grown: GrownGraph, splits: Splits, settings: Settings) -> tuple[Graph, Splits]:
    """A new version of a graph and its splits, with what came later.

    Parameters
    ----------
    grown : GrownGraph
    splits : Splits
        Of its base.
    settings : Settings

    Returns
    -------
    Graph
    Splits
    """
    graph = merged_graph(grown)
    return graph, grown_splits(splits, graph.labels, settings.preprocess, seed=settings.seed)
