"""The hyperparameters of PPRGo, with the values of its authors' program."""

from __future__ import annotations

from typing import Any, ClassVar

from grandplus.methods.settings import BASE, COPIES_OF_ACTIVATIONS, COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive

NEEDS_ROWS = True
# By dataset. The authors have tuned nothing on citation graphs. Searched: of 30 choices on each, the one of the highest
# mean validation accuracy over 3 seeds (``experiments/compared/below.py``).
PUBLISHED: dict[str, dict[str, Any]] = {
    "cora": {"alpha": 0.1, "order": 40, "top_k": 128, "lr": 3e-2, "weight_decay": 5e-4, "dropout": 0.8},
    "citeseer": {
        "alpha": 0.05,
        "order": 40,
        "top_k": 128,
        "lr": 3e-3,
        "weight_decay": 5e-4,
        "hidden": 128,
        "dropout": 0.5,
    },
    "pubmed": {
        "alpha": 0.1,
        "order": 40,
        "top_k": 128,
        "lr": 3e-2,
        "weight_decay": 1e-3,
        "hidden": 64,
        "dropout": 0.8,
    },
}


class Settings(MethodSettings):
    """The defaults are those of the authors' program."""

    takes_weights: ClassVar[bool] = True

    # Its walks have no last step; of these, what lies beyond the 20th is 0.2 % of a row.
    own_rows: ClassVar[dict[str, Any] | None] = {"matrix": "ppr", "alpha": 0.25, "order": 20, "rmax": 1e-4, "top_k": 32}

    lr: Positive = 5e-3  # Adam's learning rate
    weight_decay: NonNegative = 1e-4  # coupled (L2), on all parameters
    hidden: Count = 32  # width of the hidden layer
    dropout: Fraction = 0.1  # before both layers
    batch_labelled: Count = 512  # training nodes in a batch
    epochs: Count = 200  # passes over the training nodes

    def parameters(self, features: int, classes: int) -> int:
        """How many values the MLP has, for features of this width."""
        return features * self.hidden + self.hidden * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: what is computed of all nodes in the rows that are validated."""
        needed = min(size.nodes, size.watched * size.top_k)
        inputs = size.input_memory(2 * needed, size.stored / size.nodes)  # for validation, and for a batch
        activations = COPIES_OF_ACTIVATIONS * needed * (self.hidden + size.classes)
        values = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes) + activations
        return BASE + int(inputs) + 4 * values
