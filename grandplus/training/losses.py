"""The two losses (the paper's Eq. 11-13)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def supervised_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over augmentations and labelled nodes (Eq. 11).

    logits : (M, b, C), labels : int64 (b,)
    """
    return F.cross_entropy(logits.flatten(0, 1), labels.repeat(logits.shape[0]))


def consistency_loss(logits: Tensor, *, temperature: float, confidence: float, distance: str) -> Tensor:
    """Confidence-aware consistency between augmentations of unlabelled nodes (Eq. 13).

    Parameters
    ----------
    logits : (M, b, C)
    temperature : τ of the sharpening
    confidence : γ; nodes whose mean prediction is less sure do not count
    distance : ``l2``, the squared difference summed over classes, or ``kl``, the cross-entropy
        against the pseudo-label (KL up to the constant entropy of it)

    Returns
    -------
    Scalar, averaged over all M · b predictions, confident or not; 0 where none is.
    """
    if logits.shape[1] == 0:
        return logits.sum()  # 0, and part of the graph like any other value
    log_probabilities = F.log_softmax(logits, dim=-1)
    probabilities = log_probabilities.exp()
    with torch.no_grad():
        mean = probabilities.mean(dim=0)  # (b, C)
        pseudo_label = sharpen(mean, temperature)
        confident = (mean.max(dim=-1).values >= confidence).to(logits.dtype)
    if distance == "l2":
        distances = (pseudo_label - probabilities).square().sum(dim=-1)
    else:
        distances = -(pseudo_label * log_probabilities).sum(dim=-1)
    return (confident * distances).mean()


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """p^(1/τ), normalised over the last axis (Eq. 12); in logarithms, where nothing underflows.

    >>> sharpen(torch.tensor([0.75, 0.25]), 0.5)
    tensor([0.9000, 0.1000])
    """
    return torch.softmax(probabilities.log() / temperature, dim=-1)


def warmup_weight(step: int, *, lambda_max: float, warmup: int) -> float:
    """λ(t) = λ_max · min(1, t / warm-up).

    >>> [warmup_weight(step, lambda_max=1.0, warmup=4) for step in (0, 1, 4, 9)]
    [0.0, 0.25, 1.0, 1.0]
    """
    return lambda_max * min(1.0, step / warmup) if warmup else lambda_max
