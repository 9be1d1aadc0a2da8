"""Learnable representations H = X W⁰ of very wide sparse features (the paper's Eq. 9).

A step reads and changes only the rows of W⁰ that its batch's features name, whatever their number:
the rest, and its moments in the optimizer, stay as they are, bit for bit.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.kernels.compiled import FLOAT32, INT32, INT64, compiled, matrix, writable
from grandplus.kernels.prefetch import prefetch
from grandplus.methods.grandplus.csr import CSR, Product
from grandplus.methods.grandplus.random_propagation import Factors

AHEAD, LINE = 8, 16  # rows that are prefetched, and float32 a cache line


class Embedding(nn.Module):
    """W⁰ of (d, h), which meets the features before they are propagated: (Π̃X)W⁰ = Π̃(XW⁰).

    weight : (d, h), initial values as in nn.Linear
    touched : int64 (t,), which rows the last training batch used
    rows : (t, h), a copy of these, which gets the gradient
    changed : int32 (d,), the number of the last training batch that used a row
    """

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(features)
        values = np.empty((features, width), np.float32)  # numpy's memory comes in huge pages, PyTorch's does not
        self.weight: Tensor
        self.register_buffer("weight", torch.from_numpy(values).uniform_(-bound, bound))
        self.touched: NDArray[np.int64] = np.empty(0, np.int64)
        self.rows = torch.empty(0, width)
        self.changed, self.batches = np.zeros(features, np.int32), 0
        self._numbers = np.full(features, -1, np.int32)  # of the columns of a batch; -1 between batches

    def forward(self, inputs: Factors) -> Tensor:
        """(b, h) of the factors Π̃ (b, u) and X (u, d) of a batch."""
        mixing, features = inputs
        if not self.training:
            return mixing.multiply(features.multiply(self.weight))
        features = self._numbered(features)
        if self.weight.device.type == "cpu":
            rows = np.empty((len(self.touched), self.weight.shape[1]), np.float32)
            _taking_kernel()(self.weight.numpy(), self.touched, rows)
            self.rows = torch.from_numpy(rows).requires_grad_()
            factors = mixing, features
            transposed = functools.cache(lambda: [factor.transposed() for factor in factors])
            product: Tensor = Product.apply(factors, transposed, self.rows)  # type: ignore[no-untyped-call]
            return product
        self.rows = self.weight[torch.from_numpy(self.touched).to(self.weight.device)].requires_grad_()
        return _product(mixing, _product(features, self.rows))

    def _numbered(self, features: CSR) -> CSR:
        """The features over the columns that they use, which are noted in ``touched``."""
        meet, number = _numbering_kernels()
        indices, touched = np.empty_like(features.indices), np.empty(len(features.indices), np.int64)
        # In ascending order the rows of W⁰ and of its moments are fetched in two thirds of the time.
        self.touched = np.sort(touched[: meet(features.indices, self._numbers, touched)])
        number(features.indices, self.touched, self._numbers, indices)
        self.batches += 1
        self.changed[self.touched] = self.batches
        return CSR(features.indptr, indices, features.data, len(self.touched))


def _product(matrix: CSR, dense: Tensor) -> Tensor:
    """By PyTorch's own functions and autograd, as on a GPU."""
    indptr, indices, data = (torch.from_numpy(p).to(dense.device) for p in (matrix.indptr, matrix.indices, matrix.data))
    return F.embedding_bag(indices, dense, indptr, mode="sum", per_sample_weights=data, include_last_offset=True)


@functools.cache
def _numbering_kernels() -> tuple[Any, Any]:
    return (
        compiled(_meet, INT32, writable(INT32), writable(INT64)),
        compiled(_number, INT32, INT64, writable(INT32), writable(INT32)),
    )


@functools.cache
def _taking_kernel() -> Any:
    return compiled(_take_rows, matrix(FLOAT32), INT64, writable(matrix(FLOAT32)))


def _take_rows(table, rows, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        if i + AHEAD < len(rows):
            later = table[np.uint64(rows[i + AHEAD])]
            for column in range(0, table.shape[1], LINE):
                prefetch(later, column)
        row = np.uint64(rows[i])
        for column in range(table.shape[1]):
            out[i, column] = table[row, column]


def _meet(indices, numbers, touched):  # type: ignore[no-untyped-def]
    """Which columns there are, each once; how many."""
    count = 0
    for i in range(len(indices)):
        if i + 2 * AHEAD < len(indices):
            prefetch(numbers, np.uint64(indices[i + 2 * AHEAD]))
        column = indices[i]
        touched[count] = column
        count += int(numbers[column] < 0)  # without a branch, as it can't be foreseen
        numbers[column] = 0
    return count


def _number(indices, touched, numbers, out):  # type: ignore[no-untyped-def]
    """Columns by their place among those touched; numbers are -1 again at the end."""
    for i in range(len(touched)):
        numbers[touched[i]] = i
    for i in range(len(indices)):
        out[i] = numbers[indices[i]]
    for i in range(len(touched)):
        numbers[touched[i]] = -1
