"""What is given of the nodes: features, labels and ids, whether as arguments or as columns and attributes of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.datasets.in_memory.attributes import NodeAttributes, is_igraph, node_attributes, usual_label
from grandplus.datasets.in_memory.frames import (
    column,
    column_names,
    columns_of_text,
    frame_values,
    is_frame,
    is_pandas,
    without,
)
from grandplus.datasets.in_memory.ids import NodeIds
from grandplus.datasets.tables.names import ends_by_name, is_id, is_index
from grandplus.datasets.tables.numbers import are_dates
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.validation import did_you_mean


@dataclass(frozen=True, eq=False)
class GivenNodes:
    """What is given of n nodes.

    Attributes
    ----------
    values : ndarray or scipy sparse matrix, shape (n, d), or None
        Features, not checked.
    names : list of str or None
        Of the features.
    labels : object
        As they were given; None if there are none.
    ids : NodeIds or None
        None if nodes are named by row numbers.
    count : int
        n.
    """

    values: Any
    names: list[str] | None
    labels: Any
    ids: NodeIds | None
    count: int


def given_nodes(graph: Any, X: Any, y: Any) -> GivenNodes:
    """Find the features, labels and ids of the nodes.

    Parameters
    ----------
    graph, X, y : object
        See `grandplus.datasets.in_memory.inputs.inputs_of`.

    Returns
    -------
    GivenNodes

    Raises
    ------
    ArgumentError
        There is neither X nor y, a name is not there, or several columns may be meant.
    """
    attributes = node_attributes(graph)
    listed = isinstance(X, list | tuple) and bool(X) and all(isinstance(name, str) for name in X)
    if attributes is not None and (listed or (X is None and (y is None or isinstance(y, str)))):
        return _of_attributes(attributes, list(X) if listed else None, y)
    if is_pandas(X) and is_pandas(y) and not X.index.equals(y.index):
        fix = "say y.loc[X.index], or y.to_numpy() if the order is right"
        raise ArgumentError("X and y have different indexes", expected="the same nodes in the same order", fix=fix)
    found = _of_frame(graph, X, y) if is_frame(X) else _of_arrays(X, y)
    if is_igraph(graph) and found.ids is not None and np.array_equal(found.ids.values, np.arange(found.count)):
        found = replace(found, ids=None)  # the vertices of igraph have an order
    if attributes is not None and is_igraph(graph) and found.ids is None:
        attributes = replace(attributes, ids=None)
    if found.labels is None or isinstance(found.labels, str):
        found = replace(found, labels=_labels_by_id(attributes, found))
    return found


def _of_attributes(attributes: NodeAttributes, names: list[str] | None, y: Any) -> GivenNodes:
    """All is in the graph, or all but the labels."""
    label = y if isinstance(y, str) else None
    labels = attributes.labels(label) if y is None or isinstance(y, str) else y
    features = attributes.features(names, label)
    if labels is None and features is None:
        raise ArgumentError("there are neither features nor labels", expected="X, y or both")
    ids = None if attributes.ids is None else NodeIds(_as_objects(attributes.ids), "the graph")
    values, columns = (None, None) if features is None else features
    count = len(attributes.ids or next(iter(attributes.values.values())))
    return GivenNodes(values, columns, labels, ids, count)


def _of_arrays(X: Any, y: Any) -> GivenNodes:
    if X is None and (y is None or isinstance(y, str)):
        raise ArgumentError("there are neither features nor labels", expected="X, y or both")
    values = None if X is None else as_matrix(X, "X")
    count = _count(y if values is None else values)
    ids = NodeIds(np.asarray(y.index), "the index of X") if X is None and is_pandas(y) else None
    return GivenNodes(values, None, y, ids, count)


def _of_frame(graph: Any, frame: Any, y: Any) -> GivenNodes:
    """A DataFrame of nodes. Its index has the ids, or a column that is called id and has all that edges name."""
    # An index that pandas once wrote beside the columns is no feature. Columns without any names are called 0, 1, ...
    frame = without(frame, [place for place, name in enumerate(column_names(frame)) if is_index(name)])
    index = np.asarray(frame.index) if is_pandas(frame) else np.arange(len(frame))
    ids = NodeIds(index, "the index of X") if is_pandas(frame) else None
    if np.array_equal(index, np.arange(len(frame))):
        place = _id_column(frame, _ends(graph))
        if place is not None:
            ids = NodeIds(np.asarray(column(frame, place)), f"column {column_names(frame)[place]!r} of X")
            frame = without(frame, [place])
    names = column_names(frame)
    label = usual_label(names) if y is None else y
    if label is None:
        _check_labels_elsewhere(graph, frame)
    if isinstance(label, str) and label not in names and node_attributes(graph) is None:
        expected = f"labels, or a column of X: {', '.join(names[:20])}"
        raise ArgumentError(f"y is {label!r}", expected=expected, fix=did_you_mean(label, names))
    if isinstance(label, str) and label in names:
        place = names.index(label)
        y, frame = column(frame, place), without(frame, [place])
    texts = list(frame.columns) if all(isinstance(name, str) for name in frame.columns) else None
    return GivenNodes(frame_values(frame), texts, y, ids, len(frame))


def _check_labels_elsewhere(graph: Any, frame: Any) -> None:
    """Without y and a usual name, check that the graph has the labels, or that no column of text may have them."""
    attributes, texts = node_attributes(graph), columns_of_text(frame)
    if not texts or (attributes is not None and usual_label(list(attributes.values)) is not None):
        return
    likely = [str(frame.columns[place]) for place in texts if _has_few_words(column(frame, place))]
    fix = f"if {' or '.join(likely)} is the class, say y={likely[0]!r}" if likely else ""
    raise ArgumentError("y is missing", expected="labels, or the name of the column of X that has them", fix=fix)


def _has_few_words(series: Any) -> bool:
    """Whether a column has text that repeats, and no dates."""
    words = [word for word in np.asarray(series).tolist() if isinstance(word, str)]
    return 2 <= len(set(words)) <= len(words) // 2 and not are_dates(words)


def _ends(graph: Any) -> set[Any] | None:
    """The ids that edges name, if the kind of graph has ids."""
    attributes = node_attributes(graph)
    if attributes is not None:
        return None if attributes.ids is None else set(attributes.ids)
    if not is_frame(graph):
        return None
    names = column_names(graph)
    pairs = ends_by_name(names)
    ends = pairs[0] if len(pairs) == 1 else (0, 1) if len(names) == 2 else ()
    return {name for end in ends for name in np.asarray(column(graph, end)).tolist()}


def _id_column(frame: Any, ends: set[Any] | None) -> int | None:
    """The column that is called id and has all ids that edges name; row numbers are meant if there is none."""
    if not ends:
        return None
    for place, name in enumerate(column_names(frame)):
        if not is_id(name):
            continue
        held = np.asarray(column(frame, place)).tolist()
        common = ends & set(held)
        if common == ends and len(set(held)) == len(held):
            return place
        if common and not _are_rows(held):
            lacking = next(iter(sorted(ends - common, key=repr)), None)
            found = (
                f"column {name!r} lacks node {lacking!r}" if lacking is not None else f"column {name!r} repeats an id"
            )
            expected = "each node that edges name, once"
            raise ArgumentError(
                found, where="X", expected=expected, fix="or leave the column out: edges name rows of X"
            )
    return None


def _are_rows(held: list[Any]) -> bool:
    return held == list(range(len(held)))


def _labels_by_id(attributes: NodeAttributes | None, found: GivenNodes) -> Any:
    """The labels that nodes of the graph have, in the order of X."""
    name = found.labels
    if attributes is None or (name is None and usual_label(list(attributes.values)) is None):
        if name is None:
            return None
        expected = "labels, or the name of a column of X or of an attribute of nodes"
        raise ArgumentError(f"y is {name!r}", expected=expected)
    labels = attributes.labels(name)
    names = list(range(found.count)) if attributes.ids is None else attributes.ids
    rows = found.ids.rows(names) if found.ids is not None else np.array([_row(name, found.count) for name in names])
    placed: list[Any] = [None] * found.count
    for row, label in zip(rows.tolist(), labels or [], strict=False):
        if row >= 0:
            placed[row] = label
    return placed


def _row(name: Any, count: int) -> int:
    return int(name) if isinstance(name, int | np.integer) and 0 <= name < count else -1


def _as_objects(values: list[Any]) -> Any:
    """One dimension, also of tuples."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _count(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    if shape is None and hasattr(rows, "__len__"):
        return len(rows)
    if not shape:
        raise ArgumentError(f"X and y are {rows!r}", expected="a row and a label for each node")
    return int(shape[0])
