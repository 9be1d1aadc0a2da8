"""GBP: an MLP on features that are propagated once, with what is small left out.

Source: M. Chen, Z. Wei, B. Ding, Y. Li, Y. Yuan, X. Du, J.-R. Wen. Scalable Graph Neural Networks via Bidirectional
Propagation. NeurIPS 2020; layers, first weights and stopping are those of the authors' program.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.graph import Graph
from grandplus.methods.gbp.push import push_features
from grandplus.methods.gbp.settings import Settings
from grandplus.methods.losses import supervised_loss
from grandplus.methods.propagated import PropagatedModel
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.start import begin
from grandplus.methods.stopping import Patience
from grandplus.methods.training import Watch, batches, labels_of, seeded, train, trained, watched_nodes, weights_of
from grandplus.propagation.plan import Plan
from grandplus.runtime.errors import GrandPlusError


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model, of which the weights of the first epoch with the highest validation accuracy are kept.

    Parameters
    ----------
    task : Task
        Its rows and unlabelled nodes are not used.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each epoch.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite; memory is too small; there is one training node, and BatchNorm needs two.
    """
    graph, device, count = task.graph, torch.device(task.device), len(task.split.train)
    if settings.batchnorm and min(count, settings.batch_labelled) < 2:
        found = "each batch is of one training node, and BatchNorm needs two"
        raise GrandPlusError(found, fix="label more nodes, raise train.batch_labelled, or set train.batchnorm to false")
    watched = torch.from_numpy(Model.inputs_of(task, settings)[watched_nodes(task)]).to(device)
    labels, weights = labels_of(task, task.split.train), weights_of(task, settings)
    with seeded(task) as rng:
        network = Model.make(settings, watched.shape[1], len(graph.classes)).to(device)
        begin(network, task, settings)
        adam = torch.optim.Adam(network.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)

        def epoch() -> float:
            losses = []
            for chosen in batches(count, settings.batch_labelled, rng):
                if settings.batchnorm and len(chosen) == 1:
                    continue  # what is left of this epoch has no variance
                adam.zero_grad()
                loss = supervised_loss(network(watched[chosen]), labels[chosen], weights)
                loss.backward()  # type: ignore[no-untyped-call]
                adam.step()
                losses.append(loss.item())
            return sum(losses)

        training = train(
            network,
            task,
            epoch=epoch,
            evaluate=lambda: network(watched),
            settings=settings,
            stopping=Patience(settings.patience, watched="accuracy", kept="accuracy", ties="first"),
            watch=watch,
        )
    width = int(task.graph.features.shape[1])
    return trained(Model, task, settings, training, info, network=network, width=width)


class GBP(nn.Module):
    """An MLP without biases: dropout, product, BatchNorm (if on), the input added where it is as wide, ReLU."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        widths = settings.widths(width, classes)
        self.dropout = settings.dropout
        self.layers = nn.ModuleList(_layer(*ends) for ends in itertools.pairwise(widths))
        self.norms = nn.ModuleList(nn.BatchNorm1d(outs) for outs in widths[1:-1] if settings.batchnorm)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (b, C) of propagated features (b, d)."""
        for number, layer in enumerate(self.layers):
            inputs = F.dropout(F.relu(x) if number else x, self.dropout, self.training)
            x = layer(inputs)
            if number < len(self.norms):
                x = self.norms[number](x)
            if x.shape == inputs.shape:
                x = x + inputs
        return x


def _layer(inputs: int, outputs: int) -> nn.Linear:
    """A layer with its first weights."""
    layer, bound = nn.Linear(inputs, outputs, bias=False), 1 / math.sqrt(outputs)
    nn.init.uniform_(layer.weight, -bound, bound)
    return layer


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(PropagatedModel):
    """A trained GBP."""

    method: ClassVar[str] = "gbp"

    @property
    def last_layer(self) -> nn.Module:
        """The last linear one."""
        return cast(GBP, self.network).layers[-1]

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GBP:
        """The network, with its first weights."""
        return GBP(settings, width, classes)

    @staticmethod
    def propagated(graph: Graph, settings: Settings, plan: Plan, *, on_cluster: bool) -> NDArray[np.float32]:
        """Σ α(1 - α)^l (D^(r-1) A D^-r)^l X, by pushes on this machine: float32 (n, d)."""
        out = plan.array(graph.adjacency.nodes)
        chosen: Any = {"alpha": settings.alpha, "rmax": settings.rmax, "exponent": settings.exponent}
        return push_features(graph.adjacency, graph.features, out=out, **chosen)
