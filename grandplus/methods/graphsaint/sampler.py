"""Subgraphs that random walks draw, with the weights that make training on them right on average.

Source: H. Zeng, H. Zhou, A. Srivastava, R. Kannan, V. Prasanna. GraphSAINT: Graph Sampling Based Inductive Learning
Method. ICLR 2020. Its estimators divide by how likely a node and an edge are drawn, which is counted beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.methods.graphsaint import kernels
from grandplus.methods.inputs import SparseInput, csr_tensor
from grandplus.runtime import pools

LANES, BITS = 8, 8  # subgraphs that are counted at a time are the bits of a word a node, each byte filled by one thread
BATCH = LANES * BITS
ROWS = 2**14  # nodes whose edges a thread counts at a time


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Some nodes of a graph and all edges among them, as a CSR matrix.

    Its product with values of the nodes estimates the means over all neighbours.

    Attributes
    ----------
    nodes : int64 (m,)
        Ascending.
    indptr : int64 (m + 1,)
    indices : int64 (stored,)
    values : float32 (stored,)
    order : int64 (stored,)
        Where the value of the opposite direction stands.
    """

    nodes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float32]
    order: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return len(self.nodes), len(self.nodes)

    def adjacency(self, device: torch.device) -> SparseInput:
        """The matrix on a device; that of its entries is symmetric, so the transposed one differs in values alone."""
        matrix = csr_tensor(self, torch.from_numpy(self.values)).to(device)
        return SparseInput(matrix, matrix, torch.from_numpy(self.order).to(device))


class Sampler:
    """Draws subgraphs, the same ones for the same seed.

    Parameters
    ----------
    adjacency : Adjacency of n nodes
    starts : int64 (s,)
        The nodes where walks begin, each as likely as the others.
    walks : int
        Of a subgraph.
    depth : int
        Steps of a walk; at a node without neighbours it ends.
    seed : int
        Of 64 bits.

    Attributes
    ----------
    drawn : int
        How many subgraphs were counted.
    of_nodes : int32 (n,)
        In how many of them a node is.
    of_edges : int32 (stored entries,)
        In how many of them both ends of an edge are.
    """

    def __init__(self, adjacency: Adjacency, starts: NDArray[np.int64], *, walks: int, depth: int, seed: int) -> None:
        self._indptr = adjacency.indptr.view(np.uint64)
        self._indices = adjacency.indices.view(f"uint{8 * adjacency.indices.itemsize}")
        self._starts, self._walks, self._depth, self._seed = starts, walks, depth, np.uint64(seed)
        self._place = np.zeros(adjacency.nodes, np.int64)
        self.drawn = 0
        self.of_nodes = np.zeros(adjacency.nodes, np.int32)
        self.of_edges = np.zeros(len(adjacency.indices), np.int32)

    def count(self, coverage: int) -> None:
        """Draw subgraphs until their nodes were drawn ``coverage`` times on average.

        Any number of threads gives the same counts.

        Parameters
        ----------
        coverage : int
        """
        nodes = len(self.of_nodes)
        marks, lanes, rows = np.empty((nodes, LANES), np.uint8), range(LANES), range(0, nodes, ROWS)

        def draw(lane: int) -> None:
            for bit in range(BITS):
                self._walk(self.drawn + BITS * lane + bit, marks, lane, bit)

        def add(start: int) -> None:
            end = min(start + ROWS, nodes)
            words = marks.view(np.uint64).ravel()
            kernels.count(self._indptr, self._indices, words, start, end, self.of_nodes, self.of_edges)

        while self.of_nodes.sum(dtype=np.int64) < coverage * max(int(np.count_nonzero(self.of_nodes)), 1):
            marks[:] = 0
            for work, parts in ((draw, lanes), (add, rows)):
                for _ in pools.map_threads(work, parts):
                    pass
            self.drawn += BATCH

    def subgraph(self, number: int) -> Subgraph:
        """One of those that were counted.

        Parameters
        ----------
        number : int
            From 0; after the last one they begin again.
        """
        marks = np.zeros((len(self.of_nodes), 1), np.uint8)
        self._walk(number % self.drawn, marks, 0, 0)
        nodes = np.flatnonzero(marks)
        self._place[nodes] = np.arange(len(nodes))
        indptr = np.zeros(len(nodes) + 1, np.int64)
        graph = self._indptr, self._indices, nodes, marks.ravel()
        kernels.count_entries(*graph, indptr)
        indices, order, values = (np.empty(indptr[-1], kind) for kind in (np.int64, np.int64, np.float32))
        counts, following = (self.of_nodes, self.of_edges), indptr[:-1].copy()
        kernels.fill(*graph, self._place, *counts, indptr, following, indices, order, values)
        return Subgraph(nodes, indptr, indices, values, order)

    def loss_weights(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """By what to multiply the losses of some nodes, so that on average their sum is the mean of all nodes' losses.

        Parameters
        ----------
        nodes : int64 (t,)

        Returns
        -------
        float32 (t,)
            1 / (λ_v t), with λ_v the share of subgraphs that have node v.
        """
        times = np.maximum(self.of_nodes[nodes], 1)  # what was never drawn has no loss
        return (self.drawn / times / len(nodes)).astype(np.float32)

    def _walk(self, number: int, marks: NDArray[np.uint8], lane: int, bit: int) -> None:
        of_walks: Any = (self._starts, self._walks, self._depth, self._seed, np.uint64(number))
        kernels.walk(self._indptr, self._indices, *of_walks, marks, lane, np.uint8(1 << bit))
