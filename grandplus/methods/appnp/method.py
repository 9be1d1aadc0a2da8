"""APPNP, by PyTorch Geometric's ``APPNP``.

Source: J. Klicpera, A. Bojchevski, S. Günnemann. Predict then Propagate: Graph Neural Networks meet Personalized
PageRank. ICLR 2019. An MLP gives H = ReLU(XW⁰)W¹; the logits are Z⁽ᴷ⁾ of Z⁽⁰⁾ = H, Z⁽ᵏ⁺¹⁾ = (1 − α)ÂZ⁽ᵏ⁾ + αH (its
Eq. 5 and 6), with dropout of both layers' inputs and, anew at every step, of Â's entries. As in the authors' program,
gasteigerjo/ppnp, the validation's loss by which training ends has the weight decay's part in it. First weights are
Glorot's, as in its TensorFlow version, which their paper used; its PyTorch version has those of PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP as PropagationOfPyG

from grandplus.graph.graph import Graph
from grandplus.methods.appnp.settings import Settings
from grandplus.methods.full_batch import FullBatchModel, fit_full_batch, normalized_matrix
from grandplus.methods.inputs import InputLinear, SparseInput, dropout, sparse_input
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.stopping import Patience
from grandplus.methods.training import Watch, adam


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model; the weights of the highest validation accuracy are kept, of equals those of the lowest loss.

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
        The loss is no longer finite.
    """

    def optimizer(network: APPNP) -> torch.optim.Optimizer:
        return adam(settings.lr, (network.first, settings.weight_decay), (network.second, 0))

    stopping = Patience(settings.patience, watched="either", kept="accuracy")
    return fit_full_batch(
        Model, task, settings, optimizer=optimizer, stopping=stopping, with_penalty=True, info=info, watch=watch
    )


class Propagation(PropagationOfPyG):  # type: ignore[misc]
    """Steps of personalized PageRank.

    Dropout is here, as PyTorch Geometric's drops from what it left at the step before: after ten steps it is all.
    """

    def __init__(self, order: int, alpha: float, share: float) -> None:
        super().__init__(order, alpha, normalize=False)  # as Â is normalized already
        self.share = share

    def propagate(self, edge_index: SparseInput, x: Tensor, edge_weight: None) -> Tensor:
        """ÂX, with dropout of Â's entries."""
        product: Tensor = dropout(edge_index, self.share, self.training) @ x
        return product


class APPNP(nn.Module):
    """An MLP of two layers without biases, and the propagation."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        self.dropout = settings.dropout
        self.first = InputLinear(width, settings.hidden, bias=False)
        self.second = nn.Linear(settings.hidden, classes, bias=False)
        for layer in (self.first, self.second):
            nn.init.xavier_uniform_(layer.weight)
        self.propagation = Propagation(settings.order, settings.alpha, settings.dropout)

    def forward(self, x: Tensor | SparseInput, adjacency: SparseInput) -> Tensor:
        """Logits (n, C) of features (n, d) and Â."""
        x = F.relu(self.first(dropout(x, self.dropout, self.training)))
        x = self.second(dropout(x, self.dropout, self.training))
        logits: Tensor = self.propagation(x, adjacency)
        return logits


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FullBatchModel):
    """A trained APPNP."""

    method: ClassVar[str] = "appnp"

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> APPNP:
        """The network, with its first weights."""
        return APPNP(settings, width, classes)

    @staticmethod
    def adjacency_of(graph: Graph, device: torch.device) -> SparseInput:
        """Â, whose entries may be dropped."""
        return sparse_input(normalized_matrix(graph.adjacency), device)
