"""The hyperparameters of GCNII, with the values of its authors' program."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from grandplus.methods.settings import GraphSize, MethodSettings, full_batch_memory
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive, Repeats

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {  # by dataset
    "citeseer": {"layers": 32, "hidden": 256, "lambda_identity": 0.6, "dropout": 0.7},
    "pubmed": {
        "layers": 16,
        "hidden": 256,
        "lambda_identity": 0.4,
        "dropout": 0.5,
        "weight_decay_convolutions": 5e-4,
    },
}


class Settings(MethodSettings):
    """The defaults are what the authors use on Cora."""

    layers_from: ClassVar[str | None] = "torch_geometric"
    takes_weights: ClassVar[bool] = True

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), of the first and the last layer, which are dense
    weight_decay_convolutions: NonNegative = 1e-2  # likewise, of the convolutions
    layers: Repeats = 64  # convolutions
    hidden: Count = 64  # width of each
    alpha: Fraction = 0.1  # share of the first layer's output in each convolution
    # λ: layer l has the share log(λ/l + 1) of its weights; the rest is the identity
    lambda_identity: Annotated[float, Field(gt=0, le=1000)] = 0.5
    dropout: Fraction = 0.6  # before each layer
    epochs: Count = 1500  # at most
    patience: Count = 100  # epochs in which the validation loss does not reach its best

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        return (features + 1) * self.hidden + self.layers * self.hidden**2 + (self.hidden + 1) * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: the graph, its features and all layers at once."""
        widths = (self.layers + 1) * self.hidden + size.classes
        return full_batch_memory(size, self.parameters(size.features, size.classes), widths)

    def patience_steps(self) -> int:
        """After how many steps without a gain on validation nodes training ends."""
        return self.patience

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """What decides how many values a node has."""
        return ["lower train.layers or train.hidden"]
