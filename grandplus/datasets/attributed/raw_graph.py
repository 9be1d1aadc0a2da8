"""A graph with attributes -> a raw graph, as the card says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.account import OF_EDGES, Account, FileAccount
from grandplus.datasets.arrays.checks import LARGEST_FEATURE, raise_no_feature, raise_weighted
from grandplus.datasets.attributed.graph import (
    NUMBERS,
    VECTORS,
    AttributedGraph,
    as_number,
    as_text,
    feature_columns,
    kind_of,
)
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
        An attribute lacks, edges have weights, or a value is no id, class or feature; with the node.
    """
    how = source.read
    check_weights(graph, how)
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
        account=replace(account, unknown=unknown, unused=(*account.unused, *na)),
    )


def check_weights(graph: AttributedGraph, how: Reading) -> None:
    """Check that no edge has a weight other than 1, under a usual name of weights.

    Parameters
    ----------
    graph : AttributedGraph
    how : Reading
        ``weights`` says whether they are ignored.

    Raises
    ------
    GrandPlusError
    """
    if how.weights is not None:
        return
    for name, values in graph.edge_attributes.items():
        if name.lower() in WEIGHTS:
            edge = next((row for row, value in enumerate(values) if value is not None and as_number(value) != 1), None)
            if edge is not None:
                start, end = (graph.ids[row] for row in graph.edges[:, edge])
                raise_weighted(f"has {name} {values[edge]} on the edge of {start!r} and {end!r}", graph.where)


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


def unused_of_edges(graph: AttributedGraph) -> list[str]:
    """What an account calls the attributes of edges, and all else that a file holds.

    Parameters
    ----------
    graph : AttributedGraph

    Returns
    -------
    list of str
    """
    return [
        f"{graph.where.name}: {name}"
        for name in (*(f"{key}{OF_EDGES}" for key in graph.edge_attributes), *graph.unused)
    ]


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
    name = graph.where.name
    files = (
        FileAccount(name, len(graph.ids), "nodes"),
        FileAccount(name, graph.edges.shape[1], "edges", graph.skipped),
    )
    return Account(files, unused=(*unused, *unused_of_edges(graph)), dropped=graph.dropped)
