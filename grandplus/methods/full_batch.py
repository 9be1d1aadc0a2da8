"""Methods whose every step is a pass over the whole graph, by the layers of PyTorch Geometric.

A method has its network, which takes the features and Â = D̃^-½(A + I)D̃^-½, and its own optimizer and stopping.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import blocks_of
from grandplus.graph.graph import Graph
from grandplus.methods import protocol
from grandplus.methods.inputs import SparseInput, csr_tensor, input_of
from grandplus.methods.losses import supervised_loss
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.start import begin
from grandplus.methods.stopping import Stopping
from grandplus.methods.training import (
    Watch,
    decay_penalty,
    labels_of,
    seeded,
    train,
    trained,
    watched_nodes,
    weights_of,
)


class Inputs(NamedTuple):
    """What a network takes of a graph."""

    features: Tensor | SparseInput  # float32 (n, d)
    adjacency: Any  # Â, float32 (n, n), sparse CSR; or what else a method makes of the structure


@dataclass(frozen=True, eq=False, kw_only=True)
class FullBatchModel(protocol.Model):
    """A network over the whole graph.

    Attributes
    ----------
    network : torch.nn.Module
        Takes ``Inputs`` and returns logits (n, C).
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
    def adjacency_of(graph: Graph, device: torch.device) -> Any:
        """What the network takes of the structure: Â, float32 (n, n), sparse CSR."""
        return normalized(graph.adjacency).to(device)

    @torch.inference_mode()
    def predict_proba(self, graph: Graph, shared: Inputs | None = None) -> NDArray[np.float32]:
        """Class probabilities of every node: float32 (n, C).

        Parameters
        ----------
        graph : Graph
        shared : Inputs, optional
            What ``shared_inputs(graph)`` of a model of the same settings has given.
        """
        self.network.eval()
        inputs = self.shared_inputs(graph) if shared is None else shared
        probabilities: NDArray[np.float32] = self.network(*inputs).softmax(dim=-1).cpu().numpy()
        return probabilities

    def shared_inputs(self, graph: Graph) -> Inputs:
        """The features and Â."""
        return self.inputs_of(graph, next(self.network.parameters()).device)

    @classmethod
    def inputs_of(cls, graph: Graph, device: torch.device) -> Inputs:
        """The features and Â of a graph, on a device."""
        return Inputs(input_of(graph.features, device), cls.adjacency_of(graph, device))

    def tensors(self) -> dict[str, Tensor]:
        """The parameters of the network, and BatchNorm's running statistics."""
        return dict(self.network.state_dict())

    def header(self) -> dict[str, Any]:
        """The width of the features."""
        return {"width": self.width}

    @classmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave."""
        width = int(header["width"])
        network = cls.make(common["settings"], width, len(common["classes"]))
        network.load_state_dict(tensors)
        return cls(network=network.to(device), width=width, **common)


M = TypeVar("M", bound=FullBatchModel)


def fit_full_batch(
    model: type[M],
    task: Task,
    settings: Any,
    *,
    optimizer: Callable[[Any], torch.optim.Optimizer],
    stopping: Stopping,
    with_penalty: bool = False,
    info: dict[str, Any] | None = None,
    watch: Watch = None,
) -> Trained:
    """Train one model on the mean cross-entropy of the training nodes, which class weights may weight.

    Parameters
    ----------
    model : type
        A class derived from ``FullBatchModel``.
    task : Task
    settings : MethodSettings
        With ``epochs``.
    optimizer : callable
        Given the network, returns the optimizer of its parameters.
    stopping : Stopping
    with_penalty : bool
        Whether the rule sees the validation's loss with what weight decay adds to it, as in the programs of authors who
        have it in their loss.
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each epoch.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite.
    """
    graph, device = task.graph, torch.device(task.device)
    width, inputs = int(graph.features.shape[1]), model.inputs_of(graph, device)
    nodes, watched = (torch.tensor(part, device=device) for part in (task.split.train, watched_nodes(task)))
    labels, weights = labels_of(task, task.split.train), weights_of(task, settings)
    with seeded(task):
        network = model.make(settings, width, len(graph.classes)).to(device)
        begin(network, task, settings)
        steps = optimizer(network)

        def epoch() -> float:
            steps.zero_grad()
            loss = supervised_loss(network(*inputs)[nodes], labels, weights)
            loss.backward()  # type: ignore[no-untyped-call]
            steps.step()
            return loss.item()

        training = train(
            network,
            task,
            epoch=epoch,
            evaluate=lambda: network(*inputs)[watched],
            settings=settings,
            stopping=stopping,
            penalty=lambda: decay_penalty(steps) if with_penalty else 0.0,
            watch=watch,
        )
    return trained(model, task, settings, training, info, network=network, width=width)


def normalized(adjacency: Adjacency) -> Tensor:
    """Â = D̃^-½(A + I)D̃^-½: float32 (n, n), sparse CSR.

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> normalized(path).to_dense()
    tensor([[0.5000, 0.4082, 0.0000],
            [0.4082, 0.3333, 0.4082],
            [0.0000, 0.4082, 0.5000]])
    """
    matrix = normalized_matrix(adjacency)
    return csr_tensor(matrix, torch.from_numpy(matrix.data))


def normalized_matrix(adjacency: Adjacency) -> Any:
    """Â: float32 (n, n), scipy CSR with sorted rows."""
    with_loops = (adjacency.matrix() + sp.diags_array(np.asarray(adjacency.loops))).tocsr()
    root, values = np.sqrt(adjacency.strengths), np.empty(with_loops.nnz, np.float32)
    for nodes in blocks_of(adjacency.nodes):  # as roots of all entries at once would take more memory than all else
        of_block = slice(*with_loops.indptr[[nodes.start, nodes.stop]])
        ends = np.repeat(root[nodes], adjacency.degrees[nodes]) * root[with_loops.indices[of_block]]
        values[of_block] = with_loops.data[of_block] / ends
    return sp.csr_array((values, with_loops.indices, with_loops.indptr), shape=with_loops.shape)
