"""What a layer of the MLP does to its input before the product: ReLU, row norm, BatchNorm, dropout.

All of it is one pass for the values and one for the gradients, where PyTorch's own functions take a call and a copy
each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor, nn

from grandplus.kernels.compiled import FLOAT32, jitable, kernel, matrix, writable
from grandplus.kernels.random import SPREAD, mix
from grandplus.methods.grandplus.mlp import SMALLEST_NORM


def layer_input(
    x: Tensor,
    norm: nn.BatchNorm1d | None,
    *,
    relu: bool,
    row_norm: bool,
    dropout: float,
    augmentations: int,
    rng: np.random.Generator,
) -> Tensor:
    """As `grandplus.methods.grandplus.model.layer_input` while training, with a dropout that ``rng`` seeds."""
    seed = np.int64(rng.integers(2**63)) if dropout > 0 else np.int64(0)
    scale = (norm.weight, norm.bias) if norm else (None, None)
    outputs: Tensor = _LayerInput.apply(x, *scale, norm, relu, row_norm, dropout, augmentations, seed)  # type: ignore[no-untyped-call]
    return outputs


class _LayerInput(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        norm: nn.BatchNorm1d | None,
        relu: bool,
        row_norm: bool,
        dropout: float,
        augmentations: int,
        seed: np.int64,
    ) -> Tensor:
        inputs = x.detach().contiguous().numpy()
        normed, out = np.empty_like(inputs), np.empty_like(inputs)
        length = np.ones(len(inputs), np.float32)  # of rows
        deviation = np.ones((augmentations, inputs.shape[1]), np.float32)
        if norm is None or weight is None or bias is None:
            nothing = np.empty(0, np.float32)
            affine = running = (nothing, nothing)
            eps = momentum = 0.0
        else:
            affine = weight.detach().numpy(), bias.detach().numpy()
            running = norm.running_mean.numpy(), norm.running_var.numpy()  # type: ignore[union-attr]
            eps, momentum = norm.eps, norm.momentum or 0.0
        switches = relu, row_norm, norm is not None, float(dropout), seed
        _forward(inputs, *affine, *running, eps, momentum, *switches, normed, length, deviation, out)
        ctx.saved = inputs, affine[0], switches, normed, length, deviation
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        inputs, weight, switches, normed, length, deviation = ctx.saved
        wanted = ctx.needs_input_grad[0]
        of_x = np.empty_like(inputs if wanted else inputs[:0])
        of_weight, of_bias = np.zeros_like(weight), np.zeros_like(weight)
        upstream = gradients[0].contiguous().numpy()
        _backward(upstream, inputs, weight, *switches, normed, length, deviation, of_x, of_weight, of_bias)
        of_affine = (torch.from_numpy(of_weight), torch.from_numpy(of_bias)) if len(weight) else (None, None)
        return torch.from_numpy(of_x) if wanted else None, *of_affine, *[None] * 6


_MATRIX = matrix(FLOAT32)
_SWITCHES = types.boolean, types.boolean, types.boolean, types.float64, types.int64


@kernel(
    _MATRIX, FLOAT32, FLOAT32, writable(FLOAT32), writable(FLOAT32), types.float64, types.float64, *_SWITCHES,
    *map(writable, (_MATRIX, FLOAT32, _MATRIX, _MATRIX)),
)  # fmt: skip
def _forward(
    x, weight, bias, running_mean, running_var, eps, momentum, relu, row_norm, batch_norm, dropout, seed,
    normed, length, deviation, out,
):  # fmt: skip
    """Fills out, and for the gradients: normed (after ReLU and both norms), length of rows, deviation of columns."""
    rows, width = x.shape
    for row in range(rows):
        for column in range(width):
            value = x[row, column]
            normed[row, column] = max(value, np.float32(0)) if relu else value
        if row_norm:
            length[row] = max(np.float32(np.sqrt(_dot(normed[row], normed[row]))), np.float32(SMALLEST_NORM))
            inverse = np.float32(1) / length[row]
            for column in range(width):
                normed[row, column] *= inverse
    if batch_norm:
        size = rows // len(deviation)
        for part in range(len(deviation)):
            block = normed[part * size : (part + 1) * size]
            _standardize(block, eps, np.float32(momentum), running_mean, running_var, deviation[part])
    keep, bar = _keep(dropout)
    for row in range(rows):
        key, other_key = _keys(seed, row)
        for column in range(width):
            value = normed[row, column]
            if batch_norm:
                value = value * weight[column] + bias[column]
            kept = _hash(np.uint32(column) + key, other_key) >= bar
            out[row, column] = value * keep if kept else np.float32(0)


@kernel(
    _MATRIX, _MATRIX, FLOAT32, *_SWITCHES, _MATRIX, FLOAT32, _MATRIX, *map(writable, (_MATRIX, FLOAT32, FLOAT32))
)  # fmt: skip
def _backward(
    upstream, x, weight, relu, row_norm, batch_norm, dropout, seed, normed, length, deviation, of_x, of_weight, of_bias
):
    """The gradients; of_x has no rows if it is not wanted."""
    rows, width = x.shape
    keep, bar = _keep(dropout)
    size = rows // len(deviation)
    gradient = np.empty((size, width), np.float32)
    of_scale, of_shift = np.empty(width, np.float32), np.empty(width, np.float32)  # of this augmentation
    for part in range(len(deviation)):
        of_scale[:] = 0
        of_shift[:] = 0
        for i in range(size):
            row = part * size + i
            key, other_key = _keys(seed, row)
            for column in range(width):
                kept = _hash(np.uint32(column) + key, other_key) >= bar
                value = upstream[row, column] * keep if kept else np.float32(0)
                gradient[i, column] = value
                if batch_norm:
                    of_scale[column] += value * normed[row, column]
                    of_shift[column] += value
        if batch_norm:
            for column in range(width):
                of_weight[column] += of_scale[column]
                of_bias[column] += of_shift[column]
        if len(of_x) == 0:
            continue
        share = np.float32(1 / size)
        for i in range(size):
            row = part * size + i
            line = of_x[row]
            if batch_norm:
                for column in range(width):
                    centred = gradient[i, column] - share * (of_shift[column] + normed[row, column] * of_scale[column])
                    line[column] = centred * weight[column] / deviation[part, column]
            else:
                for column in range(width):
                    line[column] = gradient[i, column]
            if row_norm:
                _through_row_norm(line, x[row], relu, length[row])
            if relu:
                for column in range(width):
                    line[column] = line[column] if x[row, column] > 0 else np.float32(0)


@jitable
def _standardize(part, eps, momentum, running_mean, running_var, deviation):
    """Columns of mean 0 and variance 1, in place; the variance in two passes, for its accuracy."""
    size, width = part.shape
    mean, variance = np.zeros(width, np.float32), np.zeros(width, np.float32)
    for row in range(size):
        for column in range(width):
            mean[column] += part[row, column]
    for column in range(width):
        mean[column] /= np.float32(size)
    for row in range(size):
        for column in range(width):
            centred = part[row, column] - mean[column]
            part[row, column] = centred
            variance[column] += centred * centred
    for column in range(width):
        unbiased = variance[column] / np.float32(size - 1)
        running_mean[column] += momentum * (mean[column] - running_mean[column])
        running_var[column] += momentum * (unbiased - running_var[column])
        deviation[column] = np.sqrt(variance[column] / np.float32(size) + np.float32(eps))
        mean[column] = np.float32(1) / deviation[column]
    for row in range(size):
        for column in range(width):
            part[row, column] *= mean[column]


@jitable
def _through_row_norm(line, x, relu, length):
    """(g - y (y · g)) / ‖x‖ with y = x / ‖x‖, in place; a row as short as the least norm is only scaled."""
    along = np.float32(0)
    if length > np.float32(SMALLEST_NORM):
        for column in range(len(line)):
            value = max(x[column], np.float32(0)) if relu else x[column]
            along += value * line[column]
        along /= length * length
    for column in range(len(line)):
        value = max(x[column], np.float32(0)) if relu else x[column]
        line[column] = (line[column] - along * value) / length


@jitable
def _dot(a, b):
    """Eight sums side by side: in a single one each addition would wait for the last."""
    s = np.zeros(8, np.float32)
    whole = len(a) // 8 * 8
    for start in range(0, whole, 8):
        for i in range(8):
            s[i] += a[start + i] * b[start + i]
    for i in range(whole, len(a)):
        s[i - whole] += a[i] * b[i]
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))


@jitable
def _keep(dropout):
    """What kept values are multiplied with, and the least hash that keeps one."""
    if dropout >= 1:
        return np.float32(0), np.uint32(0)
    return np.float32(1 / (1 - dropout)), np.uint32(dropout * 2.0**32)


@jitable
def _keys(seed, row):
    """64 random bits for a row, in two halves."""
    z = mix(np.uint64(seed) + np.uint64(row + 1) * SPREAD)
    return np.uint32(z), np.uint32(z >> np.uint64(32))


@jitable
def _hash(x, key):
    """32 mixed bits of 32: multiplications that fit vector registers, so eight columns go at once.

    The constants are those of a search for low bias (Wellons, "Prospecting for hash functions", 2018).
    """
    x = np.uint32(x)
    x ^= x >> np.uint32(16)
    x = np.uint32(x * np.uint32(0x7FEB352D))
    x ^= x >> np.uint32(15)
    x ^= key
    x = np.uint32(x * np.uint32(0x846CA68B))
    x ^= x >> np.uint32(16)
    return x
