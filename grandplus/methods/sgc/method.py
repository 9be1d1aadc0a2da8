"""SGC: a linear classifier on propagated features.

Source: F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu, K. Q. Weinberger. Simplifying Graph Convolutional
Networks. ICML 2019. The probabilities are softmax(ÂᴷXW + b), with Â = D̃^-½(A + I)D̃^-½ (its Eq. 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from grandplus.graph.graph import Graph
from grandplus.methods.losses import supervised_loss
from grandplus.methods.propagated import PropagatedModel, smooth
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.sgc.settings import Settings
from grandplus.methods.start import begin
from grandplus.methods.stopping import LastWeights
from grandplus.methods.training import Watch, labels_of, seeded, train, trained, weights_of
from grandplus.propagation.matrices import Single
from grandplus.propagation.plan import Plan


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model by Adam on all labelled nodes at once; the last parameters are kept.

    Parameters
    ----------
    task : Task
        Its rows and unlabelled nodes are not used.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each step: step, train_loss, train_accuracy, train_top_share,
        and the same of val.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite; memory is too small.
    """
    graph, split, device = task.graph, task.split, task.device
    propagated = Model.inputs_of(task, settings)
    inputs = {name: torch.from_numpy(propagated[nodes]).to(device) for name, nodes in _parts(task).items()}
    labels, weights = labels_of(task, split.train), weights_of(task, settings)
    with seeded(task):
        linear = Model.make(settings, propagated.shape[1], len(graph.classes)).to(device)
        begin(linear, task, settings)
        adam = torch.optim.Adam(linear.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)

        def epoch() -> float:
            adam.zero_grad()
            loss = supervised_loss(linear(inputs["train"]), labels, weights)
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            return loss.item()

        training = train(
            linear,
            task,
            epoch=epoch,
            evaluate=lambda: torch.cat([linear(part) for part in inputs.values()]),
            settings=settings,
            stopping=LastWeights(),
            watch=watch,
        )
    width = int(task.graph.features.shape[1])
    return trained(Model, task, settings, training, info, network=linear, width=width)


def _parts(task: Task) -> dict[str, NDArray[np.int64]]:
    return {"train": task.split.train, "val": task.split.val}


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(PropagatedModel):
    """A trained linear classifier."""

    method: ClassVar[str] = "sgc"

    @property
    def last_layer(self) -> nn.Module:
        """The only one."""
        return self.network

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> nn.Linear:
        """The linear layer, with its first weights."""
        return nn.Linear(width, classes)

    @staticmethod
    def propagated(graph: Graph, settings: Settings, plan: Plan, *, on_cluster: bool) -> NDArray[np.float32]:
        """ÂᴷX: float32 (n, d)."""
        return smooth(graph, Single(order=settings.order).weights(), plan, on_cluster=on_cluster)
