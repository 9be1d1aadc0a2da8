"""Two linear layers without bias, whose outputs are summed by the rows of a matrix."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.features import blocks_of
from grandplus.methods.inputs import InputLinear, SparseInput, dropout


class TwoLayers(nn.Module):
    """R ReLU(XW⁰)W¹ of features X and a sparse matrix R.

    Parameters
    ----------
    width, hidden, classes : int
        Of the features, the hidden layer and the logits.
    dropout : float
        Before both layers.
    """

    def __init__(self, width: int, hidden: int, classes: int, dropout: float = 0) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = InputLinear(width, hidden, bias=False)
        self.second = nn.Linear(hidden, classes, bias=False)

    def forward(self, x: Tensor | SparseInput, matrix: Tensor | SparseInput) -> Tensor:
        """Logits (b, C) of features (u, d) and a sparse matrix (b, u), which is a ``SparseInput`` for a gradient."""
        hidden = F.relu(self.first(dropout(x, self.dropout, self.training)))
        logits: Tensor = self.second(F.dropout(hidden, self.dropout, self.training))
        return matrix @ logits

    @classmethod
    def restored(cls, tensors: dict[str, Tensor]) -> TwoLayers:
        """The layers of a saved model, to predict with."""
        (hidden, width), classes = tensors["first.weight"].shape, len(tensors["second.weight"])
        network = cls(width, hidden, classes)
        network.load_state_dict(tensors)
        return network

    @property
    def weights(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """W⁰ (d, h) and W¹ (h, C), on the CPU, in C order: else each block of nodes would turn them anew."""
        first, second = (layer.weight.detach().cpu().T.contiguous().numpy() for layer in (self.first, self.second))
        return first, second


def to_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """The softmax of each row of logits (n, C), in their place.

    Examples
    --------
    >>> to_probabilities(np.array([[0, 0], [0, np.log(3)]], np.float32)).round(4).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    for rows in blocks_of(len(logits)):
        logits[rows] = torch.from_numpy(logits[rows]).softmax(dim=-1).numpy()
    return logits
