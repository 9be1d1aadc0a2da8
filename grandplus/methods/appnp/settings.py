"""The hyperparameters of APPNP, with the values of its authors' program."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from grandplus.methods.settings import GraphSize, MethodSettings, full_batch_memory
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive, Repeats

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {}  # by dataset; the authors use the defaults on all of theirs


class Settings(MethodSettings):
    """The defaults are those of the authors' program."""

    layers_from: ClassVar[str | None] = "torch_geometric"
    takes_weights: ClassVar[bool] = True

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-3  # coupled (L2), on the first layer alone
    hidden: Count = 64  # width of the hidden layer
    alpha: Annotated[float, Field(gt=0, le=1)] = 0.1  # teleport probability of the propagation
    order: Repeats = 10  # K: steps of the propagation
    dropout: Fraction = 0.5  # before both layers, and of Â's entries at every step
    epochs: Count = 10_000  # at most
    patience: Count = 100  # epochs in which neither accuracy nor loss of the validation reaches its best

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        return (features + classes) * self.hidden

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: the graph, each step's Â, the features and all layers."""
        dropped = (4 + 4) * self.order  # values that are left at a step, and their mask
        widths = self.hidden + (1 + self.order) * size.classes
        parameters = self.parameters(size.features, size.classes)
        return full_batch_memory(size, parameters, widths, held=2 * 12 + 8 + dropped, making=72)  # also transposed

    def patience_steps(self) -> int:
        """After how many steps without a gain on validation nodes training ends."""
        return self.patience
