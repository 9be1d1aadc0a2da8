"""GCNII, by PyTorch Geometric's ``GCN2Conv``.

Source: M. Chen, Z. Wei, Z. Huang, B. Ding, Y. Li. Simple and Deep Graph Convolutional Networks. ICML 2020. Layer l is
ReLU(((1 − α)ÂH + αH⁰)((1 − β)I + βW)) with β = log(λ/l + 1) (its Eq. 5), where H⁰ is a dense layer's output, and a
further dense layer gives the logits; with dropout before each layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCN2Conv

from grandplus.methods.full_batch import FullBatchModel, fit_full_batch
from grandplus.methods.gcnii.settings import Settings
from grandplus.methods.inputs import InputLinear, SparseInput, dropout
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.stopping import Patience
from grandplus.methods.symmetric import SymmetricProduct
from grandplus.methods.training import Watch, adam


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model; the weights of the lowest validation loss are kept.

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

    def optimizer(network: GCNII) -> torch.optim.Optimizer:
        dense = ((layer, settings.weight_decay) for layer in (network.first, network.last))
        return adam(settings.lr, (network.convolutions, settings.weight_decay_convolutions), *dense)

    stopping = Patience(settings.patience, watched="loss", kept="loss")
    return fit_full_batch(Model, task, settings, optimizer=optimizer, stopping=stopping, info=info, watch=watch)


class Convolution(SymmetricProduct, GCN2Conv):  # type: ignore[misc]
    """((1 − α)ÂH + αH⁰)((1 − β)I + βW)."""


class GCNII(nn.Module):
    """A dense layer, convolutions, and a dense layer."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        self.dropout = settings.dropout
        self.first = InputLinear(width, settings.hidden)
        self.convolutions = nn.ModuleList(
            Convolution(settings.hidden, settings.alpha, settings.lambda_identity, layer, normalize=False)
            for layer in range(1, settings.layers + 1)
        )
        bound = 1 / math.sqrt(settings.hidden)  # of the authors' first weights; PyTorch Geometric's is √3 times that
        for weight in self.convolutions.parameters():
            nn.init.uniform_(weight, -bound, bound)
        self.last = nn.Linear(settings.hidden, classes)

    def forward(self, x: Tensor | SparseInput, adjacency: Tensor) -> Tensor:
        """Logits (n, C) of features (n, d) and Â."""
        x = start = F.relu(self.first(dropout(x, self.dropout, self.training)))
        for convolution in self.convolutions:
            x = F.relu_(convolution(dropout(x, self.dropout, self.training), start, adjacency))
        logits: Tensor = self.last(dropout(x, self.dropout, self.training))
        return logits


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FullBatchModel):
    """A trained GCNII."""

    method: ClassVar[str] = "gcnii"

    @property
    def last_layer(self) -> nn.Module:
        """The linear one after all convolutions."""
        return cast(GCNII, self.network).last

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GCNII:
        """The network, with its first weights."""
        return GCNII(settings, width, classes)
