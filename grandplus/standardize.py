"""Columns of features with mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ROWS = 2**16  # rows in float64 at a time


def standardize(features: Any) -> NDArray[np.float32]:
    """Each column minus its mean, divided by its standard deviation; a constant column becomes 0.

    Parameters
    ----------
    features : (n, d) finite numbers, an array or a scipy sparse matrix; n at least 1.

    Returns
    -------
    float32 (n, d), dense, of what was computed in float64.

    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    dense = features.toarray() if sp.issparse(features) else np.asarray(features)
    mean = dense.mean(axis=0, dtype=np.float64)
    variance = sum(((dense[rows] - mean) ** 2).sum(axis=0) for rows in _blocks(len(dense))) / len(dense)
    # Told by its values, as a rounded mean leaves a constant column a tiny variance.
    constant = dense.min(axis=0) == dense.max(axis=0)
    scale = np.divide(1, np.sqrt(variance), out=np.zeros_like(mean), where=~constant)
    found = np.empty(dense.shape, np.float32)
    for rows in _blocks(len(dense)):
        found[rows] = (dense[rows] - mean) * scale
    return found


def _blocks(count: int) -> list[slice]:
    return [slice(first, first + _ROWS) for first in range(0, count, _ROWS)]
