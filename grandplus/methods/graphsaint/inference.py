"""Logits on the whole graph, layer by layer, each for the nodes that the next one needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.graphsaint import kernels
from grandplus.methods.graphsaint.network import HOPS, GraphSAINT
from grandplus.methods.inputs import csr_tensor
from grandplus.runtime import pools

BLOCK = 2**14  # nodes that pass through a layer at a time
ROWS = 1024  # nodes whose neighbours a thread adds up at a time; any number gives the same bytes

Nodes = NDArray[np.int64]


def receptive_field(adjacency: Adjacency, nodes: Nodes) -> list[Nodes]:
    """The nodes on which the logits of some nodes depend.

    Parameters
    ----------
    adjacency : Adjacency
    nodes : int64 (b,)

    Returns
    -------
    list of ndarray of int64
        First the nodes of at most two steps from ``nodes``, then those of one step, then ``nodes``.

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array([1.0] * 4, offsets=1, shape=(5, 5)).tocsr())
    >>> [part.tolist() for part in receptive_field(path, np.array([0]))]
    [[0, 1, 2], [0, 1], [0]]
    """
    field = [nodes]
    for _ in range(HOPS):
        near = np.zeros(adjacency.nodes, bool)
        near[field[0]] = True
        for node in field[0]:
            near[adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]] = True
        field.insert(0, np.flatnonzero(near))
    return field


@torch.inference_mode()
def logits_of(network: GraphSAINT, graph: Graph, field: list[Nodes]) -> Tensor:
    """Logits of the last nodes of a field, with the means over all their neighbours: float32 (b, C).

    Parameters
    ----------
    network : GraphSAINT
        In evaluation mode.
    graph : Graph
    field : list of ndarray of int64
        See ``receptive_field``.
    """
    device, adjacency, x = network.classifier.weight.device, graph.adjacency, graph.features
    for hop, senders, nodes in zip(network.each_hop(), field, field[1:], strict=False):
        # Of nodes that are not needed nothing is written, and so takes no memory.
        out = np.empty((adjacency.nodes, network.hidden), np.float32)
        sent, narrow = x, not sp.issparse(x) and x.shape[1] <= network.hidden
        if not narrow:  # then the product comes before the mean, as fewer values are added up
            sent = np.empty_like(out)
            for part in _blocks(senders):
                sent[part] = hop.message(_tensor(x[part], device)).cpu().numpy()
        for part in _blocks(nodes):
            mean = torch.from_numpy(means_of_neighbors(adjacency, sent, part)).to(device)
            out[part] = hop.update(_tensor(x[part], device), hop.message(mean) if narrow else mean).cpu().numpy()
        x = out
    return torch.cat([network.classified(_tensor(x[part], device)) for part in _blocks(field[-1])])


def means_of_neighbors(adjacency: Adjacency, values: NDArray[np.float32], nodes: Nodes) -> NDArray[np.float32]:
    """The mean of the neighbours' values; 0 for a node without neighbours: float32 (b, h).

    Parameters
    ----------
    adjacency : Adjacency
    values : float32 (n, h)
    nodes : int64 (b,)

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> means_of_neighbors(path, np.array([[1], [2], [5]], np.float32), np.arange(3)).tolist()
    [[2.0], [3.0], [2.0]]
    """
    out = np.zeros((len(nodes), values.shape[1]), np.float32)
    values = np.ascontiguousarray(values)
    indptr, indices = adjacency.indptr.view(np.uint64), adjacency.indices.view(f"uint{8 * adjacency.indices.itemsize}")

    def add(start: int) -> None:
        kernels.means(indptr, indices, nodes[start : start + ROWS], values, out[start : start + ROWS])

    for _ in pools.map_threads(add, range(0, len(nodes), ROWS)):
        pass
    return out


def _blocks(nodes: Nodes) -> Iterator[Nodes]:
    """The nodes, a block at a time; of no nodes one that is empty."""
    return (nodes[start : start + BLOCK] for start in range(0, max(len(nodes), 1), BLOCK))


def _tensor(features: Any, device: torch.device) -> Tensor:
    if sp.issparse(features):
        return csr_tensor(features, torch.from_numpy(features.data)).to(device)
    return torch.from_numpy(features).to(device)
