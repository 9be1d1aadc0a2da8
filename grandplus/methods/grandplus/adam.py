"""PyTorch's Adam, for models with an embedding too."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from grandplus.methods.grandplus.mlp import Embedding

BETAS = 0.9, 0.999
EPS = 1e-8


class Adam:
    """Adam (Kingma and Ba, ICLR 2015) with L2 weight decay in the gradient, on any device.

    Of an embedding only the rows that the batch used are updated, decay and moments included.

    Parameters
    ----------
    parameters : iterable of float32 tensors
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
        in_one_launch = all(tensor.is_cuda for tensor in self.parameters)
        self._adam = torch.optim.Adam(self.parameters, lr, BETAS, EPS, weight_decay, fused=in_one_launch)
        if embedding is not None:
            self._moments = torch.zeros(2, *embedding.weight.shape, device=embedding.weight.device)
        self._steps = 1

    def step(self) -> None:
        """To be called after each backward pass: gradients are used and forgotten."""
        if self.clip:
            rows = [self.embedding.rows] if self.embedding is not None else []
            nn.utils.clip_grad_norm_([*self.parameters, *rows], self.clip)
        self._adam.step()
        self._adam.zero_grad()
        if self.embedding is not None:
            self._update_rows(self.embedding)
        self._steps += 1

    def _update_rows(self, embedding: Embedding) -> None:
        """As torch.optim.SparseAdam, with decay, and with ε where torch.optim.Adam has it."""
        assert embedding.rows.grad is not None
        columns, values, (m, v) = embedding.columns, embedding.rows.detach(), self._moments
        slope = embedding.rows.grad + self.weight_decay * values
        m[columns] = torch.lerp(slope, m[columns], BETAS[0])
        v[columns] = torch.lerp(slope * slope, v[columns], BETAS[1])
        first, second = (1 - beta**self._steps for beta in BETAS)
        embedding.weight[columns] = values - self.lr / first * m[columns] / ((v[columns] / second).sqrt() + EPS)
