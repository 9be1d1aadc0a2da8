"""Features that are the class under another name, with which any method is right on all nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.tables.names import LABELS
from grandplus.graph.features import blocks_of
from grandplus.runtime.errors import GrandPlusError

MIN_LABELLED = 20  # nodes; among fewer, a feature may agree with the classes by chance, unless it is called so
MIN_MARKED = 5  # nodes of a class that a column marks
NAMED_COLUMNS = 10  # at most, in an error
_MIN_OF_CLASS = 2  # nodes of each class, where the name tells
_SAMPLE = 1000  # nodes, which show whether a column may be a class beside a mark for unknown


def check_no_class_among_features(raw: RawGraph) -> None:
    """Check that no features tell the classes of nodes.

    Such is a dense column that has one value in each class, and another in every other class. Some nodes of any class
    may have its least value instead, such as -1, which stands for unknown. Such are also columns that mark one class
    each, for most classes: they differ from 0 in the nodes of this class alone, or in all others.

    Parameters
    ----------
    raw : RawGraph

    Raises
    ------
    GrandPlusError
        There are such columns; with their names.
    """
    labelled = np.flatnonzero(raw.labels >= 0)
    classes, labels = np.unique(raw.labels[labelled], return_inverse=True)
    counts = np.bincount(labels)
    if raw.features is None or len(classes) < 2 or counts.min() < _MIN_OF_CLASS:
        return
    codes = {} if sparse.issparse(raw.features) else _codes(raw.features, labelled, labels)
    codes = {column: known for column, known in codes.items() if known >= MIN_LABELLED or _is_called(raw, column)}
    if codes:
        _raise(raw, list(codes), "has one value in each class, another in every class")
    marking, marked = _marking(raw.features, labelled, labels, counts)
    most = len(labelled) >= MIN_LABELLED and marked * 2 > len(classes)
    if most or any(_is_called(raw, column) for column in marking):
        _raise(raw, marking, "marks all nodes of one class and no others")


def _codes(features: NDArray[Any], labelled: NDArray[Any], labels: NDArray[Any]) -> dict[int, int]:
    """The columns that have one value in each class, another in every class, and on how many nodes."""
    first = np.unique(labels, return_index=True)[1]
    values = features[labelled[first]]  # of one node of each class
    exact = [
        column
        for column in np.flatnonzero(_all_differ(values)).tolist()
        if np.array_equal(features[labelled, column], values[labels, column])
    ]
    some = slice(None, None, max(1, len(labelled) // _SAMPLE))
    sample = np.asarray(features[labelled[some]])
    whole = (sample == np.floor(sample)).all(axis=0) & (np.ptp(sample, axis=0) >= 2)
    beside = {
        column: known
        for column in np.flatnonzero(whole).tolist()
        if _known_codes(sample[:, column], labels[some]) is not None
        and (known := _known_codes(features[labelled, column], labels)) is not None
        and known.min(initial=len(labels)) >= _MIN_OF_CLASS
        and len(known) == len(first)
    }
    return dict.fromkeys(exact, len(labelled)) | {column: int(known.sum()) for column, known in beside.items()}


def _known_codes(values: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64] | None:
    """How many nodes of each class have its code, beside the least value; None if others have it, or it varies.

    >>> _known_codes(np.array([4, 4, -1, 7]), np.array([0, 0, 1, 1])), _known_codes(np.arange(3), np.zeros(3, int))
    (array([2, 1]), None)
    """
    known = values > values.min()
    pairs, counts = np.unique(np.stack([labels[known], values[known]]), axis=1, return_counts=True)
    one_to_one = pairs.shape[1] == len(np.unique(pairs[0])) == len(np.unique(pairs[1]))
    return counts if one_to_one else None


def _marking(
    features: Any, labelled: NDArray[Any], labels: NDArray[Any], counts: NDArray[np.int64]
) -> tuple[list[int], int]:
    """The columns that mark one class each, and how many classes have such a column."""
    columns = np.arange(features.shape[1]) if features.shape[1] <= features.size else np.unique(features.indices)
    if len(columns) < features.shape[1]:  # most columns are empty, and may be more than memory holds
        parts = features.data, np.searchsorted(columns, features.indices), features.indptr
        features = sparse.csr_matrix(parts, shape=(features.shape[0], len(columns)))
    powers = np.stack([labels**0, labels, labels**2]).astype(np.float64)
    filled = np.zeros((3, len(columns)))  # sums of these powers over the nodes with a value other than 0
    for rows in blocks_of(len(labelled)):
        filled += (features[labelled[rows]] != 0).astype(np.float32).T.dot(powers[:, rows].T).T
    marking, marked = np.zeros(len(columns), bool), set[int]()
    for size, first, second in (filled, powers.sum(axis=1, keepdims=True) - filled):
        number = (first / np.maximum(size, 1)).astype(np.int64)
        alike = (size * second == first**2) & (size == counts[number]) & (size >= MIN_MARKED)
        marking |= alike
        marked.update(number[alike].tolist())
    return columns[marking].tolist(), len(marked)


def _all_differ(values: NDArray[np.floating]) -> NDArray[np.bool_]:
    """In which columns all rows have different values.

    >>> _all_differ(np.array([[1.0, 1.0], [2.0, 1.0]])).tolist()
    [True, False]
    """
    ranked = np.sort(values, axis=0)
    differ: NDArray[np.bool_] = (ranked[1:] != ranked[:-1]).all(axis=0)
    return differ


def _name(raw: RawGraph, column: int) -> str:
    return raw.feature_names[column] if raw.feature_names else f"feature {column + 1}"


def _raise(raw: RawGraph, columns: Sequence[int], said: str) -> NoReturn:
    names = [_name(raw, column) for column in columns]
    listed = ", ".join(names[:NAMED_COLUMNS])
    listed += f" and {len(names) - NAMED_COLUMNS:,} more" if len(names) > NAMED_COLUMNS else ""
    found = f"{listed if len(names) == 1 else f'each of {listed}'} {said}: it may be the class itself"
    ignored = " ".join(f"--ignore {name}" for name in names)
    fix = f"leave it out: import with {ignored}" if raw.feature_names else "leave it out of the features"
    raise GrandPlusError(found, expected="features that don't tell the classes", fix=fix)


def _is_called(raw: RawGraph, column: int) -> bool:
    return _is_called_class(_name(raw, column))


def _is_called_class(name: str) -> bool:
    """Whether a column is called as classes are.

    >>> [_is_called_class(name) for name in ("label_id", "classCode", "height")]
    [True, True, False]
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return any(word in LABELS for word in words)
