"""Models on features that are propagated once, before training: a network sees one row of them for each node."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from grandplus.graph.features import blocks_of
from grandplus.graph.graph import Graph
from grandplus.methods import protocol
from grandplus.methods.protocol import Task
from grandplus.propagation.columns import propagate_symmetric
from grandplus.propagation.plan import Plan, plan


@dataclass(frozen=True, eq=False, kw_only=True)
class PropagatedModel(protocol.Model):
    """A network on propagated features.

    Attributes
    ----------
    network : torch.nn.Module
        Takes propagated features (b, d) and returns logits (b, C).
    width : int
        Of the features, d.
    """

    network: nn.Module
    width: int

    @staticmethod
    @abstractmethod
    def make(settings: Any, width: int, classes: int) -> nn.Module:
        """The network, with its first weights."""

    @staticmethod
    @abstractmethod
    def propagated(graph: Graph, settings: Any, plan: Plan, *, on_cluster: bool) -> NDArray[np.float32]:
        """The propagated features: float32 (n, d).

        Parameters
        ----------
        graph : Graph
        settings : MethodSettings
        plan : Plan
            Of width d.
        on_cluster : bool
            Whether a cluster may be used if there is one; a task of one may not.
        """

    @torch.inference_mode()
    def predict_proba(self, graph: Graph, shared: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Class probabilities of every node: float32 (n, C).

        Parameters
        ----------
        graph : Graph
        shared : float32 (n, d), optional
            What ``shared_inputs(graph)`` of a model of the same settings has given.

        Raises
        ------
        GrandPlusError
            It needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
        """
        self.network.eval()
        inputs = self.shared_inputs(graph) if shared is None else shared
        device = next(self.network.parameters()).device
        out = np.empty((len(inputs), len(self.classes)), np.float32)
        for rows in blocks_of(len(out)):
            out[rows] = self.network(torch.from_numpy(inputs[rows]).to(device)).softmax(dim=-1).cpu().numpy()
        return out

    def shared_inputs(self, graph: Graph) -> NDArray[np.float32]:
        """The propagated features: float32 (n, d)."""
        return self.propagated(graph, self.settings, self.plan(graph), on_cluster=True)

    def plan(self, graph: Graph) -> Plan:
        """How ``shared_inputs`` keeps within ``GRANDPLUS_MEMORY``."""
        return plan(graph, self.width, sum(tensor.nbytes for tensor in self.tensors().values()))

    def tensors(self) -> dict[str, Tensor]:
        """The parameters of the network, and BatchNorm's running statistics."""
        return dict(self.network.state_dict())

    def header(self) -> dict[str, Any]:
        """Nothing: the tensors say how large they are."""
        return {}

    @classmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave."""
        width = next(int(tensors[name].shape[1]) for name in sorted(tensors) if tensors[name].ndim == 2)  # first layer
        network = cls.make(common["settings"], width, len(common["classes"]))
        network.load_state_dict(tensors)
        return cls(network=network.to(device).eval(), width=width, **common)

    @classmethod
    def inputs_of(cls, task: Task, settings: Any) -> NDArray[np.float32]:
        """The propagated features of a task's graph: float32 (n, d).

        Raises
        ------
        GrandPlusError
            Memory is too small.
        """
        graph, width = task.graph, int(task.graph.features.shape[1])
        parameters = 4 * settings.parameters(width, len(graph.classes))
        return cls.propagated(graph, settings, plan(graph, width, parameters), on_cluster=False)


def smooth(graph: Graph, weights: ArrayLike, plan: Plan, *, on_cluster: bool) -> NDArray[np.float32]:
    """Σ wₙÂⁿX with Â = D̃^-½(A + I)D̃^-½: float32 (n, d).

    Parameters
    ----------
    graph : Graph
    weights : array_like of float
        w_0..w_N.
    plan : Plan
        Of width d.
    on_cluster : bool
        Whether to use a cluster if there is one.
    """
    out = plan.array(graph.adjacency.nodes)
    for rows in blocks_of(len(out)):
        part = graph.features[rows]
        out[rows] = part.toarray() if sp.issparse(part) else part
    given = tuple(np.asarray(weights).tolist())
    return propagate_symmetric(graph, out, weights=given, columns=plan.columns, on_cluster=on_cluster)
