"""GAT, by PyTorch Geometric's ``GATConv``.

Source: P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò, Y. Bengio. Graph Attention Networks. ICLR 2018.
A head gives Σⱼ αᵢⱼWxⱼ + b over i and its neighbours j, where α is the softmax over j of LeakyReLU(a·Wxᵢ + a'·Wxⱼ)
(its Eq. 1 to 6). Heads of the first layer stand side by side, below ELU; those of the second are averaged. Dropout is
of both layers' inputs, for each head anew, of Wx where it is summed, and of α.

What differs from the authors' program: it adds a bias to each of both parts of the logits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from grandplus.graph.graph import Graph
from grandplus.methods.full_batch import FullBatchModel, fit_full_batch
from grandplus.methods.gat.settings import Settings
from grandplus.methods.gat.weighted import structure_of, weighted_sums
from grandplus.methods.inputs import InputLinear, SparseInput, dropout, linear
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.stopping import Patience
from grandplus.methods.training import Watch, adam


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model; which weights are kept goes by what is watched, as in the authors' program.

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

    def optimizer(network: GAT) -> torch.optim.Optimizer:
        return adam(settings.lr, (network, settings.weight_decay))

    kept = "both" if settings.watched == "either" else settings.watched
    stopping = Patience(settings.patience, watched=settings.watched, kept=kept, ties="latest")
    return fit_full_batch(Model, task, settings, optimizer=optimizer, stopping=stopping, info=info, watch=watch)


class Projections(InputLinear):
    """Wx of each head, side by side: (n, heads · width). While training, each head drops inputs of its own."""

    def __init__(self, inputs: int, width: int, heads: int, share: float) -> None:
        super().__init__(inputs, heads * width, bias=False)
        self.heads, self.share = heads, share
        for weight in self.weight.chunk(heads):
            nn.init.xavier_uniform_(weight)

    def forward(self, x: Tensor | SparseInput) -> Tensor:
        if not self.training or not self.share:
            return super().forward(x)
        weights = self.weight.chunk(self.heads)
        return torch.cat([linear(dropout(x, self.share, True), weight) for weight in weights], dim=1)


class Attention(GATConv):  # type: ignore[misc]
    """Heads of attention over edges between projections, whose messages are summed without being stored."""

    def __init__(self, width: int, heads: int, share: float, **options: Any) -> None:
        # The structure has loops already.
        super().__init__(heads * width, width, heads, add_self_loops=False, **options)
        self.lin, self.share = nn.Identity(), share
        for end in (self.att_src, self.att_dst):
            nn.init.uniform_(end, -math.sqrt(6 / (width + 1)), math.sqrt(6 / (width + 1)))  # Glorot's, of each head

    def message_and_aggregate(self, adj_t: Tensor, x: tuple[Tensor, Tensor], alpha: Tensor) -> Tensor:
        """Σⱼ αᵢⱼWxⱼ of each head: (n, heads, width)."""
        projected, attention = (dropout(values, self.share, self.training) for values in (x[0], alpha))
        return weighted_sums(adj_t, attention, projected)


class GAT(nn.Module):
    """Two layers of attention."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        share, first, second = settings.dropout, settings.heads, settings.output_heads
        self.input = Projections(width, settings.hidden, first, share)
        self.first = Attention(settings.hidden, first, share)
        self.hidden = Projections(first * settings.hidden, classes, second, share)
        self.second = Attention(classes, second, share, concat=False)

    def forward(self, x: Tensor | SparseInput, structure: Tensor) -> Tensor:
        """Logits (n, C) of features (n, d) and the structure of Ã."""
        x = F.elu(self.first(self.input(x), structure))
        logits: Tensor = self.second(self.hidden(x), structure)
        return logits


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FullBatchModel):
    """A trained GAT."""

    method: ClassVar[str] = "gat"

    @property
    def last_layer(self) -> nn.Module:
        """The projections of the second layer."""
        return cast(GAT, self.network).hidden

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GAT:
        """The network, with its first weights."""
        return GAT(settings, width, classes)

    @staticmethod
    def adjacency_of(graph: Graph, device: torch.device) -> Tensor:
        """The structure of Ã = A + I."""
        return structure_of(graph.adjacency).to(device)
