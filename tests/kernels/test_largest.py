"""The largest entries against Python's sort."""

import functools

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.kernels import largest


@functools.cache
def compiled(name):
    return numba.njit(getattr(largest, name))


def check(values, top_k, seed):
    """Of equal values the lowest nodes come first, and what a float32 rounds to the same is equal."""
    node = np.random.default_rng(seed).permutation(len(values)).astype(np.uint32)
    best = np.empty(2 * top_k + 32, np.uint64)
    count, rank = np.uint64(len(values)), np.empty(len(values), np.uint32)
    chosen = compiled("choose_largest")(count, node, np.array(values), rank, best, top_k)
    positive = [i for i in range(len(values)) if values[i] > 0]
    expected = sorted(positive, key=lambda i: (-np.float32(values[i]), node[i]))[:top_k]
    assert (best[:chosen] & np.uint64(2**32 - 1)).tolist() == node[expected].tolist()


@given(
    values=st.lists(st.integers(0, 12).map(lambda power: 2.0**-power), min_size=1, max_size=400),
    top_k=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_of_few_different_values(values, top_k, seed):
    check(values, top_k, seed)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=300), top_k=st.integers(1, 150), seed=st.integers(0, 9))
def test_of_any_values(values, top_k, seed):
    check(values, top_k, seed)


@pytest.mark.parametrize("top_k", [1, 32, 95, 96, 97, 1000])
@pytest.mark.parametrize("count", [31, 32, 33, 96, 97, 5000])
def test_short_and_long_lists(count, top_k):
    check(np.random.default_rng(count).random(count).tolist(), top_k, seed=0)


def test_the_bound_is_reached_by_the_best_and_few_others():
    rank = np.random.default_rng(0).random(20_000, np.float32).view(np.uint32)
    for top_k in (1, 32, 200):
        group = np.empty(2 * top_k + 32, np.uint32)
        least = compiled("_lower_bound")(np.uint64(len(rank)), rank, group, np.uint64(top_k))
        assert top_k <= (rank >= least).sum() <= 3 * top_k + 200
