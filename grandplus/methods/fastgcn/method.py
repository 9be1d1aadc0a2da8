"""FastGCN: two graph convolutions, of which the second is estimated from sampled neighbours.

Source: J. Chen, T. Ma, C. Xiao. FastGCN: Fast Learning with Graph Convolutional Networks via Importance Sampling. ICLR
2018. The logits are Â ReLU(ÂXW⁰)W¹. As in the authors' program for a graph of which all is known, ÂX is computed once,
so only the sums over the hidden layer are sampled; there is no bias; and the validation's loss by which training ends
has the weight decay's part in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.features import Features, blocks_of
from grandplus.graph.graph import Graph
from grandplus.methods import protocol
from grandplus.methods.fastgcn.sampler import Neighbourhoods, Sampler
from grandplus.methods.fastgcn.settings import Settings
from grandplus.methods.inputs import csr_tensor, input_of, multiply, sparse_input
from grandplus.methods.losses import supervised_loss
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.settings import ROWS_AT_ONCE
from grandplus.methods.start import begin
from grandplus.methods.stopping import RisingLoss
from grandplus.methods.training import (
    Watch,
    adam,
    batches,
    decay_penalty,
    labels_of,
    seeded,
    train,
    trained,
    watched_nodes,
    weights_of,
)
from grandplus.methods.two_layers import TwoLayers, to_probabilities
from grandplus.propagation.columns import propagate_symmetric
from grandplus.propagation.plan import Plan, plan

ONE_STEP = (0.0, 1.0)  # the weights of Â


def fit(task: Task, settings: Settings, *, info: dict[str, Any] | None = None, watch: Watch = None) -> Trained:
    """Train one model on batches of training nodes; the last weights are kept.

    Validation takes all neighbours.

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
    graph, nodes, device = task.graph, task.split.train, torch.device(task.device)
    neighbourhoods, labels = Neighbourhoods(graph.adjacency), labels_of(task, nodes)
    weights, needed = weights_of(task, settings), neighbourhoods.of(watched_nodes(task))
    propagated = propagate_some(graph, neighbourhoods, needed)
    unsampled = neighbourhoods.part(watched_nodes(task), needed, np.ones(len(needed)))
    watched = input_of(propagated, device), csr_tensor(unsampled, torch.from_numpy(unsampled.data)).to(device)
    with seeded(task) as rng:
        network = TwoLayers(int(graph.features.shape[1]), settings.hidden, len(graph.classes), settings.dropout)
        for layer in (network.first, network.second):
            nn.init.xavier_uniform_(layer.weight)
        begin(network.to(device), task, settings)
        if sp.issparse(propagated):
            network.first.store_by_features()
        optimizer = adam(settings.lr, (network.first, settings.weight_decay), (network.second, 0))
        sampler = Sampler(neighbourhoods, settings.samples, rng)

        def epoch() -> float:
            losses = []
            for batch in batches(len(nodes), settings.batch_labelled, rng):
                sampled, part = sampler.draw(nodes[batch])
                inputs = input_of(propagated[np.searchsorted(needed, sampled)], device)
                optimizer.zero_grad()
                logits = network(inputs, sparse_input(part, device))
                loss = supervised_loss(logits, labels[batch], weights)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                losses.append(loss.item())
            return sum(losses)

        training = train(
            network,
            task,
            epoch=epoch,
            evaluate=lambda: network(*watched),
            settings=settings,
            stopping=RisingLoss(settings.window, recent=2),
            penalty=lambda: decay_penalty(optimizer),
            watch=watch,
        )
        network.first.store_by_outputs()
    return trained(Model, task, settings, training, info, network=network)


def propagate_some(graph: Graph, neighbourhoods: Neighbourhoods, nodes: NDArray[np.int64]) -> Features:
    """ÂX of some nodes: float32 (b, d), a scipy CSR matrix if X is one and that is smaller.

    Blocks of nodes are taken one after the other, as their neighbours' features are copied.

    Parameters
    ----------
    graph : Graph
    neighbourhoods : Neighbourhoods
        Of the graph.
    nodes : int64 (b,)
    """

    def product(block: slice) -> Features:
        sources = neighbourhoods.of(nodes[block])
        return neighbourhoods.part(nodes[block], sources, np.ones(len(sources))) @ graph.features[sources]

    shape, blocks = (len(nodes), int(graph.features.shape[1])), blocks_of(len(nodes), ROWS_AT_ONCE)
    if sp.issparse(graph.features):
        whole = sp.vstack([product(block) for block in blocks], "csr")
        return whole if 2 * whole.nnz < math.prod(shape) else whole.toarray()
    out = np.empty(shape, np.float32)
    for block in blocks:
        out[block] = product(block)
    return out


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(protocol.Model):
    """A trained FastGCN.

    Attributes
    ----------
    network : TwoLayers
    """

    method: ClassVar[str] = "fastgcn"

    network: TwoLayers

    def predict_proba(self, graph: Graph, shared: None = None) -> NDArray[np.float32]:
        """Class probabilities of every node, with nothing sampled: float32 (n, C).

        XW⁰ is propagated in place of X, which is the same and narrower.

        Parameters
        ----------
        graph : Graph
        shared : None
            Nothing: the products differ from model to model.

        Raises
        ------
        GrandPlusError
            It needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
        """
        hidden, plan = self.embed(graph), self.plan(graph)
        _, second = self.network.weights  # once, as each call turns both
        logits = np.empty((len(hidden), len(self.classes)), np.float32)
        for nodes in blocks_of(len(hidden)):
            multiply(hidden[nodes], second, logits[nodes])
        return to_probabilities(propagate_symmetric(graph, logits, weights=ONE_STEP, columns=plan.columns))

    def embed(self, graph: Graph, shared: None = None) -> NDArray[np.float32]:
        """The hidden layer of every node, ReLU(ÂXW⁰): float32 (n, h).

        Parameters
        ----------
        graph : Graph
        shared : None
            As for ``predict_proba``.
        """
        plan = self.plan(graph)
        hidden = multiply(graph.features, self.network.weights[0], plan.array(graph.adjacency.nodes))
        propagate_symmetric(graph, hidden, weights=ONE_STEP, columns=plan.columns)
        for nodes in blocks_of(len(hidden)):
            hidden[nodes].clip(0, out=hidden[nodes])
        return hidden

    def plan(self, graph: Graph) -> Plan:
        """How ``predict_proba`` keeps within ``GRANDPLUS_MEMORY``."""
        return plan(graph, self.settings.hidden, sum(tensor.nbytes for tensor in self.tensors().values()))

    def tensors(self) -> dict[str, Tensor]:
        """The weights of both layers."""
        return dict(self.network.state_dict())

    def header(self) -> dict[str, Any]:
        """Nothing: the tensors say how large they are."""
        return {}

    @classmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave."""
        return cls(network=TwoLayers.restored(tensors).to(device), **common)
