"""The product of two dense matrices, with the same bits on every processor and for any number of threads.

BLAS libraries choose their kernels by the processor, and these add up in different orders: MKL, which PyTorch brings,
rounds otherwise on an Intel than on an AMD. Here each entry is summed in order, and each addition is rounded once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grandplus.kernels.compiled import FLOAT32, kernel, matrix, some_columns, writable
from grandplus.kernels.vectors import LANES, fma, load, load_some, splat, store, store_some

DEPTH = 256  # rows of b at a time: 32 columns of them stay in the first cache
ONE, TWO = np.uint64(LANES), np.uint64(2 * LANES)


def multiply_dense(
    a: NDArray[np.float32], b: NDArray[np.float32], out: NDArray[np.float32], bias: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """AB + bias.

    Parameters
    ----------
    a : float32 (n, k)
        With any strides: it may be a transpose.
    b : float32 (k, m)
        It is copied, unless its columns are side by side.
    out : float32 (n, m)
        Is overwritten; its columns are side by side. It shares no memory with the others.
    bias : float32 (m,), optional
        Begins each row's sums; by default they begin with 0.

    Returns
    -------
    float32 (n, m)
        ``out``.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.float32([[1, 2], [3, 4]]), np.float32([[1, 0, 1], [0, 1, 1]])
    >>> multiply_dense(a, b, np.empty((2, 3), np.float32)).tolist()
    [[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]]
    """
    out[:] = 0 if bias is None else bias
    _add_product(a, b if b.strides[1] == b.itemsize else np.ascontiguousarray(b), out)
    return out


_ANY = some_columns(matrix(FLOAT32))


@kernel(_ANY, _ANY, writable(_ANY))
def _add_product(a, b, out):
    """Adds AB to ``out``. Four rows and 32 columns of it stay in registers, over 256 summands."""
    rows, depth, width = np.uint64(a.shape[0]), np.uint64(a.shape[1]), np.uint64(out.shape[1])
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for first in range(np.uint64(0), depth, np.uint64(DEPTH)):
        last, column = min(depth, first + np.uint64(DEPTH)), np.uint64(0)
        while column + TWO <= width:
            row, right = np.uint64(0), column + ONE
            while row + four <= rows:
                a0, b0 = load(out, row, column), load(out, row, right)
                a1, b1 = load(out, row + one, column), load(out, row + one, right)
                a2, b2 = load(out, row + two, column), load(out, row + two, right)
                a3, b3 = load(out, row + three, column), load(out, row + three, right)
                for k in range(first, last):
                    left_part, right_part = load(b, k, column), load(b, k, right)
                    share = splat(a[row, k])
                    a0, b0 = fma(share, left_part, a0), fma(share, right_part, b0)
                    share = splat(a[row + one, k])
                    a1, b1 = fma(share, left_part, a1), fma(share, right_part, b1)
                    share = splat(a[row + two, k])
                    a2, b2 = fma(share, left_part, a2), fma(share, right_part, b2)
                    share = splat(a[row + three, k])
                    a3, b3 = fma(share, left_part, a3), fma(share, right_part, b3)
                store(out, row, column, a0)
                store(out, row, right, b0)
                store(out, row + one, column, a1)
                store(out, row + one, right, b1)
                store(out, row + two, column, a2)
                store(out, row + two, right, b2)
                store(out, row + three, column, a3)
                store(out, row + three, right, b3)
                row += four
            while row < rows:
                a0, b0 = load(out, row, column), load(out, row, right)
                for k in range(first, last):
                    share = splat(a[row, k])
                    a0, b0 = fma(share, load(b, k, column), a0), fma(share, load(b, k, right), b0)
                store(out, row, column, a0)
                store(out, row, right, b0)
                row += one
            column += TWO
        while column < width:
            row, some = np.uint64(0), min(ONE, width - column)
            while row + four <= rows:
                a0, a1 = load_some(out, row, column, some), load_some(out, row + one, column, some)
                a2, a3 = load_some(out, row + two, column, some), load_some(out, row + three, column, some)
                for k in range(first, last):
                    part = load_some(b, k, column, some)
                    a0, a1 = fma(splat(a[row, k]), part, a0), fma(splat(a[row + one, k]), part, a1)
                    a2, a3 = fma(splat(a[row + two, k]), part, a2), fma(splat(a[row + three, k]), part, a3)
                store_some(out, row, column, a0, some)
                store_some(out, row + one, column, a1, some)
                store_some(out, row + two, column, a2, some)
                store_some(out, row + three, column, a3, some)
                row += four
            while row < rows:
                a0 = load_some(out, row, column, some)
                for k in range(first, last):
                    a0 = fma(splat(a[row, k]), load_some(b, k, column, some), a0)
                store_some(out, row, column, a0, some)
                row += one
            column += ONE
