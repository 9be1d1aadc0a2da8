"""The hyperparameters of SGC, with the values of its authors' program."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from grandplus.methods.settings import COPIES_OF_PARAMETERS, GraphSize, MethodSettings
from grandplus.propagation.matrices import Order
from grandplus.propagation.plan import BASE
from grandplus.propagation.power import BUFFERS
from grandplus.runtime.validation import Count, NonNegative

NEEDS_ROWS = False
PUBLISHED: dict[str, dict[str, Any]] = {  # by dataset
    "cora": {"weight_decay": 1.3e-5},
    "citeseer": {"weight_decay": 2.35e-5, "epochs": 150},
    "pubmed": {"weight_decay": 7.4e-5},
}


class Settings(MethodSettings):
    """The defaults are what the authors use where they have tuned nothing."""

    takes_weights: ClassVar[bool] = True

    lr: Annotated[float, Field(gt=0, le=1000)] = 0.2  # Adam's learning rate
    weight_decay: NonNegative = 1e-5  # coupled (L2), on all parameters
    order: Order = 2  # K: how many times the features are propagated
    epochs: Count = 100  # steps, each on all labelled nodes

    def parameters(self, features: int, classes: int) -> int:
        """How many values the linear layer has, for features of this width."""
        return (features + 1) * classes

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most: propagated features, of all nodes, are dense."""
        propagated = (1 + BUFFERS) * size.nodes * size.features
        return BASE + 4 * (propagated + COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes))
