"""The hyperparameters of GraphSAINT, with the values of its authors for Reddit."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from grandplus.methods.settings import BASE, COPIES_OF_ACTIVATIONS, COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive, Repeats

NEEDS_ROWS = False
# By dataset. Searched, as the authors have no values for these: of 30 choices on each, the one of the highest mean
# validation accuracy over 3 seeds (``experiments/compared/below.py``).
PUBLISHED: dict[str, dict[str, Any]] = {
    "cora": {"lr": 3e-3, "weight_decay": 5e-4, "dropout": 0.5, "epochs": 60},
    "citeseer": {"lr": 9e-4, "weight_decay": 1e-2, "hidden": 256, "dropout": 0.5, "epochs": 60, "depth": 2},
    "pubmed": {"lr": 3e-3, "weight_decay": 5e-3, "dropout": 0.5, "epochs": 60},
}

BLOCKS = 128 * 2**20  # bytes of the nodes that pass through a layer at a time


class Settings(MethodSettings):
    """The defaults are those of the authors' program for Reddit, with random walks."""

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 0.0  # coupled (L2), on all parameters
    hidden: Count = 128  # width of the layers
    dropout: Fraction = 0.1  # before each layer
    epochs: Count = 30  # passes over the training nodes
    clip: NonNegative = 5.0  # largest gradient norm; 0: no clipping
    roots: Count = 2000  # random walks of a subgraph; fewer if the graph has fewer nodes
    depth: Repeats = 4  # steps of a random walk
    coverage: Annotated[int, Field(ge=1, le=1000)] = 50  # how many times a node is drawn to estimate how likely it is

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        hops = 2 * (features + 3) + (2 * self.hidden + 3) + 2 * (self.hidden + 3) + (2 * self.hidden + 3)
        return hops * self.hidden + (self.hidden + 1) * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: counts of nodes and edges, a subgraph, and validation."""
        drawn, entries = min(size.nodes, self.roots * (self.depth + 1)), 2 * size.edges
        counts = 4 * entries + (8 + 8 + 4) * size.nodes  # of edges; of nodes, with their marks and places
        activations = 4 * COPIES_OF_ACTIVATIONS * drawn * (10 * self.hidden + size.classes)
        share = drawn / max(size.nodes, 1)
        subgraph = int(share * (40 * entries + 4 * (4 + 8 * size.sparse) * size.stored))
        validation = 2 * 4 * size.nodes * self.hidden + BLOCKS
        values = 4 * COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes)
        return BASE + counts + activations + subgraph + validation + values

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """What decides how many values a node and the network have."""
        return ["lower train.hidden"]
