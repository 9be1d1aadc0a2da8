"""Products of sparse and dense matrices: exact for small whole numbers, else each addition is rounded once."""

from fractions import Fraction

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rounding import nearest

from grandplus.kernels.products import multiply_rows

multiply = numba.njit(lambda *arguments: multiply_rows(*arguments))


@given(seed=st.integers(0, 2**32 - 1), width=st.integers(1, 150), start=st.integers(0, 3), end=st.integers(3, 6))
def test_rows_of_a_product_are_those_of_the_dense_one(seed, width, start, end):
    """Also between columns of wider matrices, which stay as they are."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(-3, 4, (6, 9)) * (rng.random((6, 9)) < 0.5)
    rows, columns = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(7)).astype(np.int32)
    wide, out = rng.integers(-3, 4, (9, width + 7)).astype(np.float32), np.full((6, width + 9), 7, np.float32)
    table, inner = wide[:, 4 : 4 + width], out[: end - start, 5 : 5 + width]
    multiply(indptr, columns.astype(np.int32), dense[rows, columns].astype(np.float32), start, end, table, inner)
    np.testing.assert_array_equal(inner, dense[start:end] @ table)
    inner[:] = 7
    assert (out == 7).all()


@given(st.lists(st.tuples(*[st.floats(-10, 10, width=32)] * 2), min_size=1, max_size=5), st.sampled_from([1, 16, 64]))
def test_each_addition_is_rounded_once(pairs, width):
    total = np.float32(0)
    for a, b in pairs:
        total = nearest(Fraction(a) * Fraction(b) + Fraction(float(total)))
    indices = np.arange(len(pairs), dtype=np.int32)
    data, table = (np.array(values, np.float32) for values in zip(*pairs, strict=True))
    out = np.empty((1, width), np.float32)
    multiply(np.array([0, len(pairs)], np.int32), indices, data, 0, 1, np.repeat(table[:, None], width, axis=1), out)
    np.testing.assert_array_equal(out, total)
