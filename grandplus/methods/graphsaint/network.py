"""The network: twice a layer of order 1 and one of order 0 (the authors' "1-0-1-0"), and a linear classifier."""

from __future__ import annotations

from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grandplus.methods.graphsaint.settings import Settings
from grandplus.methods.inputs import SparseInput, dropout

HOPS = 2
TINY = 1e-9  # is added to variances, as in the authors' program


class Layer(nn.Module):
    """LayerNorm(ReLU(XW + b)), the product made apart from the rest."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, hidden)))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.norm = nn.LayerNorm(hidden, eps=TINY)

    def product(self, x: Any) -> Tensor:
        """XW of dense or sparse X."""
        out: Tensor = x @ self.weight
        return out

    def activated(self, product: Tensor) -> Tensor:
        """LayerNorm(ReLU(product + b))."""
        normed: Tensor = self.norm(F.relu(product + self.bias))
        return normed


class Hop(nn.Module):
    """A layer of order 1, which joins a node's own features and its neighbours' mean, and one of order 0 on them."""

    def __init__(self, width: int, hidden: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.own, self.neighbors, self.joined = Layer(width, hidden), Layer(width, hidden), Layer(2 * hidden, hidden)

    def forward(self, x: Tensor | SparseInput, adjacency: SparseInput) -> Tensor:
        """Outputs (m, h) of a subgraph's nodes."""
        x = dropout(x, self.share, self.training)
        return self.update(x, adjacency @ self.message(x))

    def message(self, x: Any) -> Tensor:
        """What nodes send to their neighbours (m, h)."""
        return self.neighbors.product(x)

    def update(self, x: Any, mean: Tensor) -> Tensor:
        """Outputs (m, h) of nodes with features x, to which their neighbours send ``mean`` on average."""
        both = torch.cat([self.own.activated(self.own.product(x)), self.neighbors.activated(mean)], dim=1)
        return self.joined.activated(self.joined.product(dropout(both, self.share, self.training)))


class GraphSAINT(nn.Module):
    """Two hops, and a classifier of their outputs, each divided by its length."""

    def __init__(self, settings: Settings, width: int, classes: int) -> None:
        super().__init__()
        self.hidden, self.share = settings.hidden, settings.dropout
        self.hops = nn.ModuleList([Hop(wide, self.hidden, self.share) for wide in (width, self.hidden)])
        self.classifier = nn.Linear(self.hidden, classes)
        nn.init.xavier_uniform_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, x: Tensor | SparseInput, adjacency: SparseInput) -> Tensor:
        """Logits (m, C) of a subgraph's nodes with features (m, d)."""
        for hop in self.each_hop():
            x = hop(x, adjacency)
        return self.classified(x)

    def each_hop(self) -> list[Hop]:
        """The hops in their order."""
        return cast(list[Hop], list(self.hops))

    def classified(self, x: Any) -> Tensor:
        """Logits (m, C) of the hops' outputs (m, h)."""
        logits: Tensor = self.classifier(dropout(F.normalize(x), self.share, self.training))
        return logits
