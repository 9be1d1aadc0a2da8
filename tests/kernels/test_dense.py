"""Products of dense matrices: exact for small whole numbers, else summed in order and rounded once an addition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rounding import nearest

from grandplus.kernels import dense
from grandplus.kernels.dense import multiply_dense

SEEDS = st.integers(0, 2**32 - 1)
turned = st.booleans()


def whole_numbers(rng, rows, columns, *, transposed):
    """As a part of a wider matrix, or of its transpose."""
    wide = rng.integers(-3, 4, (columns + 2, rows + 3) if transposed else (rows + 3, columns + 2)).astype(np.float32)
    return (wide.T if transposed else wide)[1 : rows + 1, 2 : columns + 2]


@given(SEEDS, st.integers(0, 11), st.integers(0, 9), st.integers(0, 100), turned, turned, st.booleans())
def test_a_product_of_any_shape_and_strides(seed, rows, depth, width, a_turned, b_turned, biased):
    """Also into columns of a wider matrix, whose others stay as they are."""
    rng = np.random.default_rng(seed)
    a = whole_numbers(rng, rows, depth, transposed=a_turned)
    b = whole_numbers(rng, depth, width, transposed=b_turned)
    bias = rng.integers(-3, 4, width).astype(np.float32) if biased else None
    wide = np.full((rows, width + 9), 7, np.float32)
    inner = wide[:, 5 : 5 + width]
    assert multiply_dense(a, b, inner, bias) is inner
    np.testing.assert_array_equal(inner, a.astype(int) @ b.astype(int) + (bias if biased else 0))
    inner[:] = 7
    assert (wide == 7).all()


@given(st.lists(st.tuples(*[st.floats(-10, 10, width=32)] * 2), min_size=1, max_size=5), st.sampled_from([1, 16, 33]))
def test_sums_go_in_order_from_the_bias_on_and_each_is_rounded_once(pairs, width):
    a, b = (np.array(values, np.float32) for values in zip(*pairs, strict=True))
    total = bias = np.float32(0.1)
    for one, other in pairs:
        total = nearest(Fraction(one) * Fraction(other) + Fraction(float(total)))
    rows, columns = np.tile(a, (5, 1)), np.repeat(b[:, None], width, axis=1)  # five rows: four at a time, and one
    out = multiply_dense(rows, columns, np.empty((5, width), np.float32), np.full(width, bias))
    np.testing.assert_array_equal(out, total)


@given(SEEDS, st.integers(1, 9), st.integers(1, 70), st.integers(1, 40))
def test_an_entry_has_the_same_bits_whatever_is_beside_it(seed, rows, width, depth):
    """So a product may be cut into parts for threads, and sums into parts for the cache, at will."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((rows, depth)).astype(np.float32)
    b = rng.standard_normal((depth, width)).astype(np.float32)
    whole = multiply_dense(a, b, np.empty((rows, width), np.float32))
    for row, column in ((0, 0), (rows - 1, width - 1), (rows // 2, width // 2)):
        entry = multiply_dense(a[row : row + 1], b[:, column : column + 1], np.empty((1, 1), np.float32))
        assert entry[0, 0] == whole[row, column]
    np.testing.assert_allclose(whole, a.astype(float) @ b, rtol=0, atol=1e-5 * depth)


def test_sums_longer_than_the_cache_holds_are_in_order_too():
    rng, depth = np.random.default_rng(0), 2 * dense.DEPTH + 3
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((6, depth), (depth, 35)))
    total = np.zeros((6, 35), np.float32)
    for start in range(0, depth, 100):  # other parts than those of the kernel
        part = slice(start, start + 100)
        total = np.stack(  # the sum so far begins the next one, as the bias of a row
            [multiply_dense(a[i : i + 1, part], b[part], np.empty((1, 35), np.float32), total[i])[0] for i in range(6)]
        )
    np.testing.assert_array_equal(multiply_dense(a, b, np.empty((6, 35), np.float32)), total)


def test_infinities_and_nan_are_those_of_ieee_754():
    a = np.float32([[np.inf, 1], [np.nan, 0], [1, 2]])
    out = multiply_dense(a, np.float32([[0, 1], [1, 1]]), np.empty((3, 2), np.float32))
    np.testing.assert_array_equal(out, [[np.nan, np.inf], [np.nan, np.nan], [2, 3]])
