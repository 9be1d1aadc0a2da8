"""GCN, by PyTorch Geometric's ``GCNConv``.

Source: T. N. Kipf, M. Welling. Semi-Supervised Classification with Graph Convolutional Networks. ICLR 2017. The logits
are Â ReLU(ÂXW⁰)W¹ (its Eq. 9), with dropout of the inputs of both layers. As in the authors' program, tkipf/gcn, there
are no biases, and the validation's loss by which training ends has the weight decay's part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from grandplus.methods.full_batch import FullBatchModel, fit_full_batch
from grandplus.methods.gcn.settings import Settings
from grandplus.methods.inputs import InputLinear, SparseInput, dropout
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.stopping import RisingLoss
from grandplus.methods.symmetric import SymmetricProduct
from grandplus.methods.training import Watch, adam


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model; the last weights are kept, as in the authors' program.

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

    def optimizer(network: GCN) -> torch.optim.Optimizer:
        return adam(settings.lr, (network.first, settings.weight_decay), (network.second, 0))

    stopping = RisingLoss(settings.window)
    return fit_full_batch(
        Model, task, settings, optimizer=optimizer, stopping=stopping, with_penalty=True, info=info, watch=watch
    )


class Convolution(SymmetricProduct, GCNConv):  # type: ignore[misc]
    """ÂXW."""


class GCN(nn.Module):
    """Two convolutions."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        self.dropout = settings.dropout
        self.first = Convolution(width, settings.hidden, bias=False, normalize=False)  # as Â is normalized already
        self.first.lin = InputLinear(width, settings.hidden, bias=False)
        nn.init.xavier_uniform_(self.first.lin.weight)
        self.second = Convolution(settings.hidden, classes, bias=False, normalize=False)

    def forward(self, x: Tensor | SparseInput, adjacency: Tensor) -> Tensor:
        """Logits (n, C) of features (n, d) and Â."""
        x = F.relu(self.first(dropout(x, self.dropout, self.training), adjacency))
        logits: Tensor = self.second(dropout(x, self.dropout, self.training), adjacency)
        return logits


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FullBatchModel):
    """A trained GCN."""

    method: ClassVar[str] = "gcn"

    @property
    def last_layer(self) -> nn.Module:
        """The second convolution."""
        return cast(GCN, self.network).second

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GCN:
        """The network, with its first weights."""
        return GCN(settings, width, classes)
