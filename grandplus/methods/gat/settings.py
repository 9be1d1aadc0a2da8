"""The hyperparameters of GAT, with the values of its authors' program."""

from __future__ import annotations

from typing import Any, ClassVar

from grandplus.methods.settings import GraphSize, MethodSettings, full_batch_memory
from grandplus.methods.stopping import Watched
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive

COPIES_OF_ATTENTION = 20  # numbers of edges' ends, logits, their softmax, what dropout leaves, and gradients

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {  # by dataset
    "cora": {"dropout": 0.6},
    # What is watched by the authors' answer to who asked for the figure of the paper.
    "citeseer": {"dropout": 0.6, "watched": "accuracy"},
    "pubmed": {"dropout": 0.6, "lr": 1e-2, "weight_decay": 1e-3, "output_heads": 8},
}


class Settings(MethodSettings):
    """The defaults are what the authors use on Cora, but for dropout.

    With their 0.6, training on standardized features of Amazon's graphs diverges and ends within about a hundred epochs
    (experiments/README.md).
    """

    layers_from: ClassVar[str | None] = "torch_geometric"

    lr: Positive = 5e-3  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on all parameters
    hidden: Count = 8  # width of each head of the first layer
    heads: Count = 8  # of the first layer, side by side
    output_heads: Count = 1  # of the second layer, averaged
    dropout: Fraction = 0.2  # of both layers' inputs, of their projections, and of the attention
    epochs: Count = 100_000  # at most
    patience: Count = 100  # epochs in which nothing that is watched reaches its best
    watched: Watched = "either"  # of the validation's accuracy and loss

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        first, second = self.heads * self.hidden, self.output_heads * classes
        return first * (features + 3) + second * (first + 2) + classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: the graph, its features, all layers, and attention on edges.

        Each head keeps the inputs that it has not dropped.
        """
        first, second = self.heads * self.hidden, self.output_heads * size.classes
        entries = 2 * size.edges + size.nodes
        attention = COPIES_OF_ATTENTION * entries * (self.heads + self.output_heads)
        dropped = self.heads * size.stored * (1 + 2 * size.sparse) + self.output_heads * size.nodes * first
        both = full_batch_memory(size, self.parameters(size.features, size.classes), first + second)
        return both + 4 * (attention + dropped)

    def patience_steps(self) -> int:
        """After how many steps without a gain on validation nodes training ends."""
        return self.patience
