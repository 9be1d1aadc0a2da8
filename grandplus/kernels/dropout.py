"""Dropout in kernels: which values are kept is a hash of the seed, the row and the column, so it can be told again."""

from __future__ import annotations

import numpy as np

from grandplus.kernels.compiled import jitable
from grandplus.kernels.random import SPREAD, mix


@jitable
def keep_of(share):
    """What kept values are multiplied with, and the least hash that keeps one."""
    if share >= 1:
        return np.float32(0), np.uint32(0)
    return np.float32(1 / (1 - share)), np.uint32(share * 2.0**32)


@jitable
def row_keys(seed, row):
    """64 random bits for a row, in two halves."""
    z = mix(np.uint64(seed) + np.uint64(row + 1) * SPREAD)
    return np.uint32(z), np.uint32(z >> np.uint64(32))


@jitable
def mixed(x, key):
    """32 mixed bits of 32: multiplications that fit vector registers, so eight columns go at once.

    A value is kept if ``mixed(np.uint32(column) + key, other_key)`` of its row's two keys is large enough. The
    constants are those of a search for low bias (Wellons, "Prospecting for hash functions", 2018).
    """
    x = np.uint32(x)
    x ^= x >> np.uint32(16)
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x ^= x >> np.uint32(15)
    x ^= key
    x = np.uint32(x * np.uint32(0x846CA68B))
    x ^= x >> np.uint32(16)
    return x
