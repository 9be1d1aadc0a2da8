"""The hyperparameters of FastGCN, with the values of its authors' program."""

from __future__ import annotations

from typing import Any

from grandplus.methods.settings import (
    BASE,
    COPIES_OF_ACTIVATIONS,
    COPIES_OF_PARAMETERS,
    ROWS_AT_ONCE,
    GraphSize,
    MethodSettings,
)
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive

ENTRY = 28  # bytes of an entry of Â while it is made: its column twice, and its value in both precisions

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {"cora": {"lr": 1e-3, "epochs": 200}}  # by dataset


class Settings(MethodSettings):
    """The defaults are what the authors use on Pubmed."""

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on the first layer alone
    hidden: Count = 16  # width of the hidden layer
    dropout: Fraction = 0  # before both layers
    batch_labelled: Count = 20  # training nodes in a batch
    samples: Count = 400  # neighbours that a batch's sums are estimated from
    epochs: Count = 100  # passes over the training nodes, at most
    window: Count = 10  # training ends once the mean of two validation losses is above that of so many before

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        return features * self.hidden + self.hidden * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: ÂX of the nodes that are validated, and of their neighbours.

        A neighbour is taken to have twice as many neighbours as a node has on average.
        """
        entries = size.watched * size.neighbourhood  # of Â
        needed = min(size.nodes, entries)
        of_block = min(needed, ROWS_AT_ONCE) * 2 * size.neighbourhood  # entries of Â that a block of ÂX needs
        stored = min(size.features, 2 * size.neighbourhood * size.stored / size.nodes)  # of a row of ÂX
        inputs = 2 * size.input_memory(needed, stored)  # ÂX, and a copy for validation
        sources = min(size.nodes, of_block) * (4 + 4 * size.sparse) * size.stored / size.nodes
        activations = COPIES_OF_ACTIVATIONS * needed * (self.hidden + size.classes)
        values = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes) + activations
        return BASE + int(inputs + sources + ENTRY * (entries + of_block) + 8 * size.nodes + 4 * values)
