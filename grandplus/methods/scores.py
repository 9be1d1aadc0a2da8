"""What a validation notes of each part of the split, and what early stopping goes by."""

from __future__ import annotations

import numpy as np
import torch
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


def decisive_scores(scores: Scores, logits: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[float, float]:
    """Accuracy and loss of the validation nodes, by which training ends and parameters are kept.

    With class weights they are weighted means: else the parameters that suit the largest class would be kept, however
    training weights it. With balanced weights of validation nodes that have the shares of training nodes, this accuracy
    is the balanced accuracy.

    Parameters
    ----------
    scores : dict
        What `part_scores` gives of "val".
    logits : float32 (b, C)
        Of the validation nodes.
    labels : int64 (b,)
    weights : float32 (C,) or None

    Examples
    --------
    >>> logits, labels = torch.tensor([[5.0, 0.0], [5.0, 0.0], [5.0, 0.0]]), torch.tensor([0, 0, 1])
    >>> scores = part_scores("val", logits, labels)
    >>> accuracy, loss = decisive_scores(scores, logits, labels, torch.tensor([0.75, 1.5]))
    >>> accuracy, round(loss, 3), round(scores["val_loss"], 3)
    (0.5, 2.507, 1.673)
    """
    if weights is None:
        return scores["val_accuracy"], scores["val_loss"]
    right = labels[logits.argmax(dim=-1) == labels]
    # By counts, so that predictions which are equally good give equal values: ties matter.
    counts, hits = (torch.bincount(part, minlength=len(weights)).double() for part in (labels, right))
    shares, total = weights.double(), counts @ weights.double()
    losses = F.cross_entropy(logits.double(), labels, weight=shares)  # divides by the sum of weights
    return float(hits @ shares / total), float(losses)
