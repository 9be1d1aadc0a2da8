"""Nodes of networkx and igraph with their attributes; neither library is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.attributed.graph import NUMBERS, VECTORS, as_number, feature_columns, kind_of
from grandplus.datasets.tables.names import IDS, LABELS
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.validation import did_you_mean

_NAME = "name"  # what igraph calls the ids of vertices
_LISTED = 20


@dataclass(frozen=True, eq=False)
class NodeAttributes:
    """The nodes of a graph.

    Attributes
    ----------
    ids : list or None
        None if the nodes are numbered from 0.
    values : dict of list
        Of each attribute, node by node; None where a node lacks it.
    """

    ids: list[Any] | None
    values: dict[str, list[Any]]

    def labels(self, name: str | None) -> list[Any] | None:
        """The attribute of that name, or of a usual name of classes.

        Parameters
        ----------
        name : str or None

        Returns
        -------
        list or None
            None if there are no attributes.

        Raises
        ------
        ArgumentError
            There is no such attribute, or several may be meant.
        """
        if not self.values:
            return None
        named = usual_label(list(self.values)) if name is None else name
        if named is None or named not in self.values:
            held = ", ".join(list(self.values)[:_LISTED])
            found = "none is called label or class" if name is None else f"none is called {name}"
            fix = f"say y={next(iter(self.values))!r}" if len(self.values) == 1 else "name the one of the class as y"
            fix = did_you_mean(name or "", self.values) or fix
            raise ArgumentError(f"nodes have the attributes {held}, and {found}", where="graph", fix=fix)
        return self.values[named]

    def features(self, names: list[str] | None, label: str | None) -> tuple[NDArray[np.float64], list[str]] | None:
        """The attributes of these names, or all that hold numbers; None if there are none.

        Parameters
        ----------
        names : list of str or None
        label : str or None
            The attribute that is the class.

        Returns
        -------
        tuple of ndarray, shape (n, d), and the names of its columns, or None

        Raises
        ------
        ArgumentError
            There is no such attribute, or a node lacks a number.
        """
        label = usual_label(list(self.values)) if label is None else label
        chosen = self._numeric(label) if names is None else names
        columns: dict[str, list[Any]] = {}
        for name in chosen:
            if name not in self.values:
                held = ", ".join(list(self.values)[:_LISTED]) or "none"
                raise ArgumentError(f"X names the attribute {name!r}", where="graph", expected=f"one of {held}")
            columns |= feature_columns(name, self.values[name])
        for name, values in columns.items():
            wrong = next((row for row, value in enumerate(values) if as_number(value) is None), None)
            if wrong is not None:
                node = wrong if self.ids is None else self.ids[wrong]
                text = "no" if values[wrong] is None else repr(values[wrong]) + " as"
                fix = "name the attributes that are features as X, a list"
                raise ArgumentError(f"node {node!r} has {text} {name}", where="graph", expected="a number", fix=fix)
        if not columns:
            return None
        return np.array([[as_number(value) for value in values] for values in columns.values()], float).T, list(columns)

    def _numeric(self, label: str | None) -> list[str]:
        kinds = {name: kind_of(values) for name, values in self.values.items() if name != label}
        return [name for name, kind in kinds.items() if kind in (NUMBERS, VECTORS) and name.lower() not in IDS]


def node_attributes(graph: Any) -> NodeAttributes | None:
    """The nodes of a graph of networkx or igraph, in its order; None if it is something else.

    Parameters
    ----------
    graph : object

    Returns
    -------
    NodeAttributes or None
    """
    if is_networkx(graph):
        nodes = list(graph.nodes(data=True))
        names = dict.fromkeys(name for _, attributes in nodes for name in attributes)
        values = {str(name): [_plain(attributes.get(name)) for _, attributes in nodes] for name in names}
        return NodeAttributes([node for node, _ in nodes], values)
    if is_igraph(graph):
        values = {name: [_plain(value) for value in graph.vs[name]] for name in graph.vs.attributes()}
        ids = values.pop(_NAME, None)
        if ids is not None and (None in ids or len(set(ids)) < len(ids)):
            values[_NAME], ids = ids, None
        return NodeAttributes(ids, values)
    return None


def is_networkx(graph: Any) -> bool:
    """Whether it is a graph of networkx."""
    return hasattr(graph, "is_multigraph") and hasattr(graph, "adj")


def is_igraph(graph: Any) -> bool:
    """Whether it is a graph of igraph."""
    return hasattr(graph, "get_edgelist") and hasattr(graph, "vs")


def usual_label(names: list[str]) -> str | None:
    """The name that is usual for classes, if it is the only one.

    Parameters
    ----------
    names : list of str

    Returns
    -------
    str or None

    Raises
    ------
    ArgumentError
        There are several.

    Examples
    --------
    >>> usual_label(["age", "Class"]), usual_label(["age"])
    ('Class', None)
    """
    usual = [name for name in names if name.lower() in LABELS]
    if len(usual) > 1:
        raise ArgumentError(f"{' and '.join(usual)} may be the class", fix="name the one that is as y")
    return usual[0] if usual else None


def _plain(value: Any) -> Any:
    """Arrays and numbers of numpy as those of Python; NaN is missing."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return None if isinstance(value, float) and value != value else value
