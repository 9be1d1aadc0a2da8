"""Adam in one pass over each parameter."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numba import types
from numpy.typing import NDArray
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT32, INT64, jitable, kernel, matrix, some_columns, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.kernels.products import multiply_rows
from grandplus.methods.grandplus.adam import BETAS, EPS
from grandplus.methods.grandplus.fused.csr import CSR
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.mlp import Embedding

AHEAD = 8  # rows that are prefetched
TILE = 64  # rows of a gradient that are made and used at a time, in the innermost cache


class Adam:
    """Adam (Kingma and Ba, ICLR 2015) with L2 weight decay in the gradient.

    As torch.optim.Adam, whose first use imports PyTorch's compiler: seconds in each process.
    Without clipping a parameter is updated as soon as its gradient is there, and still in the cache.
    An embedding is updated as `grandplus.methods.grandplus.adam.Adam` does it.

    Parameters
    ----------
    parameters : iterable of float32 tensors
        On the CPU. Each gets a gradient at every step.
    lr : float
    weight_decay : float
    clip : float
        Largest norm of all gradients together; 0: no clipping.
    embedding : Embedding, optional
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        weight_decay: float,
        clip: float,
        embedding: Embedding | None = None,
    ) -> None:
        self.parameters, self.embedding = list(parameters), embedding
        self.lr, self.weight_decay, self.clip = lr, weight_decay, clip
        self.gradients: dict[Tensor, NDArray[np.float32]] = {}  # that wait for the norm of all, if it is limited
        self._values = {tensor: tensor.detach().numpy() for tensor in self.parameters}
        self._moments = {tensor: np.zeros((2, *tensor.shape), np.float32) for tensor in self.parameters}
        self._memory = {tensor: Memory() for tensor in self.parameters}
        if embedding:
            self._first = np.zeros(tuple(embedding.weight.shape), np.float32)
            self._second = np.zeros(embedding.weight.shape[1], np.float32)
        self._steps = 1

    def take(self, tensor: Tensor, gradient: NDArray[np.float32]) -> None:
        """Use the gradient of a parameter, now or at the end of the step.

        Parameters
        ----------
        tensor : Tensor
            Of ``parameters``.
        gradient : float32 of its shape
            Stays as it is until the end of the step.
        """
        self.gradients[tensor] = gradient
        if not self.clip:
            self._update(tensor, 1.0)

    def take_product(self, tensor: Tensor, transposed: CSR, upstream: NDArray[np.float32]) -> None:
        """Use the gradient XᵀG of a parameter W that is in a product XW.

        Parameters
        ----------
        tensor : Tensor (d, h)
            Of ``parameters``.
        transposed : CSR (d, b)
            Xᵀ.
        upstream : float32 (b, h)
            G, some columns of a matrix.
        """
        if self.clip:
            gradient = self._memory[tensor].array("gradient", *tensor.shape)
            self.take(tensor, transposed.multiply(upstream, gradient))
            return
        parts = transposed.indptr, transposed.indices, transposed.data, upstream
        _update_from_product(*parts, self._values[tensor], *self._moments[tensor], *self._rates(1.0))

    def take_rows(self, gradient: NDArray[np.float32]) -> None:
        """Use the gradient of the embedding's rows: float32 (t, h)."""
        assert self.embedding is not None
        self.gradients[self.embedding.rows] = gradient

    def step(self) -> None:
        """To be called when all gradients have been given: those that wait are used."""
        scale = 1.0
        if self.clip:
            rows = [self.embedding.rows] if self.embedding else []
            gradients = [self.gradients[tensor].ravel() for tensor in [*self.parameters, *rows]]
            norm = math.sqrt(sum(_square_of_length(gradient) for gradient in gradients))
            scale = min(1.0, self.clip / (norm + 1e-6))
            for tensor in self.parameters:
                self._update(tensor, scale)
        if self.embedding:
            self._update_rows(self.embedding, scale)
        self._steps += 1

    def _update(self, tensor: Tensor, scale: float) -> None:
        arrays = self._values[tensor], self.gradients[tensor], *self._moments[tensor]
        _update(*(array.reshape(-1) for array in arrays), *self._rates(scale))

    def _update_rows(self, embedding: Embedding, scale: float) -> None:
        table = embedding.weight.numpy(), self._first, self._second
        values, gradient = embedding.rows.detach().numpy(), self.gradients.pop(embedding.rows)
        _update_rows(*table, embedding.columns.numpy(), values, gradient, *self._rates(scale))

    def _rates(self, scale: float) -> tuple[float, float, float, float]:
        first, second = (1 - beta**self._steps for beta in BETAS)
        return scale, self.weight_decay, self.lr / first, second


_RATES = [types.float64] * 4


@kernel(FLOAT32)
def _square_of_length(vector):
    """In float64, and in the same order on every processor. A single sum would have each addition wait for the last."""
    sums, whole = np.zeros(8), len(vector) // 8 * 8
    for start in range(0, whole, 8):
        for i in range(8):
            sums[i] += np.float64(vector[start + i]) * np.float64(vector[start + i])
    for i in range(whole, len(vector)):
        sums[i - whole] += np.float64(vector[i]) * np.float64(vector[i])
    return sums.sum()


@kernel(
    writable(matrix(FLOAT32)), writable(matrix(FLOAT32)), writable(FLOAT32), INT64, matrix(FLOAT32), matrix(FLOAT32),
    *_RATES,
)  # fmt: skip
def _update_rows(parameter, moments, second_moments, columns, values, gradient, scale, weight_decay, rate, second):
    """Rows of an embedding, which lie anywhere in memory: so later ones are prefetched."""
    scale, decay = np.float32(scale), np.float32(weight_decay)
    keep, new = np.float32(BETAS[0]), np.float32(1 - BETAS[0])
    count, width = values.shape
    squares, steps = np.zeros(width), np.empty(width, np.float32)
    for i in range(count):
        for j in range(width):
            slope = scale * gradient[i, j] + decay * values[i, j]
            squares[j] += np.float64(slope) * np.float64(slope)
    for j in range(width):
        second_moments[j] = BETAS[1] * second_moments[j] + (1 - BETAS[1]) * squares[j] / max(count, 1)
        steps[j] = rate / (np.sqrt(second_moments[j] / second) + EPS)
    for i in range(count):
        if i + AHEAD < count:
            later = np.uint64(columns[i + AHEAD])
            for column in range(0, width, LINE):
                prefetch(parameter[later], column)
                prefetch(moments[later], column)
        row = np.uint64(columns[i])
        weights, m = parameter[row], moments[row]
        for j in range(width):
            slope = scale * gradient[i, j] + decay * values[i, j]
            m[j] = keep * m[j] + new * slope
            weights[j] = values[i, j] - steps[j] * m[j]


@kernel(writable(FLOAT32), FLOAT32, writable(FLOAT32), writable(FLOAT32), *_RATES)
def _update(parameter, gradient, m, v, scale, weight_decay, rate, second):
    _follow(parameter, gradient, m, v, scale, weight_decay, rate, second)


@kernel(
    INT32, INT32, FLOAT32, some_columns(matrix(FLOAT32)), *[writable(matrix(FLOAT32))] * 3, *_RATES
)  # fmt: skip
def _update_from_product(
    indptr, indices, data, upstream, parameter, m, v, scale, weight_decay, rate, second
):  # fmt: skip
    """The gradient is a product; it is never in memory as a whole."""
    rows, width = parameter.shape
    gradient = np.empty((min(TILE, rows), width), np.float32)
    for start in range(0, rows, TILE):
        end = min(start + TILE, rows)
        multiply_rows(indptr, indices, data, start, end, upstream, gradient[: end - start])
        _follow(
            parameter[start:end].reshape(-1), gradient[: end - start].reshape(-1), m[start:end].reshape(-1),
            v[start:end].reshape(-1), scale, weight_decay, rate, second,
        )  # fmt: skip


@jitable
def _follow(parameter, gradient, m, v, scale, weight_decay, rate, second):
    """All in float32, as vector registers hold eight of them. second: 1 - β₂ᵗ"""
    scale, decay, rate = np.float32(scale), np.float32(weight_decay), np.float32(rate)
    deviation, eps = np.float32(1 / np.sqrt(second)), np.float32(EPS)
    keep_first, keep_second = np.float32(BETAS[0]), np.float32(BETAS[1])
    new_first, new_second = np.float32(1 - BETAS[0]), np.float32(1 - BETAS[1])
    for i in range(len(parameter)):
        slope = scale * gradient[i] + decay * parameter[i]
        m[i] = keep_first * m[i] + new_first * slope
        v[i] = keep_second * v[i] + new_second * (slope * slope)
        parameter[i] -= rate * m[i] / (np.sqrt(v[i]) * deviation + eps)
