"""Splits as a notebook has them: row numbers or masks -> lists of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.graph.splits import Nodes
from grandplus.runtime.errors import ArgumentError


def given_splits(parts: Mapping[str, Any], labels: NDArray[np.int64]) -> list[dict[str, Nodes]]:
    """The splits that a user gives.

    Parameters
    ----------
    parts : mapping of str to array_like
        "train", "val" and "test": row numbers, a mask (n,), or masks (n, s) of s splits; None if it is not given.
        Without "test", that is all other nodes.
    labels : ndarray of int64, shape (n,)
        -1 where unknown.

    Returns
    -------
    list of dict of str to ndarray of int64
        The nodes of each part, in each split; none if no part is given.

    Raises
    ------
    ArgumentError
        A part is missing, empty or no nodes; a node is named twice, or has no label to train or validate on.

    Examples
    --------
    >>> labels = np.array([0, 1, 1, -1])
    >>> [split] = given_splits({"train": [1, 0], "val": [False, False, True, False]}, labels)
    >>> {part: nodes.tolist() for part, nodes in split.items()}
    {'train': [1, 0], 'val': [2], 'test': [3]}
    """
    given = {part: _lists(value, len(labels), part) for part, value in parts.items() if value is not None}
    if not given:
        return []
    for part in ("train", "val"):
        if part not in given:
            raise ArgumentError(f"{part} is not given", expected="train and val, or neither")
    many = max(map(len, given.values()))
    for part, lists in given.items():
        if len(lists) not in (1, many):
            raise ArgumentError(f"{part} has {len(lists)} splits", expected=f"{many}, as others have, or one")
    return [_split({part: lists[split % len(lists)] for part, lists in given.items()}, labels) for split in range(many)]


def row_numbers(nodes: Any, count: int, name: str) -> Nodes:
    """Row numbers of nodes that are given as such or as a mask.

    Parameters
    ----------
    nodes : array_like, shape (b,)
        Row numbers, or a mask if it is boolean and b = n.
    count : int
        n.
    name : str
        What to call them in an error.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    ArgumentError
        They are neither, or there is no such row.

    Examples
    --------
    >>> row_numbers([False, True, True], 3, "nodes").tolist()
    [1, 2]
    """
    values = as_matrix(nodes, name)
    if values.dtype.kind == "b" and values.shape == (count,):
        return np.flatnonzero(values)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        expected = f"row numbers, or a mask of {count}"
        raise ArgumentError(f"{name} has shape {values.shape} and type {values.dtype}", expected=expected)
    wrong = values[(values < 0) | (values >= count)]
    if len(wrong):
        raise ArgumentError(f"{name} names node {wrong[0]}", expected=f"0 to {count - 1}")
    return np.asarray(values, np.int64)


def _lists(value: Any, count: int, part: str) -> list[Nodes]:
    values = as_matrix(value, part)
    if values.dtype.kind == "b" and values.ndim == 2 and values.shape[0] == count:
        return [np.flatnonzero(mask) for mask in values.T]
    return [row_numbers(values, count, part)]


def _split(given: dict[str, Nodes], labels: NDArray[np.int64]) -> dict[str, Nodes]:
    split, taken = {}, np.zeros(len(labels), bool)
    for part, nodes in given.items():
        if not len(nodes):
            raise ArgumentError(f"{part} names no node", expected="one or more")
        if part != "test" and (labels[nodes] < 0).any():
            unlabelled = nodes[labels[nodes] < 0][0]
            raise ArgumentError(f"{part} names node {unlabelled}", expected="nodes with a known label")
        if taken[nodes].any() or len(np.unique(nodes)) < len(nodes):
            raise ArgumentError(f"{part} names a node that is named already", expected="each once")
        taken[nodes] = True
        split[part] = nodes if part == "train" else np.sort(nodes)
    return split if "test" in split else split | {"test": np.flatnonzero(~taken)}
