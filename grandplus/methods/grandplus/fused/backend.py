"""The steps of a training by fused kernels."""

from __future__ import annotations

import functools

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.embedding import Columns, take_rows
from grandplus.methods.grandplus.fused.layer_input import layer_input
from grandplus.methods.grandplus.fused.losses import losses
from grandplus.methods.grandplus.fused.random_propagation import Batch, RandomPropagation
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task


class Fused:
    """As `grandplus.methods.grandplus.method.Plain`, on the CPU.

    Parameters
    ----------
    task : Task
    settings : Settings
    mlp : MLP
        Is trained.
    rng : numpy Generator
        Draws the seeds of DropNode and of dropout.
    """

    def __init__(self, task: Task, settings: Settings, mlp: MLP, rng: np.random.Generator) -> None:
        assert task.rows is not None
        self.settings, self.mlp, self.rng = settings, mlp, rng
        # Sparse features stay sparse into the first layer where they can; their dropout is drawn with them.
        self.propagation = RandomPropagation(
            task.graph.features,
            task.rows,
            dropnode=settings.dropnode,
            renormalize=settings.renormalize,
            sparse=sp.issparse(task.graph.features) and mlp.takes_sparse,
            dropout=0.0 if settings.embed else settings.dropout_input,
        )
        self.columns = Columns(mlp.features) if mlp.embedding else None
        self.adam = Adam(mlp.parameters(), settings.lr, settings.weight_decay, settings.clip, mlp.embedding)

    def augmented(self, nodes: NDArray[np.int64]) -> Batch:
        """X̄ of each augmentation: (M · b, d)."""
        return self.propagation.draw(nodes, self.rng, augmentations=self.settings.augmentations)

    def undropped(self, nodes: NDArray[np.int64]) -> Batch:
        """What validation sees: (b, d)."""
        return self.propagation.expected(nodes)

    def logits(self, inputs: Batch) -> Tensor:
        """(M · b, C), with dropout."""
        if self.mlp.embedding is not None and isinstance(inputs, Factors):
            assert self.columns is not None
            mixing, features = inputs.parts
            columns, features = self.columns.used(features)
            rows = torch.from_numpy(take_rows(self.mlp.embedding.weight.numpy(), columns))
            inputs = Factors((mixing, features)) @ self.mlp.embedding.use(torch.from_numpy(columns), rows)
        return self.mlp.forward(
            inputs, functools.partial(layer_input, augmentations=self.settings.augmentations, rng=self.rng)
        )

    def losses(self, logits: Tensor, labels: Tensor, weight: float) -> tuple[Tensor, float]:
        """Supervised + λ · consistency, and the latter; of logits (M, b, C) and labels (l,)."""
        return losses(logits, labels, self.settings, weight)
