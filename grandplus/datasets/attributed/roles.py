"""Guess which attributes are ids, classes and features: once, at import; the card keeps it."""

from __future__ import annotations

import re
from typing import Any

from grandplus.datasets.attributed.graph import EMPTY, NUMBERS, VECTORS, AttributedGraph, as_number, as_text, kind_of
from grandplus.datasets.attributed.raw_graph import weight_of
from grandplus.datasets.source import Reading
from grandplus.datasets.tables.names import IDS, LABELS
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import did_you_mean

OWN_IDS = "id"  # what --id may say for the ids that the format itself has
_NAMES = ("label", "name")
_NUMBERED = re.compile("([A-Za-z_]*)([0-9]+)")
_MAX_CLASSES = 0.5  # of the nodes: with more different values, an attribute isn't advised as that of classes
_LISTED = 20


def reading_of(graph: AttributedGraph, asked: Reading, classes: tuple[str, ...] = ()) -> Reading:
    """How to read a graph with attributes.

    Parameters
    ----------
    graph : AttributedGraph
    asked : Reading
        What the user says of it; it is kept.
    classes : tuple of str
        Further usual names of the class, in this format.

    Returns
    -------
    Reading

    Raises
    ------
    GrandPlusError
        An attribute is not there, or which one is the class can't be told; with the option that says it.
    """
    if asked.ends is not None:
        fix = "leave --ends out"
        raise GrandPlusError("names the ends of its edges itself", where=graph.where, fix=fix)
    ignored = [_attribute(graph, name) for name in asked.ignore]
    ids = _ids(graph, asked)
    label = _attribute(graph, asked.label) if asked.label is not None else _label(graph, ids, (*LABELS, *classes))
    for name, role in ((ids, "the ids"), (label, "the class")):
        if name in ignored:
            fix = "leave it out of --ignore, or say --id or --label"
            raise GrandPlusError(f"--ignore names {name}, which holds {role}", where=graph.where, fix=fix)
    rest = [name for name in graph.attributes if name not in (ids, label, *ignored)]
    features = [name for name in rest if not _names_nodes(graph, name) and _holds_features(graph.attributes[name])]
    return asked.model_copy(
        update={
            "edges": None,
            "id": ids,
            "label": label,
            "weight": weight_of(graph, asked),
            "features": graph.where.name if features else None,
            "ignore": [*ignored, *(name for name in rest if name not in features)] if features else ignored,
        }
    )


def _attribute(graph: AttributedGraph, asked: str | int) -> str:
    if str(asked) not in graph.attributes:
        held = ", ".join(list(graph.attributes)[:_LISTED]) or "no attributes"
        raise GrandPlusError(
            f"has no attribute {asked} of nodes",
            where=graph.where,
            expected=held,
            fix=did_you_mean(asked, graph.attributes),
        )
    return str(asked)


def _ids(graph: AttributedGraph, asked: Reading) -> str | None:
    """The attribute with the nodes' names, if the ids of the file only count the nodes; None for the latter."""
    if asked.id is not None:
        return None if asked.id == OWN_IDS else _attribute(graph, asked.id)
    if not _count_nodes(graph.ids):
        return None
    for name, values in graph.attributes.items():
        if name.lower() in _NAMES and name != asked.label and _are_names(values) and values != graph.ids:
            return name
    return None


def _count_nodes(ids: list[str]) -> bool:
    """Whether the ids are 0, 1, … or 1, 2, … in any order, perhaps each after the same letters.

    >>> _count_nodes(["n1", "n0"]), _count_nodes(["1", "2"]), _count_nodes(["5", "9"])
    (True, True, False)
    """
    parts = [_NUMBERED.fullmatch(name) for name in ids]
    if not all(parts) or len({part[1] for part in parts if part}) > 1:
        return False
    numbers = {int(part[2]) for part in parts if part}
    return numbers in (set(range(len(ids))), set(range(1, len(ids) + 1)))


def _names_nodes(graph: AttributedGraph, name: str) -> bool:
    return name in graph.names or name.lower() in IDS or (name.lower() in _NAMES and _are_names(graph.attributes[name]))


def _are_names(values: list[Any]) -> bool:
    return all(isinstance(value, str) and value for value in values) and len(set(values)) == len(values)


def _label(graph: AttributedGraph, ids: str | None, usual: tuple[str, ...]) -> str | None:
    """The attribute that has a usual name for classes; None if there are no attributes but names."""
    possible = {name: values for name, values in graph.attributes.items() if name != ids and not _are_names(values)}
    named = [name for name in possible if name.lower() in usual and name not in graph.names]
    named = [name for name in named if _whole(possible[name])]
    if len(named) == 1:
        return named[0]
    likely = named or [name for name, values in possible.items() if _like_classes(values)]
    if not possible:
        return None
    held = ", ".join(list(graph.attributes)[:_LISTED])
    found = f"{len(named)} of which may be the class" if named else "none of which is called label or class"
    if len(likely) == 1 and likely[0].lower() in _NAMES:
        found = f"of which {likely[0]} may be the class, or a name of the node"
    fix = f"say --label {likely[0]}" if len(likely) == 1 else "name the attribute with --label"
    raise GrandPlusError(f"has the attributes {held}, {found}", where=graph.where, fix=fix)


def _whole(values: list[Any]) -> bool:
    """No fraction and no list among them."""
    if kind_of(values) == NUMBERS:
        numbers = [as_number(value) for value in values]
        return not any(number is not None and number % 1 > 0 for number in numbers)
    return kind_of(values) not in (VECTORS, EMPTY) and all(not isinstance(value, dict | list) for value in values)


def _like_classes(values: list[Any]) -> bool:
    different = {as_text(value) for value in values if value is not None}
    return _whole(values) and 2 <= len(different) <= max(2, _MAX_CLASSES * len(values))


def _holds_features(values: list[Any]) -> bool:
    return kind_of(values) in (NUMBERS, VECTORS)
