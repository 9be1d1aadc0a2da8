"""The two losses (the paper's Eq. 11-14), in PyTorch, and with their gradient in one pass on the CPU."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numba import types
from torch import Tensor

from grandplus.kernels.compiled import INT64, compiled


class Losses(NamedTuple):
    """total = supervised + weight · consistency, to be differentiated; the other two to be looked at."""

    total: Tensor
    supervised: float
    consistency: float


def losses(
    logits: Tensor,
    labels: Tensor,
    *,
    weight: float,
    temperature: float,
    confidence: float,
    distance: str,
    consistency_mean: str,
) -> Losses:
    """All of a step (Eq. 14).

    Parameters
    ----------
    logits : (M, b, C), those of labelled nodes first
    labels : int64 (l,), of the labelled nodes
    weight : λ(t) of the consistency loss
    temperature, confidence, distance, consistency_mean : as for ``consistency_loss``
    """
    if logits.device.type == "cpu":
        settings = weight, temperature, confidence, distance == "l2", consistency_mean == "confident"
        total, parts = _Losses.apply(logits, labels, *settings)  # type: ignore[no-untyped-call]
        return Losses(total, *parts.tolist())
    supervised = supervised_loss(logits[:, : len(labels)], labels)
    consistency = consistency_loss(
        logits[:, len(labels) :],
        temperature=temperature,
        confidence=confidence,
        distance=distance,
        consistency_mean=consistency_mean,
    )
    return Losses(supervised + weight * consistency, supervised.item(), consistency.item())


def supervised_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over augmentations and labelled nodes (Eq. 11).

    logits : (M, b, C), labels : int64 (b,)
    """
    return F.cross_entropy(logits.flatten(0, 1), labels.repeat(logits.shape[0]))


def consistency_loss(
    logits: Tensor, *, temperature: float, confidence: float, distance: str, consistency_mean: str
) -> Tensor:
    """Confidence-aware consistency between augmentations of unlabelled nodes (Eq. 13).

    Parameters
    ----------
    logits : (M, b, C)
    temperature : τ of the sharpening
    confidence : γ; nodes whose mean prediction is less sure do not count
    distance : ``l2``, the squared difference summed over classes, or ``kl``, the cross-entropy
        against the pseudo-label (KL up to the constant entropy of it)
    consistency_mean : average over the M · b predictions of the ``batch`` (Eq. 13), or over those of
        ``confident`` nodes alone, as the released program does

    Returns
    -------
    Scalar; 0 where no node is confident.
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
    counted = confident.sum().clamp(min=1) if consistency_mean == "confident" else logits.shape[1]
    return (confident * distances).sum() / (logits.shape[0] * counted)


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


class _Losses(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        labels: Tensor,
        weight: float,
        temperature: float,
        confidence: float,
        l2: bool,
        over_confident: bool,
    ) -> tuple[Tensor, Tensor]:
        values = logits.detach().contiguous().numpy()
        gradient, parts = np.empty_like(values), np.empty(2)
        settings = weight, temperature, np.float32(confidence), l2, over_confident
        _kernel()(values, labels.numpy(), *settings, gradient, parts)
        ctx.gradient = torch.from_numpy(gradient)
        outputs = torch.tensor(parts[0] + weight * parts[1], dtype=logits.dtype), torch.from_numpy(parts)
        ctx.mark_non_differentiable(outputs[1])
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.gradient * gradients[0], *[None] * 6


@functools.cache
def _kernel() -> Any:
    logits, gradient = (types.Array(types.float32, 3, "C", readonly=readonly) for readonly in (True, False))
    settings = [types.float64, types.float64, types.float32, types.boolean, types.boolean]
    return compiled(_fill, logits, INT64, *settings, gradient, types.Array(types.float64, 1, "C"))


def _fill(  # type: ignore[no-untyped-def]
    logits, labels, weight, temperature, confidence, l2, over_confident, gradient, parts
):
    """The gradient of the total, and the two losses, node by node in float64."""
    copies, nodes, classes = logits.shape
    labelled = len(labels)
    logs, slopes = np.empty((copies, classes)), np.empty(classes)
    mean, pseudo = np.empty(classes), np.empty(classes)
    supervised = consistency = 0.0
    counted = 0 if over_confident else nodes - labelled
    for node in range(nodes):
        mean[:] = 0
        for copy in range(copies):
            top = logits[copy, node].max()
            total = 0.0
            for c in range(classes):
                logs[copy, c] = np.float64(logits[copy, node, c]) - top
                total += np.exp(logs[copy, c])
            for c in range(classes):
                logs[copy, c] -= np.log(total)
                mean[c] += np.exp(logs[copy, c]) / copies
        if node < labelled:
            share = 1 / (copies * labelled)
            for copy in range(copies):
                supervised -= share * logs[copy, labels[node]]
                for c in range(classes):
                    gradient[copy, node, c] = share * (np.exp(logs[copy, c]) - (c == labels[node]))
            continue
        if np.float32(mean.max()) < confidence:
            for copy in range(copies):
                gradient[copy, node] = 0
            continue
        counted += over_confident
        # Sharpened in logarithms, relative to the largest, where nothing overflows.
        total = 0.0
        for c in range(classes):
            pseudo[c] = np.exp((np.log(mean[c]) - np.log(mean.max())) / temperature)
            total += pseudo[c]
        for c in range(classes):
            pseudo[c] /= total
        for copy in range(copies):
            along = 0.0
            for c in range(classes):
                p = np.exp(logs[copy, c])
                if l2:
                    consistency += (pseudo[c] - p) ** 2
                    slopes[c] = 2 * (p - pseudo[c])
                else:
                    consistency -= pseudo[c] * logs[copy, c]
                    slopes[c] = -pseudo[c] / p
                along += slopes[c] * p
            for c in range(classes):
                p = np.exp(logs[copy, c])
                through = p * (slopes[c] - along) if l2 else p - pseudo[c]
                gradient[copy, node, c] = weight * through
    share = 1 / (copies * max(counted, 1))
    gradient[:, labelled:] *= np.float32(share)
    parts[0], parts[1] = supervised, share * consistency
