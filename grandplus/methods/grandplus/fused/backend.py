"""The steps of a training by fused kernels, in memory that is kept from step to step, without autograd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, cast

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.embedding import Embedded
from grandplus.methods.grandplus.fused.layer_input import LayerInput
from grandplus.methods.grandplus.fused.linear import Linear, SparseLinear
from grandplus.methods.grandplus.fused.losses import losses
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.fused.random_propagation import Batch, RandomPropagation
from grandplus.methods.grandplus.mlp import MLP, SMALLEST_NORM
from grandplus.methods.grandplus.mlp import SparseLinear as Blocks
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task


class Layer(Protocol):
    """A piece of the MLP that knows its gradients."""

    def forward(self, x: Any, rng: np.random.Generator | None, /) -> NDArray[np.float32]:
        """What it puts out; ``rng`` draws what is dropped, and is None in validation."""

    def backward(self, upstream: NDArray[np.float32], /) -> NDArray[np.float32]:
        """The gradient of its inputs; those of its parameters go to Adam."""


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
        sparse = sp.issparse(task.graph.features) and mlp.takes_sparse
        self.propagation = RandomPropagation(
            task.graph.features,
            task.rows,
            dropnode=settings.dropnode,
            renormalize=settings.renormalize,
            sparse=sparse,
            dropout=0.0 if settings.embed else settings.dropout_input,
        )
        self.adam = Adam(mlp.parameters(), settings.lr, settings.weight_decay, settings.clip, mlp.embedding)
        self.layers: list[Layer] = list(_layers(mlp, settings, self.adam, sparse=sparse))
        self.memory = Memory()

    def step(self, nodes: NDArray[np.int64], labels: NDArray[np.int64], weight: float) -> tuple[float, float]:
        """Train on nodes (b,), of which the first have these labels (l,): the total loss, the consistency loss."""
        augmentations = self.settings.augmentations
        values: Any = self.propagation.draw(nodes, self.rng, augmentations=augmentations, memory=self.memory)
        for layer in self.layers:
            values = layer.forward(values, self.rng)
        logits = values.reshape(augmentations, len(nodes), -1)
        gradient = self.memory.array("gradient", *logits.shape)
        loss = losses(logits, labels, self.settings, weight, gradient)
        gradient = gradient.reshape(values.shape)
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        self.adam.step()
        return loss

    def undropped(self, nodes: NDArray[np.int64]) -> Batch:
        """What ``evaluate`` takes of nodes (b,): (b, d)."""
        inputs = self.propagation.expected(nodes)
        if isinstance(inputs, Tensor) and self.mlp.row_norm:
            return F.normalize(inputs, dim=1, eps=SMALLEST_NORM)
        return inputs

    def evaluate(self, inputs: Batch) -> Tensor:
        """Logits (b, C) with nothing dropped; the next call overwrites them."""
        values: Any = inputs.numpy() if isinstance(inputs, Tensor) else inputs
        for layer in self.layers:
            values = layer.forward(values, None)
        return torch.from_numpy(values)


def _layers(mlp: MLP, settings: Settings, adam: Adam, *, sparse: bool) -> Iterator[Layer]:
    if mlp.embedding is not None:
        yield Embedded(mlp.embedding, adam)
    for number, linear in enumerate(mlp.linears):
        wanted = number > 0 or mlp.embedding is not None
        norm = cast(nn.BatchNorm1d, mlp.norms[number]) if mlp.norms else None
        if wanted or not sparse:
            yield LayerInput(
                norm,
                relu=number > 0,
                row_norm=mlp.row_norm,
                dropout=mlp.dropouts[number],
                augmentations=settings.augmentations,
                adam=adam,
                wanted=wanted,
            )
        if isinstance(linear, Blocks):
            yield SparseLinear(linear, adam)
        else:
            yield Linear(cast(nn.Linear, linear), adam, wanted=wanted or norm is not None)
