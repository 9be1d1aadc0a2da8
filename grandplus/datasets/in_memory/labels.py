"""Labels of any kind, as a notebook has them -> class numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.datasets.tables.class_names import class_names
from grandplus.runtime.errors import ArgumentError

MOST_UNIQUE = 10  # nodes; of more, a class for each of them means that these are no classes


def numbered_labels(y: Any, nodes: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and each node's number among them.

    Parameters
    ----------
    y : array_like, tensor or pandas.Series, shape (n,) or (n, 1)
        Names or whole numbers. -1, None, NaN, pandas' NA, the empty text, and texts such as "NA" are unknown, see
        `grandplus.datasets.tables.class_names.UNKNOWN`.
    nodes : int
        n.

    Returns
    -------
    classes : ndarray, shape (C,)
        The labels that occur, sorted.
    numbers : ndarray of int64, shape (n,)
        -1 where the label is unknown.

    Raises
    ------
    ArgumentError
        There is not one label for each node; they are of mixed kinds, fractions, all different or all the same.

    Examples
    --------
    >>> classes, numbers = numbered_labels(["b", "a", None, "b", ""], 5)
    >>> classes.tolist(), numbers.tolist()
    (['a', 'b'], [1, 0, -1, 1, -1])
    """
    if y is None:
        raise ArgumentError("there are no labels", expected="y, (n,) classes, -1 where unknown")
    values = _as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (nodes,):
        raise ArgumentError(f"y has shape {values.shape}", expected=f"({nodes},), a label for each node")
    unknown = _unknown(values)
    known = values[~unknown]
    kinds = {type(value) for value in known.tolist()}
    if not any(all(issubclass(kind, alike) for kind in kinds) for alike in (str, (Real, np.bool_))):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ArgumentError(f"y holds labels of kinds {names}", expected="names, or numbers")
    distinct, among = np.unique(known, return_inverse=True)
    if kinds and all(issubclass(kind, str) for kind in kinds):
        distinct, number_of = _named(distinct.tolist())
        among = number_of[among]
    classes = _checked_classes(np.array(distinct.tolist()), int((among >= 0).sum()))
    numbers = np.full(nodes, -1, np.int64)
    numbers[~unknown] = among
    return classes, numbers


def _named(texts: list[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes of some different texts, and the number of each text's class; -1 where it means unknown.

    A class keeps its spelling if it has a single one.
    """
    class_of = class_names(texts)
    spellings: dict[str, list[str]] = {}
    for text in texts:
        if (name := class_of[text]) is not None:
            spellings.setdefault(name, []).append(text)
    kept = {name: name if len(texts) > 1 else texts[0] for name, texts in spellings.items()}
    classes = sorted(kept.values())
    position = {text: number for number, text in enumerate(classes)}
    number_of = {name: position[text] for name, text in kept.items()}
    numbers = [-1 if (name := class_of[text]) is None else number_of[name] for text in texts]
    return np.array(classes, object), np.array(numbers, np.int64)


def _as_array(y: Any) -> NDArray[Any]:
    if hasattr(y, "isna"):  # pandas, whose NA equals nothing
        values = np.array(y, object)
        values[np.asarray(y.isna())] = None
        return values
    # Of a list, numpy would make one kind: a NaN among names would be called nan.
    return np.asarray(as_matrix(y, "y") if hasattr(y, "dtype") else np.array(y, object))


def _unknown(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        marks = [value is None or value != value or value == -1 or value == "" for value in values.tolist()]
        return np.array(marks, bool)
    if values.dtype.kind == "U":
        return np.asarray(values == "")
    return np.asarray(np.isnan(values) | (values == -1)) if values.dtype.kind in "iuf" else np.zeros(len(values), bool)


def _checked_classes(classes: NDArray[Any], labelled: int) -> NDArray[Any]:
    if len(classes) < 2:
        raise ArgumentError(f"y holds the labels {classes.tolist()}", expected="two classes or more")
    if classes.dtype.kind == "f":  # whole numbers are floats where a NaN stands among them
        fractions = classes[classes != np.floor(classes)]
        if len(fractions):
            raise ArgumentError(f"y holds {fractions[0]:g}", expected="classes, not a quantity")
        classes = classes.astype(np.int64)
    if len(classes) == labelled > MOST_UNIQUE:
        like = f"like {classes.tolist()[0]!r}"
        raise ArgumentError(f"y has another label for each of {labelled} nodes, {like}", expected="classes")
    return classes
