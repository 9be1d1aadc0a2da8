"""The hyperparameters of GRAND+'s training, with defaults for a graph that nobody has tuned them on."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from grandplus.methods.settings import (
    BASE,
    COPIES_OF_ACTIVATIONS,
    COPIES_OF_PARAMETERS,
    ROWS_AT_ONCE,
    GraphSize,
    MethodSettings,
)
from grandplus.runtime.validation import Count, Fraction, Natural, NonNegative, Positive, Temperature

VALIDATE_EVERY = 10  # steps
ENTRY = 8 + 8 + 4 + 4  # bytes of an entry of Π̃ in sparse inputs: a node twice, its number, and its share
NODE = 8 + 8 + 4  # bytes of a node whose features are sparse: where they begin, how many they are, and its number

NEEDS_ROWS = True  # of Π, for the nodes that are trained on and validated
PUBLISHED: dict[str, dict[str, Any]] = {}  # by dataset; GRAND+'s own stand in the cards


class Settings(MethodSettings):
    """The defaults are what the paper's small citation graphs agree on. A card states what differs."""

    uses_unlabelled: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True
    takes_direction: ClassVar[bool] = True

    lr: Positive = 1e-2  # Adam's learning rate
    weight_decay: NonNegative = 1e-3  # coupled (L2), on all parameters
    embed: bool = False  # H = XW⁰ is learned, and propagated in place of X (Eq. 9)
    layers: Annotated[int, Field(ge=1, le=10)] = 2  # of the MLP; 1 is a linear classifier
    hidden: Count = 64  # width of hidden layers
    batchnorm: bool = False  # BatchNorm before each layer
    row_norm: bool = False  # L2 normalisation of rows before each layer
    dropout_input: Fraction = 0.5  # before the first layer
    dropout_hidden: Fraction = 0.5  # before later layers
    dropnode: Fraction = 0.5  # δ: share of neighbours dropped from a row (Eq. 8)
    augmentations: Count = 2  # M: augmented copies of each node
    batch_labelled: Count = 50  # |L_t|
    batch_unlabelled: Natural = 100  # |U_t|
    temperature: Temperature = 0.1  # τ of the sharpening (Eq. 12)
    confidence: Literal["auto"] | Fraction = "auto"  # γ; auto is 2 / classes
    distance: Literal["l2", "kl"] = "l2"  # of the consistency loss
    # The mean over the batch (Eq. 13) or over its confident nodes, as the released program has it.
    consistency_mean: Literal["batch", "confident"] = "confident"
    lambda_max: NonNegative = 1.0  # weight of the consistency loss after warm-up
    warmup: Natural = 1000  # steps until λ reaches lambda_max
    clip: NonNegative = (
        0.0  # largest gradient norm; 0: no clipping. Decay isn't clipped: a small norm would drown in it
    )
    patience: Count = 50  # validations (one every 10 steps) without improvement
    max_epochs: Count = 5000  # passes over the labelled nodes at most
    renormalize: bool = True  # divide an augmented row by its surviving sum; Eq. 8 taken literally trains far worse

    def parameters(self, features: int, classes: int) -> int:
        """How many values the MLP has, for features of this width."""
        embedding = features * self.hidden if self.embed else 0
        return embedding + sum(
            (inputs + 1) * outputs for inputs, outputs in itertools.pairwise(self.widths(features, classes))
        )

    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most; files that are memory-mapped are not counted.

        Parameters
        ----------
        size : GraphSize
            Training has rows of Π in memory, the inputs of all nodes that it watches, and a batch in all layers.
        """
        widths = self.widths(size.features, size.classes)
        batch = self.augmentations * (self.batch_labelled + self.batch_unlabelled)
        block = max(batch, min(size.watched, ROWS_AT_ONCE))  # of training, or of validation
        stay_sparse = size.sparse and (self.embed or not (self.batchnorm or self.row_norm))  # into the first product
        dense = sum(widths[1:]) if stay_sparse and not self.embed else sum(widths)
        rows = 8 * (size.watched + size.unlabelled) * size.top_k
        inputs = self._watched_memory(size) if stay_sparse else 4 * size.watched * size.features
        held = COPIES_OF_PARAMETERS * self.parameters(size.features, size.classes)
        return BASE + 4 * (held + COPIES_OF_ACTIVATIONS * block * dense) + inputs + rows

    def _watched_memory(self, size: GraphSize) -> int:
        """Bytes of sparse inputs of the watched nodes: rows of Π̃, and for each block the features that they need."""
        if not size.watched:  # as long as that isn't known, a node is not counted, either
            return 0
        entries, blocks = size.watched * size.top_k, math.ceil(size.watched / ROWS_AT_ONCE)
        features = min(blocks * size.nodes, entries) * size.stored / size.nodes
        return NODE * size.nodes + ENTRY * entries + int(8 * features)

    def most_steps(self, labelled: int) -> int:
        """After how many steps training ends at the latest: ``max_epochs`` passes over the training nodes.

        Parameters
        ----------
        labelled : int
            The number of training nodes.
        """
        return self.max_epochs * math.ceil(labelled / self.batch_labelled)

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """Which settings decide the number of values that are trained."""
        return ["set train.embed to true"] * (sparse and not self.embed) + ["lower train.hidden"]

    def patience_steps(self) -> int:
        """After how many steps without a gain on validation nodes training ends."""
        return self.patience * VALIDATE_EVERY

    def threshold(self, classes: int) -> float:
        """γ: the least probability that makes a mean prediction count."""
        return min(2 / classes, 1.0) if self.confidence == "auto" else self.confidence

    def widths(self, features: int, classes: int) -> list[int]:
        """Of the inputs of each linear layer, and of the last one's output."""
        return [self.hidden if self.embed else features, *[self.hidden] * (self.layers - 1), classes]
