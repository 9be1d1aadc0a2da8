"""Random numbers of kernels against the published ones of SplitMix64."""

import numba
import numpy as np
import pytest

from grandplus.kernels.random import SPREAD, mix, uniform

# Of the generator's reference implementation in C with the seed 1234567.
REFERENCE = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


@numba.njit
def mixed(seed, count):
    numbers = np.empty(count, np.uint64)
    for i in range(count):
        numbers[i] = mix(np.uint64(seed) + np.uint64(i + 1) * SPREAD)
    return numbers


@numba.njit
def drawn(seed, count):
    state, numbers = np.uint64(seed), np.empty(count)
    for i in range(count):
        state, numbers[i] = uniform(state)
    return numbers


def test_mixed_states_are_the_numbers_of_splitmix64():
    assert mixed(1234567, 5).tolist() == REFERENCE


def test_uniform_numbers_are_their_upper_53_bits():
    assert drawn(1234567, 5).tolist() == [(number >> 11) / 2**53 for number in REFERENCE]


def test_uniform_numbers_fill_the_unit_interval_evenly():
    numbers = drawn(0, 100_000)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.histogram(numbers, bins=10, range=(0, 1))[0] == pytest.approx([10_000] * 10, abs=400)  # 4 deviations
