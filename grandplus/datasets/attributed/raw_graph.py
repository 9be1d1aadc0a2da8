"""A graph with attributes -> a raw graph, as the card says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.account import OF_EDGES, Account, FileAccount
from grandplus.datasets.arrays.features import LARGEST_FEATURE, raise_no_feature
from grandplus.datasets.attributed.graph import (
    NUMBERS,
    VECTORS,
    AttributedGraph,
    as_number,
    as_text,
    feature_columns,
    kind_of,
)
from grandplus.datasets.edge_weights import raise_several, raise_weighted, raise_without_weights, weights_read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers, unknown_labels
from grandplus.datasets.tables.ids import as_numpy, first_repeated, order_of, same_type
from grandplus.datasets.tables.names import WEIGHTS
from grandplus.graph.features import as_floats
from grandplus.runtime.errors import GrandPlusError

_SHOWN = 60  # characters of a value


def raw_graph(graph: AttributedGraph, source: Source) -> RawGraph:
    """Nodes in the order of their ids, with classes and features from their attributes.

    Parameters
    ----------
    graph : AttributedGraph
    source : Source
        ``source.read`` names the attributes: ``label`` with the class, ``id`` with the ids, if these are not the
        file's own; ``features`` is set if all others but those under ``ignore`` are features.

    Returns
    -------
    RawGraph

    Raises
    ------
    GrandPlusError
        An attribute lacks, edges have weights that are refused, or a value is no id, class or feature; with the node.
    """
    how = source.read
    weights = weights_of(graph, how)
    ids = _ids(graph, how)
    by_id = order_of(ids)
    position = np.empty(len(by_id), np.int64)
    position[by_id] = np.arange(len(by_id))
    labels, classes = np.full(len(ids), -1), list[str]()
    unknown, na = dict[str, int](), list[str]()
    if how.label is not None:
        texts = pa.array([as_text(value) for value in _values(graph, how.label)], pa.large_string())
        where = f"{graph.where}, {how.label}"
        labels, classes = class_numbers([texts], source, where, lambda row: f"node {ids[row]}")
        unknown, na = unknown_labels([texts], how.na, where)
    features, names = _features(graph, how, ids) if how.features is not None else (None, None)
    account = _account(graph, how, names)
    return RawGraph(
        edges=position[graph.edges],
        nodes=len(ids),
        features=None if features is None else features[by_id],
        labels=labels[by_id],
        classes=classes,
        node_ids=as_numpy(ids.take(pa.array(by_id))),
        splits=[],
        feature_names=names,
        weights=weights,
        undirected=graph.undirected,
        account=replace(account, unknown=unknown, unused=(*account.unused, *na)),
    )


def weights_of(graph: AttributedGraph, how: Reading) -> NDArray[np.float32] | None:
    """The weights of edges, if they are used.

    Parameters
    ----------
    graph : AttributedGraph
    how : Reading
        ``weight`` names their attribute, which has a usual name by default; ``weights`` says what becomes of them.

    Returns
    -------
    float32 (E,) or None

    Raises
    ------
    GrandPlusError
        There are several such attributes, an edge lacks its weight, or weights are refused.
    """
    if how.weights == "ignore":
        return None
    if how.weights is None:
        _check_all_1(graph, how)
        return None
    name = weight_of(graph, how)
    if name is None:
        held = ", ".join(graph.edge_attributes)
        fix = f"name the attribute with --weight (source.read.weight in the card): {held}" if held else ""
        raise_without_weights(graph.where, fix)
    values = graph.edge_attributes[name]
    numbers = [None if value is None else as_number(value) for value in values]
    wrong = next((row for row, number in enumerate(numbers) if number is None or not number >= 0), None)
    if wrong is not None:
        shown = f"has {name} {values[wrong]}" if values[wrong] is not None else f"has no {name}"
        found = f"{shown} on {_edge(graph, wrong)}"
        raise GrandPlusError(found, where=graph.where, expected="a number of at least 0")
    return weights_read(np.array(numbers, float), how, graph.where)


def _check_all_1(graph: AttributedGraph, how: Reading) -> None:
    """Check that no edge has a weight other than 1, under a usual name of weights."""
    for name in _weight_attributes(graph, how):
        values = graph.edge_attributes[name]
        other = next((row for row, value in enumerate(values) if value is not None and as_number(value) != 1), None)
        if other is not None:
            raise_weighted(f"has {name} {values[other]} on {_edge(graph, other)}", graph.where)


def _edge(graph: AttributedGraph, row: int) -> str:
    start, end = (graph.ids[node] for node in graph.edges[:, row])
    return f"the edge of {start!r} and {end!r}"


def weight_of(graph: AttributedGraph, how: Reading) -> str | None:
    """The attribute of the weights that are used.

    Parameters
    ----------
    graph : AttributedGraph
    how : Reading

    Returns
    -------
    str or None

    Raises
    ------
    GrandPlusError
        There are several, or the one that is named is not there.
    """
    if how.weights != "use":
        return None if how.weight is None else str(how.weight)
    return next(iter(_weight_attributes(graph, how)), None)


def _weight_attributes(graph: AttributedGraph, how: Reading) -> list[str]:
    """Those that may be the weights; at most one if weights are used."""
    if how.weight is not None:
        if str(how.weight) not in graph.edge_attributes:
            found, held = f"has no attribute {how.weight} of edges", ", ".join(graph.edge_attributes) or "nothing"
            raise GrandPlusError(found, where=graph.where, expected=f"one of {held}")
        return [str(how.weight)]
    names = [name for name in graph.edge_attributes if name.lower() in WEIGHTS]
    if how.weights == "use" and len(names) > 1:
        raise_several(names, graph.where)
    return names


def unused_attributes(graph: AttributedGraph) -> dict[str, str]:
    """What an account calls the attributes of nodes if they are not used, by their names.

    Parameters
    ----------
    graph : AttributedGraph

    Returns
    -------
    dict of str
    """
    kinds = {name: kind_of(values) for name, values in graph.attributes.items()}
    reasons = {name: "" if kind in (NUMBERS, VECTORS) else f" ({kind})" for name, kind in kinds.items()}
    return {name: f"{graph.where.name}: {name}{reason}" for name, reason in reasons.items()}


def unused_of_edges(graph: AttributedGraph, how: Reading) -> list[str]:
    """What an account calls the attributes of edges but the weights, and all else that a file holds.

    Parameters
    ----------
    graph : AttributedGraph
    how : Reading

    Returns
    -------
    list of str
    """
    used = _weight_attributes(graph, how) if how.weights == "use" else []
    of_edges = [f"{key}{OF_EDGES}" for key in graph.edge_attributes if key not in used]
    return [f"{graph.where.name}: {name}" for name in (*of_edges, *graph.unused)]


def feature_matrix(columns: Mapping[str, Sequence[Any]], ids: Sequence[Any], where: object) -> NDArray[Any]:
    """The values of attributes as numbers.

    Parameters
    ----------
    columns : mapping of sequence
        The values of each attribute, node by node.
    ids : sequence
        Of the nodes, for errors.
    where : object
        The file.

    Returns
    -------
    float32 or float64 (n, d)

    Raises
    ------
    GrandPlusError
        A value is no number, or missing.
    """
    features = np.empty((len(ids), len(columns)))
    for column, (name, values) in enumerate(columns.items()):
        numbers = np.array([np.nan if (number := as_number(value)) is None else number for value in values])
        wrong = np.flatnonzero(~(np.abs(numbers) <= LARGEST_FEATURE))
        if len(wrong):
            row = int(wrong[0])
            text = "missing" if values[row] is None else repr(values[row])[:_SHOWN]
            raise_no_feature(text, f"of node {ids[row]}, {name}", where)
        features[:, column] = numbers
    return as_floats(features)


def _values(graph: AttributedGraph, name: object) -> list[Any]:
    if str(name) not in graph.attributes:
        raise GrandPlusError(
            f"has no attribute {name} of nodes", where=graph.where, expected=", ".join(graph.attributes)
        )
    return graph.attributes[str(name)]


def _ids(graph: AttributedGraph, how: Reading) -> pa.Array:
    texts = graph.ids if how.id is None else [as_text(value) for value in _values(graph, how.id)]
    if not all(texts):
        missing = next(row for row, text in enumerate(texts) if not text)
        raise GrandPlusError(f"node {graph.ids[missing]!r} has no {how.id or 'id'}", where=graph.where)
    (ids,) = same_type([pa.array(texts, pa.large_string())])
    twice = first_repeated(ids)
    if twice:
        found = f"two nodes have the {how.id or 'id'} {texts[twice[0]]!r}"
        raise GrandPlusError(found, where=graph.where, expected="each once", fix="say --id id for the file's own ids")
    return ids


def _features(graph: AttributedGraph, how: Reading, ids: pa.Array) -> tuple[NDArray[Any], list[str]]:
    columns: dict[str, list[Any]] = {}
    for name, values in graph.attributes.items():
        if name not in (how.id, how.label, *how.ignore):
            columns |= feature_columns(name, values)
    return feature_matrix(columns, ids.to_pylist(), graph.where), list(columns)


def _account(graph: AttributedGraph, how: Reading, features: list[str] | None) -> Account:
    used = {how.id, how.label} | (set(graph.attributes) - set(how.ignore) if features is not None else set())
    unused = [title for name, title in unused_attributes(graph).items() if name not in used]
    of_edges = unused_of_edges(graph, how)
    name = graph.where.name
    files = (
        FileAccount(name, len(graph.ids), "nodes"),
        FileAccount(name, graph.edges.shape[1], "edges", graph.skipped),
    )
    return Account(files, unused=(*unused, *of_edges), dropped=graph.dropped)
