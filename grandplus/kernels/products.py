"""The product of a sparse matrix with a dense one, each entry summed in stored order and each addition rounded once."""

from __future__ import annotations

import numpy as np

from grandplus.kernels.compiled import jitable
from grandplus.kernels.vectors import LANES, fma, load, load_some, splat, store, store_some

ONE, TWO, THREE, FOUR = (np.uint64(count * LANES) for count in (1, 2, 3, 4))


@jitable
def multiply_rows(indptr, indices, data, start, end, table, out):
    """Rows ``start`` to ``end`` - 1 of the product with ``table``, from the first row of ``out`` on.

    Both are float32 and have their columns side by side. 64 columns at a time stay in registers.
    """
    width, column, start = np.uint64(out.shape[1]), np.uint64(0), np.uint64(start)
    rows = np.uint64(end) - start
    while column + FOUR <= width:
        for row in range(rows):
            a = b = c = d = splat(np.float32(0))
            for j in range(np.uint64(indptr[start + row]), np.uint64(indptr[start + row + np.uint64(1)])):
                share, source = splat(data[j]), np.uint64(np.uint32(indices[j]))
                a = fma(share, load(table, source, column), a)
                b = fma(share, load(table, source, column + ONE), b)
                c = fma(share, load(table, source, column + TWO), c)
                d = fma(share, load(table, source, column + THREE), d)
            store(out, row, column, a)
            store(out, row, column + ONE, b)
            store(out, row, column + TWO, c)
            store(out, row, column + THREE, d)
        column += FOUR
    while column < width:
        left = min(TWO, width - column)
        first, second = min(ONE, left), left - min(ONE, left)
        for row in range(rows):
            a = b = splat(np.float32(0))
            for j in range(np.uint64(indptr[start + row]), np.uint64(indptr[start + row + np.uint64(1)])):
                share, source = splat(data[j]), np.uint64(np.uint32(indices[j]))
                a = fma(share, load_some(table, source, column, first), a)
                b = fma(share, load_some(table, source, column + ONE, second), b)
            store_some(out, row, column, a, first)
            store_some(out, row, column + ONE, b, second)
        column += TWO
