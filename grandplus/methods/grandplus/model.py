"""The MLP, and a finished model that can be saved, loaded and asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.graph import Graph
from grandplus.methods import protocol
from grandplus.methods.grandplus import inference
from grandplus.methods.grandplus.embedding import Embedding
from grandplus.methods.grandplus.layer_input import layer_input
from grandplus.methods.grandplus.random_propagation import Batch, Factors, RandomPropagation
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.grandplus.sparse_linear import SparseLinear
from grandplus.propagation.plan import Plan, plan
from grandplus.propagation.rows import Rows


class MLP(nn.Module):
    """A layer is: L2 norm of rows (if on) → BatchNorm (if on) → dropout → linear; ReLU between.

    Parameters
    ----------
    features, classes : d and C
    settings : embed, layers, hidden, batchnorm, row_norm, dropout_input, dropout_hidden. With embed the
        layers come after an ``Embedding``, and take its (b, hidden)
    """

    def __init__(self, features: int, classes: int, settings: Settings) -> None:
        super().__init__()
        self.features = features
        self.embedding = Embedding(features, settings.hidden) if settings.embed else None
        widths = [settings.hidden if settings.embed else features, *[settings.hidden] * (settings.layers - 1), classes]
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1] if settings.batchnorm)
        self.row_norm = settings.row_norm
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)
        # Before a sparse product only dropout may stand, which keeps zeros zero.
        first = nn.Linear if settings.embed or self.row_norm or self.norms else SparseLinear
        kinds = [first, *[nn.Linear] * (settings.layers - 1)]
        self.linears = nn.ModuleList(kind(*ends) for kind, ends in zip(kinds, itertools.pairwise(widths), strict=True))

    @property
    def takes_sparse(self) -> bool:
        """Whether inputs may be the factors of a sparse matrix."""
        return self.embedding is not None or isinstance(self.linears[0], SparseLinear)

    def forward(self, inputs: Tensor | Factors, rng: np.random.Generator | None = None, copies: int = 1) -> Tensor:
        """Logits (b, C) of inputs (b, d). Sparse inputs come with their dropout already done.

        rng : draws the dropout while training
        copies : equal parts of the batch, of which BatchNorm sees each by itself
        """
        if self.embedding is not None and isinstance(inputs, tuple):
            inputs = self.embedding(inputs)
        hidden = self.linears[0](inputs if isinstance(inputs, tuple) else self._into(0, inputs, rng, copies))
        return self.after_first(hidden, rng, copies)

    def after_first(self, hidden: Tensor, rng: np.random.Generator | None = None, copies: int = 1) -> Tensor:
        """Logits (b, C) of what the first layer puts out."""
        for number in range(1, len(self.linears)):
            hidden = self.linears[number](self._into(number, hidden, rng, copies))
        logits: Tensor = hidden
        return logits

    @torch.inference_mode()
    def evaluate(self, inputs: Tensor | Factors) -> Tensor:
        """Logits without dropout and with BatchNorm's running statistics; training goes on as before."""
        training = self.training
        self.eval()
        logits: Tensor = self(inputs)
        self.train(training)
        return logits

    def _into(self, number: int, hidden: Tensor, rng: np.random.Generator | None, copies: int) -> Tensor:
        return layer_input(
            hidden,
            cast(nn.BatchNorm1d, self.norms[number]) if self.norms else None,
            relu=number > 0,
            row_norm=self.row_norm,
            dropout=self.dropouts[number],
            training=self.training,
            copies=copies,
            rng=rng,
        )


class Snapshot:
    """A copy of a model's values, kept up to date at the cost of what has changed."""

    def __init__(self) -> None:
        self.state: dict[str, Tensor] = {}
        self._batches = -1  # of the embedding, at the time of the copy

    def take(self, model: MLP) -> None:
        embedding = model.embedding
        for name, tensor in model.state_dict().items():
            if embedding is not None and tensor is embedding.weight and name in self.state:
                newer = torch.from_numpy(np.flatnonzero(embedding.changed > self._batches)).to(tensor.device)
                self.state[name][newer] = tensor[newer]
            else:
                self.state[name] = tensor.detach().clone()
        self._batches = embedding.batches if embedding is not None else 0


def as_input(batch: Batch, device: str) -> Tensor | Factors:
    """A batch as ``MLP`` takes it on the device; sparse ones stay as they are."""
    return batch if isinstance(batch, tuple) else torch.from_numpy(batch).to(device)


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(protocol.RowModel):
    """A trained MLP with all that is needed to use it.

    Attributes
    ----------
    mlp : MLP
    weights : tuple of float
        w_0..w_N of the propagation matrix that it was trained on.
    """

    method: ClassVar[str] = "grandplus"

    mlp: MLP
    weights: tuple[float, ...]

    def predict_proba(self, graph: Graph, shared: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Class probabilities of every node by power iteration (Eq. 15).

        The narrower side of the first layer is propagated where that is exact: (ΠX)W = Π(XW).

        Parameters
        ----------
        graph : Graph
        shared : float32 (n, d), optional
            What ``shared_inputs(graph)`` of a model of the same settings has given.

        Returns
        -------
        float32 (n, C)

        Raises
        ------
        GrandPlusError
            It needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
        """
        if self.multiplies_first:
            products = inference.propagate_products(graph, self.first_weight, self.weights, self.plan(graph))
            return self.probabilities_of_products(self._scaled(products))
        inputs = self.shared_inputs(graph) if shared is None else shared
        assert inputs is not None
        return self.probabilities_of(inputs)

    def shared_inputs(self, graph: Graph) -> NDArray[np.float32] | None:
        """What the MLP takes of every node: ΠX, or (1 - δ)ΠX if the model doesn't renormalise.

        Returns
        -------
        float32 (n, d) or None
            None if the first product comes before propagation: that differs from model to model.
        """
        if self.multiplies_first:
            return None
        return self._scaled(inference.propagate_features(graph, self.weights, self.plan(graph)))

    def inputs_of_rows(self, graph: Graph, rows: Rows) -> Batch:
        """What the first layer takes of each row: the mean over DropNode, as in validation while training."""
        features = graph.features
        propagation = RandomPropagation(
            features,
            rows,
            dropnode=self.settings.dropnode,
            renormalize=self.settings.renormalize,
            sparse=sp.issparse(features) and self.mlp.takes_sparse,
        )
        return propagation.expected(rows.node)

    def predict_proba_of_rows(self, inputs: Batch) -> NDArray[np.float32]:
        """Class probabilities float32 (b, C) of the nodes whose inputs these are."""
        device = next(self.mlp.parameters()).device
        logits = self.mlp.evaluate(as_input(inputs, device.type))
        return np.asarray(torch.softmax(logits, dim=-1).cpu().numpy())

    def plan(self, graph: Graph) -> Plan:
        """How ``predict_proba`` keeps within ``GRANDPLUS_MEMORY``."""
        width = self.first_weight.shape[1] if self.multiplies_first else int(graph.features.shape[1])
        return plan(graph, width, sum(tensor.nbytes for tensor in self.tensors().values()))

    @property
    def multiplies_first(self) -> bool:
        """Whether the first product comes before propagation: always so if it is learned, else if that is narrower."""
        first = self.mlp.linears[0]
        narrower = isinstance(first, SparseLinear) and first.outputs < self.mlp.features
        return narrower or self.mlp.embedding is not None

    @property
    def first_weight(self) -> NDArray[np.float32]:
        """W⁰ of the embedding, or else W of the first layer: float32 (d, h)."""
        if self.mlp.embedding is not None:
            weight = self.mlp.embedding.weight
        else:
            weight = torch.cat(list(cast(SparseLinear, self.mlp.linears[0]).blocks), dim=1)
        return np.asarray(weight.detach().cpu().numpy())

    def probabilities_of(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class probabilities float32 (b, C) from propagated features (b, d) of b nodes."""
        return self._probabilities(self.mlp, inputs)

    def probabilities_of_products(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class probabilities float32 (b, C) from propagated products with the first weight: (b, h)."""
        if self.mlp.embedding is not None:
            return self._probabilities(self.mlp, products)
        bias = cast(Tensor, self.mlp.linears[0].bias)
        return self._probabilities(lambda part: self.mlp.after_first(part + bias), products)

    @torch.inference_mode()
    def _probabilities(self, logits: Callable[[Tensor], Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        self.mlp.eval()
        device = next(self.mlp.parameters()).device
        out = np.empty((len(inputs), len(self.classes)), np.float32)
        for start in range(0, len(inputs), inference.ROWS_AT_ONCE):
            part = torch.from_numpy(inputs[start : start + inference.ROWS_AT_ONCE])
            out[start : start + inference.ROWS_AT_ONCE] = logits(part.to(device)).softmax(dim=-1).cpu().numpy()
        return out

    def _scaled(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean over DropNode: Eq. 8 as printed has the factor 1 - δ, renormalised rows have none."""
        if not self.settings.renormalize:
            values *= np.float32(1 - self.settings.dropnode)
        return values

    def tensors(self) -> dict[str, Tensor]:
        """The state of the MLP."""
        return dict(self.mlp.state_dict())

    def header(self) -> dict[str, Any]:
        """Width of the features, and w_0..w_N."""
        return {"features": self.mlp.features, "weights": self.weights}

    @classmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave."""
        mlp = MLP(header["features"], len(common["classes"]), common["settings"])
        mlp.load_state_dict(tensors)
        return cls(mlp=mlp.to(device), weights=tuple(header["weights"]), **common)
