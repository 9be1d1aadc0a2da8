"""The hyperparameters of FastGCN, with the values of its authors' program."""

from __future__ import annotations

from typing import Any

from grandplus.methods.settings import BASE, COPIES_OF_ACTIVATIONS, COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.runtime.validation import Count, NonNegative, Positive

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {"cora": {"lr": 1e-3, "epochs": 200}}  # by dataset


class Settings(MethodSettings):
    """The defaults are what the authors use on Pubmed."""

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on the first layer alone
    hidden: Count = 16  # width of the hidden layer
    batch_labelled: Count = 20  # training nodes in a batch
    samples: Count = 400  # neighbours that a batch's sums are estimated from
    epochs: Count = 100  # passes over the training nodes, at most
    window: Count = 10  # training ends once the mean of two validation losses is above that of so many before

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        return features * self.hidden + self.hidden * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: were each node a neighbour of one that is validated."""
        entries = 2 * size.edges + size.nodes  # of Â
        propagated = size.nodes * size.features
        if size.sparse:
            propagated = min(propagated, 6 * size.stored * (entries // size.nodes + 1))
        activations = COPIES_OF_ACTIVATIONS * size.nodes * (self.hidden + size.classes)
        values = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes) + activations + propagated
        return BASE + 4 * values + 2 * (4 + 8) * entries
