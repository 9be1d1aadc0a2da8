"""The steps of a training by fused kernels, in memory that is kept from step to step, without autograd."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.embedding import Columns, Embedded
from grandplus.methods.grandplus.fused.layer_input import LayerInput
from grandplus.methods.grandplus.fused.linear import Linear, SparseLinear
from grandplus.methods.grandplus.fused.losses import losses
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.fused.random_propagation import Batch, RandomPropagation
from grandplus.methods.grandplus.fused.team import Team
from grandplus.methods.grandplus.mlp import MLP, SMALLEST_NORM
from grandplus.methods.grandplus.mlp import SparseLinear as Blocks
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.settings import ROWS_AT_ONCE
from grandplus.methods.training import weights_of

Nodes: TypeAlias = NDArray[np.int64]


class Layer(Protocol):
    """A piece of the MLP that knows its gradients."""

    dropout: float

    def forward(self, x: Any, seed: np.int64 | None, /) -> NDArray[np.float32]:
        """What it puts out; the seed is that of its dropout, and None in validation."""

    def backward(self, upstream: NDArray[np.float32], /) -> NDArray[np.float32]:
        """The gradient of its inputs; those of its parameters go to Adam."""


@dataclass(frozen=True)
class Inputs:
    """A batch that is drawn, or being drawn.

    Attributes
    ----------
    values : callable
        Gives X̄ of each augmentation (M · b, d), dense or sparse.
    seeds : list of int64
        Of each layer's dropout.
    """

    values: Callable[[], NDArray[np.float32] | Factors]
    seeds: list[np.int64]


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
        self.columns = Columns(mlp.features) if mlp.embedding is not None else None
        self.team, self._drawing = Team(task.threads), threading.Lock()  # one batch at a time is drawn
        self.layers: list[Layer] = list(_layers(mlp, settings, self.adam, self.team, sparse=sparse))
        self.memory = Memory()
        self.weights = weights_of(task, settings)
        even = torch.ones(len(task.graph.classes))
        self.class_weights = (even if self.weights is None else self.weights).double().numpy()

    def inputs(self, batches: Iterable[tuple[Nodes, Nodes]]) -> Iterator[tuple[Nodes, Inputs]]:
        """The labelled nodes of each batch, and what ``step`` takes; other threads draw the next one meanwhile."""
        memories = itertools.cycle([Memory()] if self.team.alone else [Memory(), Memory()])
        waiting: list[tuple[Nodes, Inputs]] = []
        for (labelled, unlabelled), memory in zip(batches, memories, strict=False):
            draw = functools.partial(
                self._augmented, np.concatenate([labelled, unlabelled]), int(self.rng.integers(2**63)), memory
            )
            # All random numbers are drawn in the order of the steps.
            seeds = [np.int64(self.rng.integers(2**63) if layer.dropout > 0 else 0) for layer in self.layers]
            waiting.append((labelled, Inputs(self.team.start(draw), seeds)))
            if len(waiting) > 1:
                yield waiting.pop(0)
        yield from waiting

    def _augmented(self, nodes: Nodes, seed: int, memory: Memory) -> NDArray[np.float32] | Factors:
        """All that can be computed of a batch without the parameters."""
        with self._drawing:
            inputs = self.propagation.draw(nodes, seed, augmentations=self.settings.augmentations, memory=memory)
            if isinstance(inputs, Factors):
                inputs = self.columns.used(inputs) if self.columns else inputs
                _ = inputs.transposed  # is kept
            return inputs

    def step(self, inputs: Inputs, labels: NDArray[np.int64], weight: float) -> tuple[float, float]:
        """Train on a batch, whose first nodes have these labels (l,): the total loss, the consistency loss."""
        values: Any = inputs.values()
        for layer, seed in zip(self.layers, inputs.seeds, strict=True):
            values = layer.forward(values, seed)
        logits = values.reshape(self.settings.augmentations, -1, values.shape[1])
        gradient = self.memory.array("gradient", *logits.shape)
        loss = losses(logits, labels, self.settings, weight, gradient, self.class_weights)
        gradient = gradient.reshape(values.shape)
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        self.adam.step()
        return loss

    def undropped(self, nodes: NDArray[np.int64]) -> list[Batch]:
        """What ``evaluate`` takes of nodes (b,), by blocks: each (``ROWS_AT_ONCE`` or fewer, d)."""
        return [self._undropped(nodes[start : start + ROWS_AT_ONCE]) for start in range(0, len(nodes), ROWS_AT_ONCE)]

    def _undropped(self, nodes: NDArray[np.int64]) -> Batch:
        inputs = self.propagation.expected(nodes)
        if isinstance(inputs, Tensor) and self.mlp.row_norm:
            return F.normalize(inputs, dim=1, eps=SMALLEST_NORM)
        return inputs

    def evaluate(self, inputs: list[Batch]) -> Tensor:
        """Logits (b, C) with nothing dropped."""
        return torch.from_numpy(np.concatenate([self._evaluate(block).copy() for block in inputs]))

    def _evaluate(self, block: Batch) -> NDArray[np.float32]:
        """The next call overwrites what it gives."""
        values: Any = block.numpy() if isinstance(block, Tensor) else block
        for layer in self.layers:
            values = layer.forward(values, None)
        return np.asarray(values)


def _layers(mlp: MLP, settings: Settings, adam: Adam, team: Team, *, sparse: bool) -> Iterator[Layer]:
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
            yield SparseLinear(linear, adam, team)
        else:
            yield Linear(cast(nn.Linear, linear), adam, wanted=wanted or norm is not None)
