"""From a dataset as its files have it to a checked graph with scaled features, and the split of every trial."""

from __future__ import annotations

import numpy as np

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Expect
from grandplus.graph.adjacency import Adjacency, build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.entries import Direction, directed_edges
from grandplus.graph.features import Features, zero_rows
from grandplus.graph.fitted import OF_NEIGHBORS, RAW_ROWS, STANDARDIZED, FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError, argument_errors
from grandplus.runtime.sizes import size_text


def preprocess(
    raw: RawGraph,
    settings: Preprocess,
    *,
    seed: int,
    trials: int,
    name: str = "the graph",
    expect: Expect | None = None,
) -> tuple[Graph, Splits]:
    """Symmetrise or direct, merge, normalise and split.

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
    _check_classes(raw, name)
    graph = graph_of(raw, settings.features, direction=settings.direction, name=name, expect=expect)
    splits = make_splits(
        raw.labels, settings, raw.splits, seed=seed, trials=trials, classes=raw.classes, node_ids=raw.node_ids
    )
    return graph, splits


def graph_of(
    raw: RawGraph,
    scaling: str,
    *,
    direction: Direction = "both",
    name: str = "the graph",
    expect: Expect | None = None,
) -> Graph:
    """The graph alone, for which no label is needed.

    Parameters
    ----------
    raw : RawGraph
    scaling : str
        As ``preprocess.features`` has it.
    direction : {"both", "out", "in"}
        As ``preprocess.direction`` has it.
    name : str
        What to call the graph in an error.
    expect : Expect, optional
        Counts that must come out.

    Returns
    -------
    Graph

    Raises
    ------
    GrandPlusError
        There is no edge, there are no features, or the counts are not the expected ones.
    """
    with argument_errors(name):
        edges, weights = directed_edges(raw.edges, raw.weights, raw.undirected, direction)
        adjacency, facts = build_adjacency(edges, raw.nodes, weights, direction)
    facts["merged_duplicates"] -= edges.shape[1] - raw.edges.shape[1]
    if not facts["edges"]:
        found = f"no edge joins two of {raw.nodes} nodes"
        raise GrandPlusError(found, where=name, expected="a graph with edges")
    raw_rows = _raw_rows(raw, adjacency, scaling, name)
    fitted = FittedFeatures.fit(scaling, raw_rows, names=raw.feature_names, node_ids=raw.node_ids)
    features = fitted.transform(raw_rows)
    facts |= {
        "nodes": raw.nodes,
        "classes": len(raw.classes),
        "features": int(features.shape[1]),
        "unlabelled_nodes": int((raw.labels < 0).sum()),
        "zero_feature_rows": zero_rows(features if scaling in RAW_ROWS else raw_rows),
    }
    if expect is not None:
        check_counts(facts, expect, scaling, name)
    return Graph(adjacency, features, raw.labels, raw.classes, raw.node_ids, facts, fitted)


def check_counts(facts: dict[str, int], expect: Expect, scaling: str, name: str) -> None:
    """Check that a graph has the counts that its card expects.

    Parameters
    ----------
    facts : dict of int
        The graph's.
    expect : Expect
    scaling : str
        As ``preprocess.features`` has it; features that are made from the graph are not counted.
    name : str
        What to call the graph in an error.

    Raises
    ------
    GrandPlusError
        A count is another one.
    """
    for key, wanted in expect.model_dump(exclude={"features"} if scaling in RAW_ROWS else None).items():
        if wanted is not None and facts[key] != wanted:
            raise GrandPlusError(
                f"the files hold {facts[key]} {key}",
                where=name,
                expected=f"{wanted}, as the card says under expect",
                fix="correct the card if the data is right",
            )


def _check_classes(raw: RawGraph, name: str) -> None:
    labels = np.unique(raw.labels[raw.labels >= 0])
    if len(labels) == 0:
        fix = "add a table with a label for some nodes of each class"
        raise GrandPlusError("no node has a label", where=name, expected="labels to learn from", fix=fix)
    if len(labels) == 1:
        only = f"every labelled node is of class {raw.classes[labels[0]]}"
        called = ", ".join(f"{count:,} nodes called {text}" for text, count in raw.account.unknown.items())
        only += f", and {called} were taken for unknown" if called else ""
        fix = 'if that is a class, say --na ""; then only empty cells are unknown' if called else ""
        raise GrandPlusError(only, where=name, expected="two classes at least", fix=fix)


def _raw_rows(raw: RawGraph, adjacency: Adjacency, kind: str, name: str) -> Features:
    """The data's own features, or what stands for them where the settings ask for features made from the graph."""
    if kind in OF_NEIGHBORS and kind in STANDARDIZED and 4 * raw.nodes**2 > environment.memory():
        found = f"standardized columns of {raw.nodes} nodes take {size_text(4 * raw.nodes**2)}"
        expected = f"at most {size_text(environment.memory())}, the memory at hand"
        raise GrandPlusError(found, where=name, expected=expected, fix="choose preprocess.features: adjacency")
    if kind in RAW_ROWS:
        return RAW_ROWS[kind](adjacency)
    if raw.features is None:
        fix = f"choose preprocess.features: {', '.join(RAW_ROWS)} (import --features)"
        raise GrandPlusError(f"the data has no features, and preprocess.features is {kind}", where=name, fix=fix)
    return raw.features
