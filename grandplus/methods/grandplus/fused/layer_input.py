"""What a layer of the MLP does to its input before the product: ReLU, row norm, BatchNorm, dropout.

All of it is one pass for the values and one for the gradients, where PyTorch's own functions take a call and a copy
each.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from numba import types
from numpy.typing import NDArray
from torch import nn

from grandplus.kernels.compiled import FLOAT32, jitable, kernel, matrix, writable
from grandplus.kernels.dropout import keep_of, mixed, row_keys
from grandplus.kernels.vectors import fma
from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.mlp import SMALLEST_NORM


class LayerInput:
    """As `grandplus.methods.grandplus.mlp.layer_input` while training.

    Parameters
    ----------
    norm : BatchNorm1d or None
        Is trained.
    relu, row_norm : bool
    dropout : float
    augmentations : int
        M.
    adam : Adam
        Is given the gradients of ``norm``.
    wanted : bool
        Whether ``backward`` is to give a gradient. If not, ``forward`` may overwrite its input, and the inputs of
        validation have gone through the norm of rows.
    """

    def __init__(
        self, norm: nn.BatchNorm1d | None, *, relu: bool, row_norm: bool, dropout: float, augmentations: int,
        adam: Adam, wanted: bool,
    ) -> None:  # fmt: skip
        self.norm, self.augmentations, self.adam, self.wanted = norm, augmentations, adam, wanted
        self.relu, self.row_norm, self.dropout = relu, row_norm, float(dropout)
        nothing = np.empty(0, np.float32)
        self._affine = self._running = nothing, nothing
        self._constants = 0.0, 0.0  # eps and momentum
        if norm is not None:
            self._affine = norm.weight.detach().numpy(), norm.bias.detach().numpy()
            self._running = norm.running_mean.numpy(), norm.running_var.numpy()  # type: ignore[union-attr]
            self._constants = norm.eps, norm.momentum or 0.0
        self._memory = Memory()

    def forward(self, x: NDArray[np.float32], seed: np.int64 | None) -> NDArray[np.float32]:
        """(M · b, d) of inputs (M · b, d); the seed is that of the dropout, and None in validation."""
        if seed is None:
            return self._evaluate(x)
        switches = self.relu, self.row_norm, self.norm is not None, self.dropout, seed
        rows, width = x.shape
        normed = x
        if self.wanted:
            normed = self._memory.array("normed", rows, width)
            np.maximum(x, np.float32(0) if self.relu else np.float32(-np.inf), out=normed)
        length = self._memory.array("length", rows)
        deviation = self._memory.array("deviation", self.augmentations, width)
        out = self._memory.array("out", rows, width)
        _forward(normed, *self._affine, *self._running, *self._constants, *switches[1:], length, deviation, out)
        self._saved = x, self._affine[0], *switches, normed, length, deviation
        return out

    def _evaluate(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """Nothing is dropped, and BatchNorm's statistics are the running ones."""
        out = self._memory.array("out", *x.shape)
        if self.relu:
            x = np.maximum(x, np.float32(0), out=out)
        if self.row_norm and self.wanted:  # the first layer's inputs are constant, and have been normalised once
            x = F.normalize(torch.from_numpy(x), dim=1, eps=SMALLEST_NORM).numpy()
        if self.norm is not None:
            _standardize_by_running(x, *self._affine, *self._running, self._constants[0], out)
            return out
        return x

    def backward(self, upstream: NDArray[np.float32]) -> NDArray[np.float32]:
        """The gradient (M · b, d) of the inputs, of no rows if it isn't wanted."""
        if not self.wanted and self.norm is None:
            return upstream[:0]
        rows, width = upstream.shape
        of_x = self._memory.array("gradient", rows if self.wanted else 0, width)
        of_affine = [self._memory.array(name, len(self._affine[0])) for name in ("weight", "bias")]
        _backward(upstream, *self._saved, of_x, *of_affine)
        if self.norm is not None:
            self.adam.take(self.norm.weight, of_affine[0])
            self.adam.take(self.norm.bias, of_affine[1])
        return of_x


_MATRIX = matrix(FLOAT32)
_SWITCHES = types.boolean, types.boolean, types.boolean, types.float64, types.int64


@kernel(
    writable(_MATRIX), FLOAT32, FLOAT32, writable(FLOAT32), writable(FLOAT32), types.float64, types.float64,
    *_SWITCHES[1:], *map(writable, (FLOAT32, _MATRIX, _MATRIX)),
)  # fmt: skip
def _forward(
    normed, weight, bias, running_mean, running_var, eps, momentum, row_norm, batch_norm, dropout, seed,
    length, deviation, out,
):  # fmt: skip
    """Fills out, and for the gradients: normed (after both norms), length of rows, deviation of columns."""
    rows, width = normed.shape
    if row_norm:
        for row in range(rows):
            line = normed[row]
            length[row] = max(np.float32(np.sqrt(_dot(line, line))), np.float32(SMALLEST_NORM))
            inverse = np.float32(1) / length[row]
            for column in range(width):
                line[column] *= inverse
    if batch_norm:
        size = rows // len(deviation)
        for part in range(len(deviation)):
            block = normed[part * size : (part + 1) * size]
            _standardize(block, eps, np.float32(momentum), running_mean, running_var, deviation[part])
    keep, bar = keep_of(dropout)
    for row in range(rows):
        key, other_key = row_keys(seed, row)
        for column in range(width):
            value = normed[row, column]
            if batch_norm:
                value = value * weight[column] + bias[column]
            kept = mixed(np.uint32(column) + key, other_key) >= bar
            out[row, column] = value * keep if kept else np.float32(0)


@kernel(
    _MATRIX, _MATRIX, FLOAT32, *_SWITCHES, _MATRIX, FLOAT32, _MATRIX, *map(writable, (_MATRIX, FLOAT32, FLOAT32))
)  # fmt: skip
def _backward(
    upstream, x, weight, relu, row_norm, batch_norm, dropout, seed, normed, length, deviation, of_x, of_weight, of_bias
):
    """The gradients; of_x has no rows if it is not wanted."""
    of_weight[:] = 0
    of_bias[:] = 0
    rows, width = x.shape
    keep, bar = keep_of(dropout)
    size = rows // len(deviation)
    gradient = np.empty((size, width), np.float32)
    of_scale, of_shift = np.empty(width, np.float32), np.empty(width, np.float32)  # of this augmentation
    for part in range(len(deviation)):
        of_scale[:] = 0
        of_shift[:] = 0
        for i in range(size):
            row = part * size + i
            key, other_key = row_keys(seed, row)
            for column in range(width):
                kept = mixed(np.uint32(column) + key, other_key) >= bar
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


@kernel(_MATRIX, *[FLOAT32] * 4, types.float64, writable(_MATRIX))
def _standardize_by_running(x, weight, bias, mean, variance, eps, out):
    """Rounded as PyTorch does it; out may be x itself."""
    width = x.shape[1]
    factor, shift = np.empty(width, np.float32), np.empty(width, np.float32)
    for column in range(width):
        inverse = np.float32(1) / np.sqrt(variance[column] + np.float32(eps))
        factor[column] = inverse * weight[column]
        shift[column] = fma(-mean[column], factor[column], bias[column])
    for row in range(len(x)):
        for column in range(width):
            out[row, column] = fma(x[row, column], factor[column], shift[column])


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
