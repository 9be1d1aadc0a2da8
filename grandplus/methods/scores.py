"""What a validation notes of each part of the split."""

from __future__ import annotations

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from grandplus.methods.protocol import Scores


def part_scores(part: str, logits: Tensor, labels: Tensor) -> Scores:
    """The scores of a part's nodes.

    Parameters
    ----------
    part : {"train", "val"}
        How the scores' names begin.
    logits : float32 (b, C)
    labels : int64 (b,)

    Returns
    -------
    dict of str to float
        Mean cross-entropy (``_loss``), share of nodes that are right (``_accuracy``), and the largest share of nodes
        that are predicted alike (``_top_share``), which is 1 for a model that predicts one class only.

    Examples
    --------
    >>> import torch
    >>> logits = torch.tensor([[5.0, 0.0], [5.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    >>> scores = part_scores("val", logits, torch.tensor([0, 0, 1, 1]))
    >>> scores["val_accuracy"], scores["val_top_share"], round(scores["val_loss"], 3)
    (0.75, 0.75, 1.257)
    """
    predicted, count = logits.argmax(dim=-1).cpu().numpy(), len(labels)
    right = np.count_nonzero(predicted == labels.cpu().numpy())
    return {
        f"{part}_loss": F.cross_entropy(logits, labels).item(),
        f"{part}_accuracy": float(np.float32(right) / np.float32(count)),
        f"{part}_top_share": int(np.bincount(predicted).max()) / count,
    }
