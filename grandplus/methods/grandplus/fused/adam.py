"""Adam in one pass over each parameter."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import types
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT64, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.methods.grandplus.adam import BETAS, EPS
from grandplus.methods.grandplus.mlp import Embedding

AHEAD = 8  # rows that are prefetched


class Adam:
    """Adam (Kingma and Ba, ICLR 2015) with L2 weight decay in the gradient.

    As torch.optim.Adam, whose first use imports PyTorch's compiler: seconds in each process.
    Without clipping a parameter is updated as soon as its gradient is there, and still in the cache.
    An embedding is updated as `grandplus.methods.grandplus.adam.Adam` does it.

    Parameters
    ----------
    parameters : iterable of float32 tensors
        Leaves, on the CPU.
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
        self._moments = {tensor: np.zeros((2, tensor.numel()), np.float32) for tensor in self.parameters}
        if embedding:
            self._first = np.zeros(tuple(embedding.weight.shape), np.float32)
            self._second = np.zeros(embedding.weight.shape[1], np.float32)
        self._steps = 1
        if not clip:
            # Held weakly: a cycle through a hook is never freed, with the parameters and moments in it.
            update = weakref.WeakMethod(self._update)
            for tensor in self.parameters:
                tensor.register_post_accumulate_grad_hook(lambda tensor: update()(tensor))  # type: ignore[no-untyped-call, misc]

    def step(self) -> None:
        """To be called after each backward pass: gradients are used and forgotten."""
        scale = 1.0
        if self.clip:
            rows = [self.embedding.rows] if self.embedding else []
            gradients = [_flat(tensor.grad) for tensor in [*self.parameters, *rows]]
            norm = math.sqrt(sum(float(np.dot(gradient, gradient)) for gradient in gradients))
            scale = min(1.0, self.clip / (norm + 1e-6))
            for tensor in self.parameters:
                self._update(tensor, scale)
        if self.embedding:
            self._update_rows(self.embedding, scale)
        self._steps += 1

    def _update(self, tensor: Tensor, scale: float = 1.0) -> None:
        values, gradient = _flat(tensor.detach()), _flat(tensor.grad)
        _update(values, gradient, *self._moments[tensor], *self._rates(scale))
        tensor.grad = None

    def _update_rows(self, embedding: Embedding, scale: float) -> None:
        assert embedding.rows.grad is not None
        values, gradient = embedding.rows.detach().numpy(), embedding.rows.grad.numpy()
        table = embedding.weight.numpy(), self._first, self._second
        _update_rows(*table, embedding.columns.numpy(), values, gradient, *self._rates(scale))

    def _rates(self, scale: float) -> tuple[float, float, float, float]:
        first, second = (1 - beta**self._steps for beta in BETAS)
        return scale, self.weight_decay, self.lr / first, second


def _flat(tensor: Tensor | None) -> Any:
    assert tensor is not None
    return tensor.numpy().ravel()


@kernel(
    writable(matrix(FLOAT32)), writable(matrix(FLOAT32)), writable(FLOAT32), INT64, matrix(FLOAT32), matrix(FLOAT32),
    *[types.float64] * 4,
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


@kernel(writable(FLOAT32), FLOAT32, writable(FLOAT32), writable(FLOAT32), *[types.float64] * 4)
def _update(parameter, gradient, m, v, scale, weight_decay, rate, second):
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
