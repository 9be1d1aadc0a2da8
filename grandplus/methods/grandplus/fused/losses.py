"""The losses of a step (the paper's Eq. 11 to 14) and their gradient, in one pass."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from grandplus.kernels.compiled import FLOAT32, FLOAT64, INT64, kernel, matrix, writable
from grandplus.methods.grandplus.settings import Settings


def losses(
    logits: NDArray[np.float32],
    labels: NDArray[np.int64],
    settings: Settings,
    weight: float,
    gradient: NDArray[np.float32],
    class_weights: NDArray[np.float64],
) -> tuple[float, float]:
    """The total loss, and the consistency loss.

    Parameters
    ----------
    logits : float32 (M, b, C)
        Those of labelled nodes first.
    labels : int64 (l,)
        Of the labelled nodes.
    settings : Settings
        Of which it takes temperature, confidence, distance and consistency_mean.
    weight : float
        λ(t) of the consistency loss.
    gradient : float32 (M, b, C)
        Is filled with that of the total.
    class_weights : float64 (C,)
        How often a labelled node counts, by its class.
    """
    confidence, parts = np.float32(settings.threshold(logits.shape[2])), np.empty(2)
    options = settings.temperature, confidence, settings.distance == "l2", settings.consistency_mean == "confident"
    _fill(logits, labels, class_weights, weight, *options, gradient, parts)
    return float(parts[0] + weight * parts[1]), float(parts[1])


@kernel(
    matrix(FLOAT32, 3), INT64, FLOAT64, types.float64, types.float64, types.float32, types.boolean, types.boolean,
    writable(matrix(FLOAT32, 3)), writable(FLOAT64),
)  # fmt: skip
def _fill(logits, labels, class_weights, weight, temperature, confidence, l2, over_confident, gradient, parts):
    """The gradient of the total, and the two losses, node by node in float64."""
    augmentations, nodes, classes = logits.shape
    labelled = len(labels)
    logs, slopes = np.empty((augmentations, classes)), np.empty(classes)
    mean, pseudo = np.empty(classes), np.empty(classes)
    supervised = consistency = 0.0
    counted = 0 if over_confident else nodes - labelled
    for node in range(nodes):
        mean[:] = 0
        for m in range(augmentations):
            top = logits[m, node].max()
            total = 0.0
            for c in range(classes):
                logs[m, c] = np.float64(logits[m, node, c]) - top
                total += np.exp(logs[m, c])
            for c in range(classes):
                logs[m, c] -= np.log(total)
                mean[c] += np.exp(logs[m, c]) / augmentations
        if node < labelled:
            share = class_weights[labels[node]] / (augmentations * labelled)
            for m in range(augmentations):
                supervised -= share * logs[m, labels[node]]
                for c in range(classes):
                    gradient[m, node, c] = share * (np.exp(logs[m, c]) - (c == labels[node]))
            continue
        if np.float32(mean.max()) < confidence:
            for m in range(augmentations):
                gradient[m, node] = 0
            continue
        counted += over_confident
        # Sharpened in logarithms, relative to the largest, where nothing overflows.
        total = 0.0
        for c in range(classes):
            pseudo[c] = np.exp((np.log(mean[c]) - np.log(mean.max())) / temperature)
            total += pseudo[c]
        for c in range(classes):
            pseudo[c] /= total
        for m in range(augmentations):
            along = 0.0
            for c in range(classes):
                p = np.exp(logs[m, c])
                if l2:
                    consistency += (pseudo[c] - p) ** 2
                    slopes[c] = 2 * (p - pseudo[c])
                else:
                    consistency -= pseudo[c] * logs[m, c]
                    slopes[c] = -pseudo[c] / p
                along += slopes[c] * p
            for c in range(classes):
                p = np.exp(logs[m, c])
                through = p * (slopes[c] - along) if l2 else p - pseudo[c]
                gradient[m, node, c] = weight * through
    share = 1 / (augmentations * max(counted, 1))
    gradient[:, labelled:] *= np.float32(share)
    parts[0], parts[1] = supervised, share * consistency
