"""Sparse matrices of a step against dense ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sparse_matrices import csr_of

from grandplus.methods.grandplus.fused.memory import Memory

matrices = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    elements=st.integers(-3, 3).map(float),  # sums of small integers are exact
)


@given(matrices, st.integers(1, 70))
def test_product_and_transpose_are_those_of_the_dense_matrix(dense, columns):
    matrix = csr_of(dense)
    right = np.random.default_rng(0).integers(-3, 4, (dense.shape[1], columns)).astype(np.float32)
    np.testing.assert_array_equal(matrix.multiply(right, np.empty((len(dense), columns), np.float32)), dense @ right)
    transposed = matrix.transposed(Memory(), "transposed")
    assert transposed.shape == dense.T.shape
    np.testing.assert_array_equal(transposed.to_dense(), dense.T)


@given(matrices)
def test_transposed_rows_are_in_order(dense):
    transposed = csr_of(dense).transposed(Memory(), "transposed")
    expected = csr_of(dense.T)
    np.testing.assert_array_equal(transposed.indptr, expected.indptr)
    np.testing.assert_array_equal(transposed.indices, expected.indices)
