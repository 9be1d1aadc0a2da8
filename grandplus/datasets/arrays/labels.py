"""An array of labels, checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError


def labels_of(
    array: Any, nodes: int, source: Source, where: object, name: Callable[[int], str] = "row {}".format
) -> tuple[NDArray[np.int64], list[str]]:
    """Check an array of labels, and number the classes.

    Parameters
    ----------
    array : (n,) or (n, classes) ndarray
        Class numbers, with -1, NaN or a number that ``source.read.na`` lists where unknown; or rows with at most one 1
        among zeros, and none where unknown.
    nodes : int
        n.
    source : Source
        If it doesn't name the classes, numbers that no node has are no classes.
    where : object
        The file.
    name : callable
        What to call a row in an error.

    Returns
    -------
    labels : int64 (n,)
        -1 where unknown.
    classes : list of str
        Names, by class number.

    Raises
    ------
    GrandPlusError
        It is something else; with the row.
    """
    if not isinstance(array, np.ndarray):
        raise GrandPlusError(f"holds a {type(array).__name__}", where=where, expected="an array of labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or array.dtype.kind not in "fiub" or len(array) != nodes:
        expected = f"{nodes} class numbers or one-hot rows, as by the adjacency"
        raise GrandPlusError(f"is {described(array)}", where=where, expected=expected)
    numbers = _numbers(_known(array, source), where, name) if array.ndim == 1 else _of_one_hot(array, where, name)
    if source.classes is not None:
        count = array.shape[1] if array.ndim == 2 else int(numbers.max(initial=-1)) + 1
        if count != len(source.classes):
            expected = f"{len(source.classes)}, as the card names them"
            raise GrandPlusError(f"has {count} classes", where=where, expected=expected)
        return numbers, list(source.classes)
    used = np.unique(numbers[numbers >= 0])
    return np.where(numbers >= 0, np.searchsorted(used, numbers), -1), [str(number) for number in used]


def _known(array: NDArray[Any], source: Source) -> NDArray[Any]:
    """With -1 in place of the numbers that the card says stand for an unknown label."""
    listed = []
    for text in source.read.na or []:
        with contextlib.suppress(ValueError):  # it is no number, so that no label is it
            listed.append(float(text))
    return np.where(np.isin(array, listed), -1, array) if listed else array


def _numbers(array: NDArray[Any], where: object, name: Callable[[int], str]) -> NDArray[np.int64]:
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
    wrong = np.flatnonzero((array < -1) | (array != np.floor(array)) | (array >= 2.0**63))
    if len(wrong):
        expected = "a class: a whole number, or -1 for unknown"
        raise GrandPlusError(f"{name(int(wrong[0]))} is {array[wrong[0]]}", where=where, expected=expected)
    return array.astype(np.int64)


def _of_one_hot(rows: NDArray[Any], where: object, name: Callable[[int], str]) -> NDArray[np.int64]:
    used = (rows != 0).sum(axis=1)
    ones = (rows == 1).sum(axis=1)
    wrong = np.flatnonzero((used > 1) | (ones != used))
    if len(wrong):
        row = int(wrong[0])
        if ones[row] == used[row]:
            raise_multi_label(f"{name(row)} has {used[row]} labels", where)
        text = f"{name(row)} is {rows[row].tolist()}"
        raise GrandPlusError(text, where=where, expected="at most a single 1 among zeros")
    return np.where(used == 1, rows.argmax(axis=1), -1).astype(np.int64)


def raise_multi_label(found: str, where: object) -> NoReturn:
    """Raise the error of nodes with several labels.

    Parameters
    ----------
    found : str
        Which labels there are.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    expected = "one label a node at most, as the method's classes exclude each other (multi-label data)"
    raise GrandPlusError(found, where=where, expected=expected, fix="keep one label a node")
