"""GraphSAINT, with subgraphs of random walks.

Source: H. Zeng, H. Zhou, A. Srivastava, R. Kannan, V. Prasanna. GraphSAINT: Graph Sampling Based Inductive Learning
Method. ICLR 2020. A step sees one subgraph. It divides the losses of training nodes there by how likely they are drawn,
and what a neighbour adds to a mean by how likely it is drawn if the node is (its Eqs. 2 and 3).

What differs from the authors' program:

- It samples the graph of the training nodes alone. With few labels there are hardly edges among these, so here walks go
  over the whole graph. As there, they begin at training nodes, only these have a loss, and t of them make an epoch of
  ⌈t / (walks · depth)⌉ steps.
- Once it has trained on all subgraphs that were counted, it draws new ones. In these an edge may have a count of 0, and
  then a factor of 10,000. Here the counted ones begin again.
- It standardises the features. Sparse ones would become dense, so here they are scaled as the card says.
- A walk that comes to a node without neighbours ends there, where it would divide by 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.graph import Graph
from grandplus.methods.full_batch import FullBatchModel
from grandplus.methods.graphsaint.inference import logits_of, receptive_field
from grandplus.methods.graphsaint.network import HOPS, GraphSAINT
from grandplus.methods.graphsaint.sampler import Sampler
from grandplus.methods.graphsaint.settings import Settings
from grandplus.methods.inputs import SparseInput, input_of
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.start import begin
from grandplus.methods.stopping import Patience
from grandplus.methods.training import Watch, adam, labels_of, seeded, train, trained, watched_nodes, weights_of


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model; the weights of the highest validation accuracy are kept.

    Parameters
    ----------
    task : Task
        Its rows and unlabelled nodes are not used.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each epoch.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite.
    """
    graph, width = task.graph, int(task.graph.features.shape[1])
    field = receptive_field(graph.adjacency, watched_nodes(task))
    with seeded(task) as rng:
        walks, seed = min(settings.roots, graph.adjacency.nodes), int(rng.integers(2**63))
        sampler = Sampler(graph.adjacency, task.split.train, walks=walks, depth=settings.depth, seed=seed)
        sampler.count(settings.coverage)
        batches = Batches(task, sampler, weights_of(task, settings))
        network = Model.make(settings, width, len(graph.classes)).to(task.device)
        begin(network, task, settings)
        optimizer = adam(settings.lr, (network, settings.weight_decay))
        steps = math.ceil(len(task.split.train) / (walks * settings.depth))

        def epoch() -> float:
            return sum(step(network, optimizer, batches.following(), settings.clip) for _ in range(steps)) / steps

        training = train(
            network,
            task,
            epoch=epoch,
            evaluate=lambda: logits_of(network, graph, field),
            settings=settings,
            stopping=Patience(0, watched="accuracy", kept="accuracy", ties="first"),
            watch=watch,
        )
    return trained(Model, task, settings, training, info, network=network, width=width)


class Batch(NamedTuple):
    """A subgraph, and where in it the training nodes are."""

    x: Tensor | SparseInput  # float32 (m, d)
    adjacency: SparseInput  # (m, m)
    rows: Tensor  # int64 (b,)
    weights: Tensor  # of the losses: float32 (b,)
    labels: Tensor  # int64 (b,)


class Batches:
    """The subgraphs that were counted, one after the other, and again from the first.

    Parameters
    ----------
    task : Task
    sampler : Sampler
    class_weights : float32 (C,), optional
        By which the losses of training nodes are multiplied.
    """

    def __init__(self, task: Task, sampler: Sampler, class_weights: Tensor | None = None) -> None:
        self._task, self._sampler, self._number = task, sampler, 0
        self._weights = np.zeros(task.graph.adjacency.nodes, np.float32)
        self._weights[task.split.train] = sampler.loss_weights(task.split.train)
        if class_weights is not None:
            self._weights[task.split.train] *= class_weights[labels_of(task, task.split.train)].cpu().numpy()

    def following(self) -> Batch:
        """The next one."""
        graph, device = self._task.graph, torch.device(self._task.device)
        subgraph = self._sampler.subgraph(self._number)
        self._number += 1
        rows = np.flatnonzero(self._weights[subgraph.nodes])
        nodes = subgraph.nodes[rows]
        parts = rows, self._weights[nodes], np.asarray(graph.labels)[nodes]
        x = input_of(graph.features[subgraph.nodes], device)
        return Batch(x, subgraph.adjacency(device), *(torch.from_numpy(part).to(device) for part in parts))


def step(network: GraphSAINT, optimizer: torch.optim.Optimizer, batch: Batch, clip: float) -> float:
    """Train on one subgraph.

    Parameters
    ----------
    network : GraphSAINT
    optimizer : torch.optim.Optimizer
    batch : Batch
    clip : float
        The largest norm of the gradient; 0: any.

    Returns
    -------
    float
        An estimate of the mean cross-entropy of all training nodes.
    """
    optimizer.zero_grad()
    losses = F.cross_entropy(network(batch.x, batch.adjacency)[batch.rows], batch.labels, reduction="none")
    loss = (batch.weights * losses).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    if clip:
        nn.utils.clip_grad_norm_(network.parameters(), clip)
    optimizer.step()
    return loss.item()


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(FullBatchModel):
    """A trained GraphSAINT."""

    method: ClassVar[str] = "graphsaint"

    network: GraphSAINT

    @staticmethod
    def make(settings: Settings, width: int, classes: int) -> GraphSAINT:
        """The network, with its first weights."""
        return GraphSAINT(settings, width, classes)

    @property
    def last_layer(self) -> nn.Module:
        """The classifier."""
        return self.network.classifier

    @torch.inference_mode()
    def predict_proba(self, graph: Graph, shared: Any = None) -> NDArray[np.float32]:
        """Class probabilities of every node: float32 (n, C)."""
        self.network.eval()
        every = np.arange(graph.adjacency.nodes)
        logits = logits_of(self.network, graph, [every] * (HOPS + 1))
        probabilities: NDArray[np.float32] = logits.softmax(dim=-1).cpu().numpy()
        return probabilities

    def shared_inputs(self, graph: Graph) -> Any:
        """Nothing: the whole graph passes through the layers in blocks."""
        return None
