"""The losses of training, in PyTorch's own functions: those of consistency are GRAND's and GRAND+'s."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor


def supervised_loss(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """Mean cross-entropy over labelled nodes, and over their augmentations if there are some (Eq. 11 of GRAND+).

    Parameters
    ----------
    logits : float (M, l, C) or (l, C)
    labels : int64 (l,)
    weights : float (C,), optional
        How often a node of a class counts. The divisor is the number of nodes, not the sum of their weights: else a
        batch of one class alone would have no weights.

    Examples
    --------
    >>> logits = torch.tensor([[0.8, 0.2], [0.8, 0.2]]).log()
    >>> labels = torch.tensor([0, 1])
    >>> supervised_loss(logits, labels), supervised_loss(logits, labels, torch.tensor([1.0, 3.0]))
    (tensor(0.9163), tensor(2.5257))
    """
    if logits.dim() > 2:
        logits, labels = logits.flatten(0, 1), labels.repeat(logits.shape[0])
    if weights is None:
        return F.cross_entropy(logits, labels)
    return (weights[labels] * F.cross_entropy(logits, labels, reduction="none")).mean()


def consistency_loss(
    logits: Tensor,
    *,
    temperature: float,
    threshold: float = 0.0,
    distance: Literal["l2", "kl"] = "l2",
    mean: Literal["batch", "confident"] = "batch",
) -> Tensor:
    """How far the augmentations of nodes are from their sharpened mean (Eq. 12 and 13 of GRAND+).

    Parameters
    ----------
    logits : float (M, u, C)
        Of M augmentations of u nodes.
    temperature : float
        τ of the sharpening.
    threshold : float
        γ: nodes whose mean prediction is less sure do not count; the loss is 0 where none does.
    distance : {"l2", "kl"}
        Of a prediction from the sharpened mean.
    mean : {"batch", "confident"}
        Whether to divide by the number of nodes (Eq. 13), or of those that count.

    Returns
    -------
    float ()

    Examples
    --------
    >>> logits = torch.tensor([[[0.6, 0.4]], [[0.9, 0.1]]]).log()
    >>> consistency_loss(logits, temperature=0.5)  # the mean (.75, .25) becomes (.9, .1)
    tensor(0.0900)
    """
    augmentations, nodes, _ = logits.shape
    log_probabilities = F.log_softmax(logits, dim=-1)
    probabilities = log_probabilities.exp()
    with torch.no_grad():
        average = probabilities.mean(dim=0)  # (u, C)
        pseudo_label = sharpen(average, temperature)
        confident = (average.max(dim=-1).values >= threshold).to(logits.dtype)
    if distance == "l2":
        distances = (pseudo_label - probabilities).square().sum(dim=-1)  # (M, u)
    else:  # KL, but for the entropy of the pseudo-label, which is constant
        distances = -(pseudo_label * log_probabilities).sum(dim=-1)
    # Eq. 13 divides by all nodes, the released program by the confident ones.
    counted = confident.sum().clamp(min=1) if mean == "confident" else max(nodes, 1)
    return (confident * distances).sum() / (augmentations * counted)


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """p^(1/τ), normalised over the last axis (Eq. 12); in logarithms, where nothing underflows.

    >>> sharpen(torch.tensor([0.75, 0.25]), 0.5)
    tensor([0.9000, 0.1000])
    """
    return torch.softmax(probabilities.log() / temperature, dim=-1)
