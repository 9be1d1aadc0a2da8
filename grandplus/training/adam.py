"""Adam on the CPU in one pass over each parameter, and PyTorch's on a GPU."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numba import types
from torch import Tensor

from grandplus.compiled import FLOAT32, compiled, writable

BETAS = 0.9, 0.999
EPS = 1e-8


class Adam:
    """Adam (Kingma and Ba, ICLR 2015) with L2 weight decay in the gradient.

    As torch.optim.Adam, whose first use imports PyTorch's compiler: seconds in each process.
    Without clipping a parameter is updated as soon as its gradient is there, and still in the cache.

    Parameters
    ----------
    parameters : float32, on the CPU
    clip : largest norm of all gradients together; 0: no clipping
    """

    def __init__(self, parameters: Iterable[Tensor], lr: float, weight_decay: float, clip: float) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay, self.clip = lr, weight_decay, clip
        self._moments = {tensor: np.zeros((2, tensor.numel()), np.float32) for tensor in self.parameters}
        self._steps = 1
        if not clip:
            for tensor in self.parameters:
                tensor.register_post_accumulate_grad_hook(self._update)  # type: ignore[no-untyped-call]

    def step(self) -> None:
        """To be called after each backward pass: gradients are used and forgotten."""
        if self.clip:
            gradients = [_flat(tensor.grad) for tensor in self.parameters]
            norm = math.sqrt(sum(float(np.dot(gradient, gradient)) for gradient in gradients))
            scale = min(1.0, self.clip / (norm + 1e-6))
            for tensor in self.parameters:
                self._update(tensor, scale)
        self._steps += 1

    def _update(self, tensor: Tensor, scale: float = 1.0) -> None:
        first, second = (1 - beta**self._steps for beta in BETAS)
        values, gradient = _flat(tensor.detach()), _flat(tensor.grad)
        _kernel()(values, gradient, *self._moments[tensor], scale, self.weight_decay, self.lr / first, second)
        tensor.grad = None


class AdamOnGPU:
    """The same by PyTorch."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, weight_decay: float, clip: float) -> None:
        self.parameters, self.clip = list(parameters), clip
        self._adam = torch.optim.Adam(self.parameters, lr, BETAS, EPS, weight_decay, fused=True)

    def step(self) -> None:
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self._adam.step()
        self._adam.zero_grad(set_to_none=True)


def _flat(tensor: Tensor | None) -> Any:
    assert tensor is not None
    return tensor.numpy().ravel()


@functools.cache
def _kernel() -> Any:
    changed = [writable(FLOAT32)] * 2
    return compiled(_update, writable(FLOAT32), FLOAT32, *changed, *[types.float64] * 4)


def _update(parameter, gradient, m, v, scale, weight_decay, rate, second):  # type: ignore[no-untyped-def]
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
