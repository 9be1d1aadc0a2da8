"""What preprocessing does to features, dense or sparse, without a second copy of them in memory."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp

from grandplus.compiled import FLOAT32, INT64, compiled, writable
from grandplus.graph import Features, csr_of

BLOCK = 2**16  # rows of dense features at a time


def row_normalize(features: Features) -> Features:
    """Each row divided by its sum, 0/0 = 0, in float32; sums in float64.

    >>> row_normalize(np.array([[1, 3], [0, 0]], np.float32)).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    if sp.issparse(features):
        data = np.empty(len(features.data), np.float32)
        _kernel()(features.indptr.astype(np.int64, copy=False), features.data.astype(np.float32, copy=False), data)
        return csr_of(features.indptr, features.indices, data, features.shape[1])
    out = np.empty(features.shape, np.float32)
    for start in range(0, len(features), BLOCK):
        part = features[start : start + BLOCK]
        sums = part.sum(axis=1, dtype=np.float64)
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums != 0)
        out[start : start + BLOCK] = part * scale[:, None]
    return out


def zero_rows(features: Features) -> int:
    """How many rows hold nothing but zeros."""
    if not sp.issparse(features):
        return int(sum((~features[i : i + BLOCK].any(axis=1)).sum() for i in range(0, len(features), BLOCK)))
    stored = np.diff(features.indptr)
    if not features.data.all():  # some stored values are zeros: count the others
        running = np.concatenate([[0], np.cumsum(features.data != 0)])
        stored = np.diff(running[features.indptr])
    return int((stored == 0).sum())


@functools.cache
def _kernel() -> Any:
    return compiled(_divide_rows, INT64, FLOAT32, writable(FLOAT32))


def _divide_rows(indptr, data, out):  # type: ignore[no-untyped-def]
    for row in range(len(indptr) - 1):
        total = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            total += data[i]
        scale = 1.0 / total if total != 0 else 0.0
        for i in range(indptr[row], indptr[row + 1]):
            out[i] = np.float32(data[i] * scale)
