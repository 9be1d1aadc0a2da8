"""What a file of a graph with attributes adds to a graph that is there: its nodes that are new, and all its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.attributed.graph import AttributedGraph, as_text, feature_columns
from grandplus.datasets.attributed.raw_graph import feature_matrix, weight_of, weights_of
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.names import LABELS
from grandplus.graph.entries import listed_both_ways
from grandplus.graph.features import Features
from grandplus.graph.fitted import RAW_ROWS
from grandplus.graph.graph import Graph
from grandplus.graph.ids import find_rows
from grandplus.runtime.errors import GrandPlusError


@dataclass(frozen=True)
class Added:
    """What is added to a graph.

    Attributes
    ----------
    ids : list
        Of the new nodes.
    features : (m, d) or None
        Theirs, raw.
    labels : list of str or None, or None
    unknown : sequence of str
        Columns, attributes or numbers that are no features of the graph.
    ends : list of two lists
        The ids at both ends of the new edges.
    weights : float32 (E,) or None
        Of the new edges.
    dropped : dict of int
        Lines that are no edges, by the reason.
    """

    ids: list[Any] = field(default_factory=list)
    features: Features | None = None
    labels: list[str | None] | None = None
    unknown: Sequence[str] = ()
    ends: list[list[Any]] = field(default_factory=lambda: [[], []])
    weights: NDArray[np.float32] | None = None
    dropped: dict[str, int] = field(default_factory=dict)


def added_by(graph: AttributedGraph, base: Graph, how: Reading) -> Added:
    """What a file adds.

    Parameters
    ----------
    graph : AttributedGraph
        A node that ``base`` has may be listed too, so that edges can name it; its attributes are not looked at.
    base : Graph
    how : Reading
        How the files of ``base`` were read.

    Raises
    ------
    GrandPlusError
        A new node lacks a feature of ``base``, a value is no number, or edges have weights that are refused.
    """
    weights = weights_of_growth(graph, base, how)
    edges, weights = listed_both_ways(graph.edges, weights, graph.undirected, base.adjacency.direction)
    own = graph.attributes.get(str(how.id)) if how.id is not None else None
    ids = graph.ids if own is None else [as_text(value) or "" for value in own]
    new = np.flatnonzero(find_rows(base.node_ids, ids) < 0).tolist()
    names, given = [ids[row] for row in new], dict[str, list[Any]]()
    for name, values in graph.attributes.items():
        given |= feature_columns(name, [values[row] for row in new])
    known = base.fitted.names or []
    usual = (name for name in graph.attributes if name.lower() in LABELS and name not in {*known, *graph.names})
    label = str(how.label) if str(how.label) in graph.attributes else next(usual, None)
    left_out = {str(how.id), label, *map(str, how.ignore), *graph.names}
    return Added(
        names,
        None if base.fitted.kind in RAW_ROWS or not new else _features(graph, given, known, names),
        None if label is None else _labels(graph, label, new, base, how),
        [name for name in given if name not in known and name not in left_out],
        [[ids[row] for row in end] for end in edges.tolist()],
        weights,
        dict(graph.dropped),
    )


def weights_of_growth(graph: AttributedGraph, base: Graph, how: Reading) -> NDArray[np.float32] | None:
    """The weights of later edges, by the attribute that had them at import; those of a graph without weights are all 1.

    Parameters
    ----------
    graph : AttributedGraph
        A later file.
    base : Graph
    how : Reading

    Returns
    -------
    float32 (E,) or None

    Raises
    ------
    GrandPlusError
        An edge has none, or they are refused.
    """
    if not graph.edges.shape[1]:
        return None
    if how.weights != "use":
        return weights_of(graph, how)
    named = how if str(how.weight) in graph.edge_attributes else how.model_copy(update={"weight": None})
    if base.adjacency.weights is None and weight_of(graph, named) is None:
        return None
    return weights_of(graph, named)


def _features(graph: AttributedGraph, given: dict[str, list[Any]], known: list[str], ids: list[str]) -> Features:
    lacking = [name for name in known if name not in given]
    if lacking or not known:
        found = f"lacks the attribute {lacking[0]!r} of nodes" if lacking else "has attributes, which have names"
        expected = "those that the graph's features came from" if lacking else "a table, as its features have no names"
        raise GrandPlusError(found, where=graph.where, expected=expected)
    return feature_matrix({name: given[name] for name in known}, ids, graph.where)


def _labels(graph: AttributedGraph, label: str, new: list[int], base: Graph, how: Reading) -> list[str | None]:
    texts = pa.array([as_text(graph.attributes[label][row]) for row in new], pa.large_string())
    source, where = Source(format="tables", read=how, classes=base.classes), f"{graph.where}, {label}"
    numbers, _ = class_numbers([texts], source, where, lambda row: f"node {graph.ids[new[row]]}")
    return [base.classes[number] if number >= 0 else None for number in numbers.tolist()]
