"""GRAND: random propagation of all nodes' features, an MLP, and a loss that makes its predictions agree.

Source: W. Feng, J. Zhang, Y. Dong, Y. Han, H. Luan, Q. Xu, Q. Yang, E. Kharlamov, J. Tang. Graph Random Neural Networks
for Semi-Supervised Learning on Graphs. NeurIPS 2020, Algorithm 2; first weights, patience and the mean over DropNode
are those of the authors' program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.graph import Graph
from grandplus.methods.full_batch import normalized
from grandplus.methods.grand.augmentation import PropagationByPowers, drawn_masks
from grandplus.methods.grand.by_matrix import PropagationByMatrix
from grandplus.methods.grand.settings import Settings
from grandplus.methods.inputs import input_of
from grandplus.methods.losses import consistency_loss, supervised_loss
from grandplus.methods.propagated import PropagatedModel, smooth
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.settings import GraphSize
from grandplus.methods.start import begin
from grandplus.methods.stopping import Patience
from grandplus.methods.symmetric import symmetric_product
from grandplus.methods.training import Watch, labels_of, seeded, train, trained, watched_nodes, weights_of
from grandplus.propagation.matrices import Average
from grandplus.propagation.plan import Plan


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model, of which the weights of the lowest validation loss are kept.

    Parameters
    ----------
    task : Task
        Its rows are not used. The predictions of all nodes are made to agree, not only of its unlabelled ones.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each epoch.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite; memory is too small.
    """
    graph, device = task.graph, torch.device(task.device)
    nodes = torch.tensor(task.split.train).to(device)
    labels, weights = labels_of(task, task.split.train), weights_of(task, settings)
    watched = torch.from_numpy(Model.inputs_of(task, settings)[watched_nodes(task)]).to(device)
    with seeded(task) as rng:
        network = Model.make(settings, watched.shape[1], len(graph.classes)).to(device)
        begin(network, task, settings)
        hidden = (_narrow if settings.multiplies_first else _wide)(network, graph, rng, device)
        adam = torch.optim.Adam(network.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)

        def epoch() -> float:
            adam.zero_grad()
            logits = network.after_first(hidden()).view(settings.augmentations, graph.adjacency.nodes, -1)
            consistency = consistency_loss(logits, temperature=settings.temperature)
            loss = supervised_loss(logits[:, nodes], labels, weights) + settings.lambda_max * consistency
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            return loss.item()

        training = train(
            network,
            task,
            epoch=epoch,
            evaluate=lambda: network(watched),
            settings=settings,
            stopping=Patience(settings.patience, watched="either", kept="loss"),
            watch=watch,
        )
    width = int(task.graph.features.shape[1])
    return trained(Model, task, settings, training, info, network=network, width=width)


class GRAND(nn.Module):
    """An MLP of two layers."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        self.settings = settings
        self.first, self.second = nn.Linear(width, settings.hidden), nn.Linear(settings.hidden, classes)
        for layer in (self.first, self.second):
            deviation = 1 / math.sqrt(layer.out_features)
            for parameter in (layer.weight, layer.bias):
                nn.init.normal_(parameter, -deviation, deviation)  # this mean is what the authors' program has
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in (width, settings.hidden) if settings.batchnorm)

    def forward(self, propagated: Tensor) -> Tensor:
        """Logits (b, C) of propagated features (b, d), of which the mean over DropNode is taken."""
        inputs = (1 - self.settings.dropnode) * propagated
        return self.after_first(self.first(self.norms[0](inputs) if self.norms else inputs))

    def after_first(self, hidden: Tensor) -> Tensor:
        """Logits of what the first layer puts out; in training, of one augmentation after the other (S · n, h)."""
        x = F.relu(hidden)
        if self.norms:  # its statistics are of each augmentation by itself
            parts = x.chunk(self.settings.augmentations) if self.training else [x]
            x = torch.cat([self.norms[1](part) for part in parts])
        logits: Tensor = self.second(F.dropout(x, self.settings.dropout_hidden, self.training))
        return logits


def _narrow(network: GRAND, graph: Graph, rng: np.random.Generator, device: torch.device) -> Callable[[], Tensor]:
    """Draws what the first layer puts out (S · n, h), as Π(m ⊙ XW) + b: all are linear, and h columns are fewer than d.

    The augmentations are propagated at once, side by side.
    """
    settings, count = network.settings, graph.adjacency.nodes
    features, adjacency = input_of(graph.features, device), normalized(graph.adjacency).to(device)

    def hidden() -> Tensor:
        masks = torch.from_numpy(drawn_masks(rng, settings.augmentations, count, settings.dropnode)).to(device)
        products = features @ network.first.weight.T
        dropped = (masks.T[:, :, None] * products[:, None]).flatten(1)  # (n, S · h)
        propagated = dropped
        for _ in range(settings.order):  # Horner's scheme
            propagated = dropped + symmetric_product(adjacency, propagated)
        parts = propagated.view(count, settings.augmentations, -1).transpose(0, 1)
        return parts.flatten(0, 1) / (settings.order + 1) + network.first.bias

    return hidden


def _wide(network: GRAND, graph: Graph, rng: np.random.Generator, device: torch.device) -> Callable[[], Tensor]:
    """Draws what the first layer puts out (S · n, h), of propagated features: what is between isn't linear."""
    settings = network.settings
    chosen: Any = {name: getattr(settings, name) for name in ("order", "augmentations", "dropnode")}
    chosen["dropout"] = settings.dropout_input
    if settings.by_matrix(GraphSize.of(graph)):
        by_matrix = PropagationByMatrix(graph, **chosen)

        def hidden_by_matrix() -> Tensor:
            features = torch.from_numpy(by_matrix.draw(rng)).to(device)
            products = [network.first.weight @ part for part in features]  # at once they take five times as long
            return torch.cat(products, dim=1).T + network.first.bias

        return hidden_by_matrix
    by_powers = PropagationByPowers(graph, standardize=settings.batchnorm, **chosen)

    def hidden() -> Tensor:
        features, mean, variance = (torch.from_numpy(array).to(device) for array in by_powers.draw(rng))
        weight = network.first.weight
        if network.norms:
            norm = cast(nn.BatchNorm1d, network.norms[0])
            _note_statistics(norm, mean, variance, graph.adjacency.nodes)
            weight = torch.cat([weight * norm.weight, weight * norm.bias], dim=1)
        return F.linear(features, weight, network.first.bias)

    return hidden


@torch.no_grad()
def _note_statistics(norm: nn.BatchNorm1d, means: Tensor, variances: Tensor, count: int) -> None:
    """Running statistics, as ``norm`` itself would keep them of one augmentation after the other."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    momentum = norm.momentum or 0.0
    for mean, variance in zip(means, variances, strict=True):
        norm.running_mean.lerp_(mean, momentum)
        norm.running_var.lerp_(variance * (count / max(count - 1, 1)), momentum)


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(PropagatedModel):
    """A trained GRAND."""

    method: ClassVar[str] = "grand"

    @property
    def last_layer(self) -> nn.Module:
        """The second one."""
        return cast(GRAND, self.network).second

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GRAND:
        """The network, with its first weights."""
        return GRAND(settings, width, classes)

    @staticmethod
    def propagated(graph: Graph, settings: Settings, plan: Plan, *, on_cluster: bool) -> NDArray[np.float32]:
        """(K + 1)⁻¹ Σ ÂᵏX: float32 (n, d)."""
        return smooth(graph, Average(order=settings.order).weights(), plan, on_cluster=on_cluster)
