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

    Of an embedding W⁰ only the rows that the batch used are updated, decay and first moments included. The second
    moment is one for each column of W⁰, the mean over these rows: so the rows of a column move in proportion to their
    gradients. With a second moment of its own each row would move equally far, that of a word which a single labelled
    node has as far as that of a word which tells the class. Then rare words fit the labelled nodes before the model
    has learned anything about others (Wilson et al., The marginal value of adaptive gradient methods in machine
    learning, NeurIPS 2017, section 3), and the consistency loss spreads what it guesses.

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
            self._first = torch.zeros_like(embedding.weight)
            self._second = torch.zeros_like(embedding.weight[0])
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
        assert embedding.rows.grad is not None
        columns, values = embedding.columns, embedding.rows.detach()
        slope = embedding.rows.grad + self.weight_decay * values
        self._first[columns] = torch.lerp(slope, self._first[columns], BETAS[0])
        self._second.lerp_(slope.square().sum(dim=0) / max(len(columns), 1), 1 - BETAS[1])
        first, second = (1 - beta**self._steps for beta in BETAS)
        deviations = (self._second / second).sqrt() + EPS
        embedding.weight[columns] = values - self.lr / first * self._first[columns] / deviations
