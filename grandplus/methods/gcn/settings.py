"""The hyperparameters of GCN, with the values of its authors' program."""

from __future__ import annotations

from typing import Any, ClassVar

from grandplus.methods.settings import GraphSize, MethodSettings, full_batch_memory
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {}  # by dataset; the defaults are what the authors use on all of them


class Settings(MethodSettings):
    """The defaults are those of the authors' program."""

    layers_from: ClassVar[str | None] = "torch_geometric"
    takes_weights: ClassVar[bool] = True

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on the first layer alone
    hidden: Count = 16  # width of the hidden layer
    dropout: Fraction = 0.5  # before both layers
    epochs: Count = 200  # at most
    window: Count = 10  # training ends once the validation loss is above the mean of so many before it

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        return (features + classes) * self.hidden

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: the graph, its features and all layers at once."""
        return full_batch_memory(size, self.parameters(size.features, size.classes), self.hidden + size.classes)
