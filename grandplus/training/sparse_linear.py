"""The first layer on sparse inputs: x W + b that touches only the rows of W that x needs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor

from grandplus.compiled import FLOAT32, INT32, INT64, compiled
from grandplus.training.random_propagation import SparseBatch


def sparse_linear(inputs: SparseBatch, weight: Tensor, bias: Tensor) -> Tensor:
    """(b, h) = inputs (b, d) · weight (d, h) + bias (h,), on the CPU, with gradients of weight and bias."""
    outputs: Tensor = _SparseLinear.apply(inputs, weight, bias)  # type: ignore[no-untyped-call]
    return outputs


class _SparseLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: SparseBatch, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.inputs, ctx.shape = inputs, weight.shape
        out = bias.detach().expand(inputs.shape[0], -1).contiguous()
        if out.data_ptr() == bias.data_ptr():  # a batch of one is a view
            out = out.clone()
        _forward_kernel()(inputs.indptr, inputs.indices, inputs.data, weight.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        gradient = gradients[0].contiguous()
        inputs = ctx.inputs
        of_weight = torch.zeros(ctx.shape)
        _backward_kernel()(inputs.indptr, inputs.indices, inputs.data, gradient.numpy(), of_weight.numpy())
        return None, of_weight, gradient.sum(dim=0)


@functools.cache
def _forward_kernel() -> Any:
    return compiled(_multiply, INT64, INT32, FLOAT32, *_matrices())


@functools.cache
def _backward_kernel() -> Any:
    return compiled(_multiply_transposed, INT64, INT32, FLOAT32, *_matrices())


def _matrices() -> list[types.Array]:
    return [types.Array(types.float32, 2, "C", readonly=readonly) for readonly in (True, False)]


def _multiply(indptr, indices, data, weight, out):  # type: ignore[no-untyped-def]
    """Four stored values at a time: a row of ``out`` is loaded and stored once for them."""
    for row in range(len(indptr) - 1):
        j, end = indptr[row], indptr[row + 1]
        while j + 4 <= end:
            a, b, c, d = indices[j], indices[j + 1], indices[j + 2], indices[j + 3]
            va, vb, vc, vd = data[j], data[j + 1], data[j + 2], data[j + 3]
            for column in range(weight.shape[1]):
                out[row, column] += (va * weight[a, column] + vb * weight[b, column]) + (
                    vc * weight[c, column] + vd * weight[d, column]
                )
            j += 4
        while j < end:
            for column in range(weight.shape[1]):
                out[row, column] += data[j] * weight[indices[j], column]
            j += 1


def _multiply_transposed(indptr, indices, data, gradient, out):  # type: ignore[no-untyped-def]
    for row in range(len(indptr) - 1):
        for j in range(indptr[row], indptr[row + 1]):
            value, target = data[j], np.uint32(indices[j])
            for column in range(gradient.shape[1]):
                out[target, column] += value * gradient[row, column]
