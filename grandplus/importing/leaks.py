"""A feature that is the class under another name, with which any method is right on all nodes."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.tables.names import LABELS
from grandplus.runtime.errors import GrandPlusError

MIN_LABELLED = 20  # nodes; among fewer, a feature may agree with the classes by chance, unless it is called so
_MIN_OF_CLASS = 2  # nodes of each class, where the name tells


def check_no_class_among_features(raw: RawGraph) -> None:
    """Check that no dense feature has one value in each class, and another in every other class.

    Parameters
    ----------
    raw : RawGraph

    Raises
    ------
    GrandPlusError
        There is one; with its name.
    """
    if raw.features is None or sparse.issparse(raw.features):
        return
    labelled = np.flatnonzero(raw.labels >= 0)
    labels = raw.labels[labelled]
    classes, first, counts = np.unique(labels, return_index=True, return_counts=True)
    if len(classes) < 2 or counts.min() < _MIN_OF_CLASS:
        return
    values = raw.features[labelled[first]]  # of one node of each class
    for column in np.flatnonzero(_all_differ(values)).tolist():
        name = raw.feature_names[column] if raw.feature_names else f"feature {column + 1}"
        if len(labelled) < MIN_LABELLED and not _is_called_class(name):
            continue
        of_class = np.zeros(len(raw.classes), raw.features.dtype)
        of_class[classes] = values[:, column]
        if np.array_equal(raw.features[labelled, column], of_class[labels]):
            found = f"{name} has one value in each class, another in every class: it may be the class itself"
            fix = f"leave it out: import with --ignore {name}" if raw.feature_names else "leave it out of the features"
            raise GrandPlusError(found, expected="features that don't tell the classes", fix=fix)


def _all_differ(values: NDArray[np.floating]) -> NDArray[np.bool_]:
    """In which columns all rows have different values.

    >>> _all_differ(np.array([[1.0, 1.0], [2.0, 1.0]])).tolist()
    [True, False]
    """
    ranked = np.sort(values, axis=0)
    differ: NDArray[np.bool_] = (ranked[1:] != ranked[:-1]).all(axis=0)
    return differ


def _is_called_class(name: str) -> bool:
    """Whether a column is called as classes are.

    >>> [_is_called_class(name) for name in ("label_id", "classCode", "height")]
    [True, True, False]
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return any(word in LABELS for word in words)
