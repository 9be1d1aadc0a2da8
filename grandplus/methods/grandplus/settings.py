"""The hyperparameters of GRAND+'s training, with defaults for a graph that nobody has tuned them on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from grandplus.runtime.validation import Count, Fraction, NonNegative, Positive, Section

NEEDS_ROWS = True  # of Π, for the nodes that are trained on and validated
PUBLISHED: dict[str, dict[str, Any]] = {}  # by dataset; GRAND+'s own stand in the cards


class Settings(Section):
    """The defaults are what the paper's small citation graphs agree on. A card states what differs."""

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
    batch_unlabelled: Annotated[int, Field(ge=0)] = 100  # |U_t|
    temperature: Annotated[float, Field(gt=0, le=1)] = 0.1  # τ of the sharpening (Eq. 12)
    confidence: Literal["auto"] | Fraction = "auto"  # γ; auto is 2 / classes
    distance: Literal["l2", "kl"] = "l2"  # of the consistency loss
    # The mean over the batch (Eq. 13) or over its confident nodes, as the released program has it.
    consistency_mean: Literal["batch", "confident"] = "confident"
    lambda_max: NonNegative = 1.0  # weight of the consistency loss after warm-up
    warmup: Annotated[int, Field(ge=0)] = 1000  # steps until λ reaches lambda_max
    clip: NonNegative = (
        0.0  # largest gradient norm; 0: no clipping. Decay isn't clipped: a small norm would drown in it
    )
    patience: Count = 50  # validations (one every 10 steps) without improvement
    max_epochs: Count = 5000  # passes over the labelled nodes at most
    renormalize: bool = True  # divide an augmented row by its surviving sum; Eq. 8 taken literally trains far worse
