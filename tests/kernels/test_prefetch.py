"""Prefetching changes nothing but time: not with an index outside of the array either."""

import numba
import numpy as np

from grandplus.kernels.prefetch import prefetch


@numba.njit
def total(values, ahead):
    result = 0.0
    for i in range(len(values)):
        prefetch(values, i + ahead)
        result += values[i]
    return result


def test_any_index_may_be_prefetched():
    values = np.arange(100.0)
    for ahead in (0, 8, 1_000, 2**40, -(2**40)):
        assert total(values, ahead) == values.sum()
