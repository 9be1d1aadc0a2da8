"""Small sparse matrices of one training step: product, its gradient, and transpose."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT32, compiled, writable


@dataclass(frozen=True, eq=False)
class CSR:
    """b rows of d columns: int32 (b + 1,), int32 (stored,), float32 (stored,)."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width

    def multiply(self, dense: Tensor) -> Tensor:
        """The product with a dense (d, h): float32 (b, h). Each row is summed in stored order.

        >>> matrix = CSR(np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.array([2, 1], np.float32), 2)
        >>> matrix.multiply(torch.eye(2)).tolist()
        [[2.0, 1.0]]
        """
        indptr, indices, data = (torch.from_numpy(part) for part in (self.indptr, self.indices, self.data))
        # A sum of weighted rows is what PyTorch calls an embedding bag, and its kernel for that is the fastest.
        out: Tensor = torch.embedding_bag(dense, indices, indptr, False, 0, False, data, True)[0]
        return out

    def transposed(self) -> CSR:
        """(d, b), its rows in ascending order of column."""
        indptr = np.zeros(self.width + 1, np.int32)
        indices, data = np.empty_like(self.indices), np.empty_like(self.data)
        _transpose_kernel()(self.indptr, self.indices, self.data, indptr, indices, data)
        return CSR(indptr, indices, data, self.shape[0])

    def to_dense(self) -> NDArray[np.float32]:
        return np.asarray(sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape).toarray())


class Product(torch.autograd.Function):
    """A dense matrix (d, h) multiplied from the left with the last factor, the one before, and so on.

    transposed : gives the transposed factors, called when a gradient is wanted
    """

    @staticmethod
    def forward(ctx: Any, factors: Sequence[CSR], transposed: Callable[[], Sequence[CSR]], dense: Tensor) -> Tensor:
        ctx.transposed = transposed
        return _multiply(factors[::-1], dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor]:
        return None, None, _multiply(ctx.transposed(), gradients[0].contiguous())


def _multiply(factors: Sequence[CSR], dense: Tensor) -> Tensor:
    for factor in factors:
        dense = factor.multiply(dense)
    return dense


@functools.cache
def _transpose_kernel() -> Any:
    return compiled(_transpose, INT32, INT32, FLOAT32, writable(INT32), writable(INT32), writable(FLOAT32))


def _transpose(indptr, indices, data, out_indptr, out_indices, out_data):  # type: ignore[no-untyped-def]
    """Counting sort by column. While values are placed, out_indptr[c + 1] is where column c goes on."""
    for column in indices:
        if column + 2 < len(out_indptr):
            out_indptr[column + 2] += 1
    for column in range(2, len(out_indptr)):
        out_indptr[column] += out_indptr[column - 1]
    for row in range(len(indptr) - 1):
        for j in range(indptr[row], indptr[row + 1]):
            at = out_indptr[indices[j] + 1]
            out_indices[at], out_data[at] = row, data[j]
            out_indptr[indices[j] + 1] = at + 1
