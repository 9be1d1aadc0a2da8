"""A graph whose nodes and edges have named attributes, as a file has it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.tables.numbers import is_number
from grandplus.runtime.errors import GrandPlusError

Attributes = Mapping[str, Any]
TEXT, NUMBERS, VECTORS, EMPTY, OTHER = "text", "numbers", "vectors", "empty", "neither text nor numbers"
_LOGICAL = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class AttributedGraph:
    """A graph with attributes.

    Attributes
    ----------
    where : Path
        The file.
    ids : list of str
        Of the nodes, each once.
    attributes : dict of list
        The values of each attribute, node by node; None where a node lacks it.
    edges : int64 (2, E)
        Positions in ``ids``.
    edge_attributes : dict of list or ndarray
        Likewise, edge by edge.
    names : frozenset of str
        Attributes that the format means to be names of nodes: no features, and classes only if one asks for them.
    lists_all : bool
        Whether the file has all nodes, with edges or without, so that a table beside it can't name others.
    skipped : dict of int
        Lines that are no data, by the reason.
    unused : tuple of str
        What else the file holds that is not used.
    undirected : bool or bool (E,)
        Which edges have no direction, as the file says; elsewhere the first of the two ends is the start.
    dropped : dict of int
        What is left out, see `grandplus.datasets.account.Account`.
    """

    where: Path
    ids: list[str]
    attributes: dict[str, list[Any]]
    edges: NDArray[np.int64]
    edge_attributes: dict[str, Any]
    names: frozenset[str] = frozenset()
    lists_all: bool = True
    skipped: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    undirected: bool | NDArray[np.bool_] = False
    dropped: Mapping[str, int] = field(default_factory=dict)


def attributed_graph(
    where: Path,
    nodes: Iterable[tuple[str, Attributes]],
    edges: Iterable[tuple[str, str, Attributes]],
    **more: Any,
) -> AttributedGraph:
    """A graph of nodes and edges that are listed one by one.

    Parameters
    ----------
    where : Path
        The file.
    nodes : iterable of (id, attributes)
    edges : iterable of (id, id, attributes)
    **more
        Further attributes of `AttributedGraph`.

    Returns
    -------
    AttributedGraph

    Raises
    ------
    GrandPlusError
        An id repeats, or an edge names an unknown node.

    Examples
    --------
    >>> nodes, edges = [("a", {"age": 1}), ("b", {})], [("a", "b", {}), ("b", "b", {"weight": 2})]
    >>> graph = attributed_graph(Path("g.gml"), nodes, edges)
    >>> graph.attributes, graph.edges.tolist(), graph.edge_attributes
    ({'age': [1, None]}, [[0, 1], [1, 1]], {'weight': [None, 2]})
    """
    row_of: dict[str, int] = {}
    of_nodes: list[Attributes] = []
    for name, attributes in nodes:
        if row_of.setdefault(name, len(row_of)) != len(of_nodes):
            raise GrandPlusError(f"has two nodes with the id {name!r}", where=where, expected="each node once")
        of_nodes.append(attributes)
    ends, of_edges = list[tuple[int, int]](), list[Attributes]()
    for start, end, attributes in edges:
        for name in (start, end):
            if name not in row_of:
                found = f"edge {len(ends) + 1}, of {start!r} and {end!r}, names node {name!r}"
                raise GrandPlusError(found, where=where, expected="a node that the file lists")
        ends.append((row_of[start], row_of[end]))
        of_edges.append(attributes)
    return AttributedGraph(
        where,
        list(row_of),
        _columns(of_nodes),
        np.array(ends, np.int64).reshape(-1, 2).T,
        _columns(of_edges),
        **more,
    )


def _columns(rows: list[Attributes]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for row, attributes in enumerate(rows):
        for name, value in attributes.items():
            if name not in columns:
                columns[name] = [None] * len(rows)
            columns[name][row] = value
    return columns


def kind_of(values: list[Any]) -> str:
    """What an attribute holds: numbers, if most values are such, so that the others are mistakes; text; or vectors.

    Parameters
    ----------
    values : list

    Returns
    -------
    str

    Examples
    --------
    >>> kind_of([1, "2,5", None, True]), kind_of(["a", "1"]), kind_of([[1, 2], [3, 4]]), kind_of([None])
    ('numbers', 'text', 'vectors', 'empty')
    """
    filled = [value for value in values if value is not None and value != ""]
    if not filled:
        return EMPTY
    if all(isinstance(value, list | tuple) for value in filled):
        vectors = len(filled) == len(values) and len({len(value) for value in filled}) == 1 and filled[0]
        return VECTORS if vectors and all(_is_number(part) for value in filled for part in value) else OTHER
    if sum(map(_is_number, filled)) * 2 > len(filled):
        return NUMBERS
    return TEXT if all(isinstance(value, str | int | float) for value in filled) else OTHER


def feature_columns(name: str, values: list[Any]) -> dict[str, list[Any]]:
    """The columns of features that an attribute makes: itself, or one for each place of its vectors.

    Parameters
    ----------
    name : str
    values : list

    Returns
    -------
    dict of list

    Examples
    --------
    >>> feature_columns("age", [30, 40]), feature_columns("at", [[1, 2], [3, 4]])
    ({'age': [30, 40]}, {'at 0': [1, 3], 'at 1': [2, 4]})
    """
    if kind_of(values) != VECTORS:
        return {name: values}
    return {f"{name} {place}": list(part) for place, part in enumerate(zip(*values, strict=True))}


def as_text(value: Any) -> str | None:
    """A value of a label or an id as text; true and false as such.

    Examples
    --------
    >>> as_text(True), as_text(3), as_text(None)
    ('true', '3', None)
    """
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    return str(value)


def as_number(value: Any) -> float | None:
    """A value of a feature; None if it is none.

    Examples
    --------
    >>> as_number("1.5"), as_number(True), as_number("x"), as_number("1_000")
    (1.5, 1.0, None, None)
    """
    if not isinstance(value, str):
        try:
            return float(value) if isinstance(value, int | float | np.number) else None
        except OverflowError:  # a whole number of hundreds of digits
            return math.inf
    text = value.strip().lower()
    if text in _LOGICAL:
        return _LOGICAL[text]
    try:
        return None if "_" in text else float(text)  # which Python allows in numbers
    except ValueError:
        return None


def _is_number(value: Any) -> bool:
    """Also in a form that ``as_number`` doesn't read, such as 1,5, so that it is refused and not left out as text."""
    return as_number(value) is not None or (isinstance(value, str) and is_number(value.strip()))
