"""The hyperparameters of GBP, with the values of its authors' program."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

from pydantic import Field

from grandplus.kernels.prefetch import LINE
from grandplus.methods.settings import BASE, COPIES_OF_ACTIVATIONS, COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.runtime.environment import workers
from grandplus.runtime.validation import Count, Fraction, Natural, NonNegative, Positive

NEEDS_ROWS = False
_AMAZON2M: dict[str, Any] = {
    "layers": 4,
    "hidden": 1024,
    "alpha": 0.2,
    "rmax": 1e-7,
    "exponent": 0.2,
    "weight_decay": 0.0,
    "dropout": 0.1,
    "batchnorm": True,
    "batch_labelled": 100_000,
}
PUBLISHED: dict[str, dict[str, Any]] = {  # by dataset
    "cora": {"rmax": 1e-4, "batch_labelled": 16, "patience": 40},
    "citeseer": {"alpha": 0.15, "exponent": 0.4, "weight_decay": 0.2, "batchnorm": True, "patience": 20},
    "pubmed": {"hidden": 128, "alpha": 0.05, "batch_labelled": 16, "patience": 40},
    "amazon2m": _AMAZON2M,
    "twin-amazon2m": _AMAZON2M,
}
PUSHING = 5 * 8  # bytes a node: its residue, limit, reserve and degree, and a place in the queue


class Settings(MethodSettings):
    """The defaults are those of the authors' program, but for r, which is 0 there and 0.4 or 0.5 in all they report."""

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on all parameters
    layers: Annotated[int, Field(ge=1, le=10)] = 2  # of the MLP
    hidden: Count = 64  # width of hidden layers
    batchnorm: bool = False  # BatchNorm after each product but the last
    dropout: Fraction = 0.5  # before each layer
    alpha: Annotated[float, Field(ge=1e-3, le=1)] = 0.1  # the l-th step of a walk has weight α(1 - α)^l
    rmax: Annotated[float, Field(ge=1e-12, le=1)] = 1e-5  # r_max: what is pushed, as a share of a feature's sum
    exponent: Annotated[float, Field(ge=0, le=1)] = 0.5  # r
    batch_labelled: Count = 64  # training nodes in a batch
    epochs: Count = 1000  # at most
    patience: Natural = 100  # epochs without a higher validation accuracy; 0: no end

    def widths(self, features: int, classes: int) -> list[int]:
        """Of the inputs of each layer, and of the last one's output."""
        return [features, *[self.hidden] * (self.layers - 1), classes]

    def parameters(self, features: int, classes: int) -> int:
        """How many values the MLP has, for features of this width; layers have no bias."""
        norms = 2 * self.hidden * (self.layers - 1) if self.batchnorm else 0
        return norms + sum(ins * outs for ins, outs in itertools.pairwise(self.widths(features, classes)))

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: propagated features, of all nodes, are dense."""
        propagated = 4 * size.nodes * size.features
        columns = 8 * size.stored if size.sparse else 0  # the features, by columns
        pushing = workers() * size.nodes * (2 * 4 * LINE + PUSHING)
        held = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes)
        batch = min(self.batch_labelled, size.nodes) * sum(self.widths(size.features, size.classes))
        return BASE + propagated + columns + pushing + 4 * (held + COPIES_OF_ACTIVATIONS * batch)

    def patience_steps(self) -> int | None:
        """After how many epochs without a gain on validation nodes training ends."""
        return self.patience or None
