"""Sparse matrices of one training step, and their product with a dense one, which can be differentiated."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT32, kernel, writable


@dataclass(frozen=True, eq=False)
class CSR:
    """A sparse matrix of b rows and d columns.

    Attributes
    ----------
    indptr : int32 (b + 1,)
    indices : int32 (stored,)
    data : float32 (stored,)
    width : int
        d.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(b, d)."""
        return len(self.indptr) - 1, self.width

    def multiply(self, dense: Tensor) -> Tensor:
        """The product with a dense matrix. Each row is summed in stored order.

        Parameters
        ----------
        dense : float32 (d, h)

        Returns
        -------
        float32 (b, h)

        Examples
        --------
        >>> matrix = CSR(np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.array([2, 1], np.float32), 2)
        >>> matrix.multiply(torch.eye(2)).tolist()
        [[2.0, 1.0]]
        """
        indptr, indices, data = (torch.from_numpy(part) for part in (self.indptr, self.indices, self.data))
        # A sum of weighted rows is what PyTorch calls an embedding bag, and its kernel for that is the fastest.
        out: Tensor = torch.embedding_bag(dense, indices, indptr, False, 0, False, data, True)[0]
        return out

    def transposed(self) -> CSR:
        """The transposed matrix (d, b), its rows in ascending order of column."""
        indptr = np.zeros(self.width + 1, np.int32)
        indices, data = np.empty_like(self.indices), np.empty_like(self.data)
        _transpose(self.indptr, self.indices, self.data, indptr, indices, data)
        return CSR(indptr, indices, data, self.shape[0])

    def to_dense(self) -> NDArray[np.float32]:
        """The same as a dense matrix (b, d)."""
        return np.asarray(sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape).toarray())


@dataclass(frozen=True, eq=False)
class Factors:
    """Matrices whose product is a batch of inputs: (Π̃X,), or (Π̃, X) with the features of the nodes that it needs.

    Attributes
    ----------
    parts : tuple of CSR
    """

    parts: tuple[CSR, ...]

    def __matmul__(self, dense: Tensor) -> Tensor:
        """The product (b, h) with a dense matrix (d, h), from right to left; only the dense one gets a gradient."""
        product: Tensor = _Product.apply(self, dense)  # type: ignore[no-untyped-call]
        return product

    @functools.cached_property
    def transposed(self) -> tuple[CSR, ...]:
        """The factors transposed, in the same order."""
        return tuple(part.transposed() for part in self.parts)

    def to_dense(self) -> NDArray[np.float32]:
        """The batch as a dense matrix (b, d)."""
        return functools.reduce(np.matmul, (part.to_dense() for part in self.parts))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, factors: Factors, dense: Tensor) -> Tensor:
        ctx.factors = factors
        return _multiply(factors.parts[::-1], dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, _multiply(ctx.factors.transposed, gradients[0].contiguous())


def _multiply(factors: tuple[CSR, ...], dense: Tensor) -> Tensor:
    for factor in factors:
        dense = factor.multiply(dense)
    return dense


@kernel(INT32, INT32, FLOAT32, writable(INT32), writable(INT32), writable(FLOAT32))
def _transpose(indptr, indices, data, out_indptr, out_indices, out_data):
    """Counting sort by column. While values are placed, out_indptr[c + 1] is where column c goes on."""
    for column in indices:
        if column + 2 < len(out_indptr):
            out_indptr[column + 2] += 1
    for column in range(2, len(out_indptr)):
        out_indptr[column] += out_indptr[column - 1]
    for row in range(len(indptr) - 1):
        for j in range(indptr[row], indptr[row + 1]):
            position = out_indptr[indices[j] + 1]
            out_indices[position], out_data[position] = row, data[j]
            out_indptr[indices[j] + 1] = position + 1
