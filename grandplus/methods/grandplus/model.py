"""A finished model, which can be saved, loaded and asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.methods import protocol
from grandplus.methods.grandplus import inference
from grandplus.methods.grandplus.fused.csr import CSR, Factors
from grandplus.methods.grandplus.fused.mixing import mix_to_sparse
from grandplus.methods.grandplus.fused.random_propagation import Batch, RandomPropagation
from grandplus.methods.grandplus.mlp import MLP, SparseLinear
from grandplus.methods.inputs import features_of_rows
from grandplus.methods.settings import ROWS_AT_ONCE
from grandplus.propagation.plan import Plan, plan
from grandplus.propagation.rows import Rows


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
            return self.probabilities_of_products(self._products(graph))
        inputs = self.shared_inputs(graph) if shared is None else shared
        assert inputs is not None
        return self.probabilities_of(inputs)

    def embed(self, graph: Graph, shared: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """The hidden layer of every node, by power iteration with nothing dropped: what the last layer takes.

        Parameters
        ----------
        graph : Graph
        shared : float32 (n, d), optional
            What ``shared_inputs(graph)`` of a model of the same settings has given.

        Returns
        -------
        float32 (n, h)
            Of a model with one layer ΠX, (n, d), as it is before any norm; with an embedding ΠH, (n, h).

        Raises
        ------
        GrandPlusError
            It needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
        """
        alone = self.settings.layers == 1
        if self.multiplies_first and not (alone and self.mlp.embedding is None):
            inputs = self._products(graph)
        else:
            inputs = self._propagated(graph) if shared is None else shared
        if alone:
            return inputs
        return self._by_blocks(lambda part: self.mlp.before_last(self._first(part)), inputs, self.settings.hidden)

    def shared_inputs(self, graph: Graph) -> NDArray[np.float32] | None:
        """What the MLP takes of every node: ΠX, or (1 - δ)ΠX if the model doesn't renormalise.

        Returns
        -------
        float32 (n, d) or None
            None if the first product comes before propagation: that differs from model to model.
        """
        return None if self.multiplies_first else self._propagated(graph)

    def inputs_of_rows(self, graph: Graph | GrownGraph, rows: Rows) -> Batch:
        """What the first layer takes of each row: the mean over DropNode, as in validation while training.

        Parameters
        ----------
        graph : Graph or GrownGraph
        rows : Rows
            Of b nodes.

        Returns
        -------
        float32 (b, d)
            Dense or sparse, on the CPU.
        """
        features, rows = features_of_rows(graph, rows)
        propagation = RandomPropagation(
            features,
            rows,
            dropnode=self.settings.dropnode,
            renormalize=self.settings.renormalize,
            sparse=sp.issparse(features) and self.mlp.takes_sparse,
        )
        inputs = propagation.expected(rows.node)
        return _summed(inputs) if isinstance(inputs, Factors) else inputs

    def predict_proba_of_rows(self, inputs: Batch) -> NDArray[np.float32]:
        """Class probabilities float32 (b, C) of the nodes whose inputs these are."""
        return np.asarray(self.mlp.evaluate(inputs).softmax(dim=-1).numpy())

    def plan(self, graph: Graph) -> Plan:
        """How ``predict_proba`` keeps within ``GRANDPLUS_MEMORY``."""
        return self._plan(graph, self.first_weight.shape[1] if self.multiplies_first else int(graph.features.shape[1]))

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
        return self._probabilities(lambda part: self.mlp.after_first(self._first(part)), products)

    def _products(self, graph: Graph) -> NDArray[np.float32]:
        """Π(XW) of every node, with the first weight (n, h)."""
        return self._scaled(inference.propagate_products(graph, self.first_weight, self.weights, self.plan(graph)))

    def _propagated(self, graph: Graph) -> NDArray[np.float32]:
        """ΠX of every node (n, d)."""
        plan = self._plan(graph, int(graph.features.shape[1]))
        return self._scaled(inference.propagate_features(graph, self.weights, plan))

    def _plan(self, graph: Graph, width: int) -> Plan:
        return plan(graph, width, sum(tensor.nbytes for tensor in self.tensors().values()))

    def _first(self, part: Tensor) -> Tensor:
        """What the first layer puts out (b, h), of propagated features or products."""
        if self.multiplies_first and self.mlp.embedding is None:
            return part + cast(Tensor, self.mlp.linears[0].bias)
        return self.mlp.first(part)

    def _probabilities(self, logits: Callable[[Tensor], Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._by_blocks(lambda part: logits(part).softmax(dim=-1), inputs, len(self.classes))

    @torch.inference_mode()
    def _by_blocks(
        self, function: Callable[[Tensor], Tensor], inputs: NDArray[np.float32], width: int
    ) -> NDArray[np.float32]:
        self.mlp.eval()
        device = next(self.mlp.parameters()).device
        out = np.empty((len(inputs), width), np.float32)
        for start in range(0, len(inputs), ROWS_AT_ONCE):
            part = torch.from_numpy(inputs[start : start + ROWS_AT_ONCE])
            out[start : start + ROWS_AT_ONCE] = function(part.to(device)).cpu().numpy()
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


def _summed(factors: Factors) -> Factors:
    """Π̃X in place of (Π̃, X), so that all models' products share one sum over neighbours."""
    shares, features = factors.parts
    most = int(np.diff(features.indptr)[shares.indices].sum()) + 1  # if no two neighbours have a feature in common
    indptr, indices = np.empty(len(shares.indptr), np.int32), np.empty(most, np.int32)
    data = np.empty(most, np.float32)
    rows = shares.indptr, shares.indices.astype(np.int64), shares.data
    table = features.indptr.astype(np.int64), features.indices, features.data
    mix_to_sparse(*rows, *table, features.width, 0.0, np.uint64(0), indptr, indices, data)
    return Factors((CSR(indptr, indices[: indptr[-1]], data[: indptr[-1]], features.width),))
