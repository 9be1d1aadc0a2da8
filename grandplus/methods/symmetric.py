"""The product of a symmetric sparse matrix with a dense one, for networks over the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT64, kernel, matrix, writable
from grandplus.kernels.products import multiply_rows


class SymmetricProduct:
    """For a layer of PyTorch Geometric, before it in the list of bases: it multiplies by a symmetric sparse matrix.

    The gradient of ÂX needs Âᵀ, which PyTorch would make anew at every step, in ten times the time of the product.
    """

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor) -> Tensor:
        return symmetric_product(adj_t, x)


def symmetric_product(symmetric: Tensor, x: Tensor) -> Tensor:
    """The product of a symmetric sparse matrix (n, n), which has no gradient, with x (n, h).

    On a CPU, single precision has a kernel of its own: PyTorch's operations take more than twice as long.
    """
    out: Tensor = _SymmetricProduct.apply(symmetric, x)  # type: ignore[no-untyped-call]
    return out


class _SymmetricProduct(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, symmetric: Tensor, x: Tensor) -> Tensor:
        context.symmetric = symmetric
        return _product(symmetric, x)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, _product(context.symmetric, gradient)


def _product(symmetric: Tensor, x: Tensor) -> Tensor:
    if x.device.type != "cpu" or x.dtype != torch.float32:
        return symmetric @ x
    out = torch.empty(x.shape)
    parts = symmetric.crow_indices(), symmetric.col_indices(), symmetric.values(), x.detach().contiguous(), out
    _multiply(*(part.numpy() for part in parts))
    return out


@kernel(INT64, INT64, FLOAT32, matrix(FLOAT32), writable(matrix(FLOAT32)))
def _multiply(indptr, indices, data, table, out):
    multiply_rows(indptr, indices, data, np.int64(0), np.int64(len(out)), table, out)
