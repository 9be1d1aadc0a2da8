"""The hyperparameters of GRAND, with the values of its authors' program."""

from __future__ import annotations

from typing import Any

from grandplus.methods.settings import BASE, COPIES_OF_ACTIVATIONS, COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.propagation.matrices import Order
from grandplus.propagation.power import BUFFERS
from grandplus.runtime.validation import Count, Fraction, Natural, NonNegative, Positive, Temperature

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {  # by dataset
    "cora": {
        "order": 8,
        "augmentations": 4,
        "temperature": 0.5,
        "lambda_max": 1.0,
        "dropout_input": 0.5,
        "dropout_hidden": 0.5,
    },
    "citeseer": {},
    "pubmed": {
        "lr": 0.2,
        "order": 5,
        "augmentations": 4,
        "temperature": 0.2,
        "lambda_max": 1.0,
        "dropout_input": 0.6,
        "dropout_hidden": 0.8,
        "batchnorm": True,
        "patience": 100,
    },
}


class Settings(MethodSettings):
    """The defaults are the authors' values for Citeseer.

    Of their three configurations it is the one that large graphs can afford: nothing stands between propagation and
    the first layer, so only ``hidden`` columns have to be propagated.
    """

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 5e-4  # coupled (L2), on all parameters
    hidden: Count = 32  # width of the hidden layer
    batchnorm: bool = False  # BatchNorm before both layers
    dropout_input: Fraction = 0.0  # of propagated features
    dropout_hidden: Fraction = 0.2  # before the second layer
    dropnode: Fraction = 0.5  # δ: share of nodes whose features are dropped
    order: Order = 2  # K: features are propagated by the mean of the powers 0..K of Â
    augmentations: Count = 2  # S: random propagations a step
    temperature: Temperature = 0.3  # of the sharpening
    lambda_max: NonNegative = 0.7  # λ: weight of the consistency loss
    epochs: Count = 5000  # at most, each one step on all nodes
    patience: Natural = 200  # epochs without a gain of validation loss or accuracy; 0: no end

    @property
    def multiplies_first(self) -> bool:
        """Whether the first layer's product may come before propagation: both are linear, what is between is not."""
        return self.dropout_input == 0 and not self.batchnorm

    def by_matrix(self, size: GraphSize) -> bool:
        """Whether features are propagated by a dense Π, of n² values: where that takes fewer multiplications.

        As long as nobody knows how many values the features have, no.
        """
        by_powers = self.order * (2 * size.edges + size.nodes) * size.features
        return size.sparse and not self.batchnorm and 0 < size.stored * size.nodes < by_powers

    def parameters(self, features: int, classes: int) -> int:
        """How many values the network has, for features of this width."""
        norms = 2 * (features + self.hidden) if self.batchnorm else 0
        return norms + (features + 1) * self.hidden + (self.hidden + 1) * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: propagated features, of all nodes, are dense."""
        held = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes)
        layers = 3 * self.hidden + size.classes  # products, propagated ones, and after dropout
        activations = COPIES_OF_ACTIVATIONS * self.augmentations * size.nodes * layers
        propagated = (1 + BUFFERS) * size.nodes * size.features  # those of validation
        augmented = 0
        if not self.multiplies_first:
            augmented = (1 + self.batchnorm) * self.augmentations * size.nodes * size.features
            augmented += (1 + BUFFERS) * size.nodes**2 if self.by_matrix(size) else 0
        features = 3 * size.stored * (4 + 8 * size.sparse)
        return (
            BASE + features + 4 * (held + activations + max(propagated, augmented)) + 12 * (2 * size.edges + size.nodes)
        )

    def patience_steps(self) -> int | None:
        """After how many steps without a gain on validation nodes training ends."""
        return self.patience or None

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """Without dropout of the input and BatchNorm, only the first layer's outputs are augmented."""
        wide = [] if self.multiplies_first else ["set train.dropout_input to 0 and train.batchnorm to false"]
        return [*wide, "lower train.augmentations"]
