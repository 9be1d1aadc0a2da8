"""Generalized Forward Push: sparse rows of Π with a known error (the paper's Algorithm 1).

For each source node, N rounds move probability mass along edges; a node passes its mass on
only if that is more than degree · r_max, and what is not passed on is dropped. A row costs what
it pushes, whatever the graph's size; how it is kept cheap is told in ``push``.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.graph import Graph
from grandplus.propagation.matrices import checked_weights
from grandplus.propagation.push import NUMBERS, PUSHES_AHEAD, push_block, write_degrees
from grandplus.propagation.rows import Rows, RowsInfo
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError

BLOCK = 64  # rows a task; small enough to spread evenly, large enough to be worth a task


def gfpush(
    adjacency: Adjacency | Graph | sp.sparray | sp.spmatrix,
    nodes: ArrayLike,
    *,
    weights: ArrayLike,
    rmax: float,
    top_k: int,
    matrix: str = "custom",
) -> Rows:
    """Approximate the rows of Π that belong to ``nodes``.

    Parameters
    ----------
    adjacency : n × n; self-loops are added here, once
    nodes : int (r,), the rows wanted, each once, ascending in the result
    weights : float (N + 1,), w_0..w_N, from ``grandplus.weights``
    rmax : push threshold r_max ≥ 0; a node of degree d (self-loop included) is pushed if its
        residue is more than d · r_max. Cost and memory of a row are at most N / r_max
    top_k : entries kept in a row; of equal ones, those with the lower node id
    matrix : the name of Π to note in the result

    Returns
    -------
    Rows, whose ``l1_error`` is ‖Π_s - Π̃_s‖₁ exactly: rows of Π sum to 1 and mass is only ever
    dropped, so it is 1 - the kept mass. The same bytes for any number of workers.

    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> rows = gfpush(path, [0], weights=[0.5, 0.5], rmax=1e-4, top_k=2)
    >>> rows.neighbors.tolist(), rows.weights.tolist(), rows.l1_error.tolist()
    ([[0, 1]], [[0.75, 0.25]], [0.0])
    """
    graph = as_adjacency(adjacency)
    w = checked_weights(weights)
    sources = _checked_nodes(nodes, graph.nodes)
    if not rmax >= 0 or top_k < 1:
        raise GrandPlusError(f"rmax is {rmax} and top_k is {top_k}", expected="rmax of at least 0, top_k of at least 1")
    found = push_rows(graph, sources, w, rmax, top_k)
    info = RowsInfo(matrix, tuple(w.tolist()), float(rmax), int(top_k), graph.nodes, graph.fingerprint)
    return Rows(sources, found.neighbors, found.weights, found.l1_error, info)


class Pushed:
    """What ``push_rows`` fills: rows of width k, -1 where a row has fewer entries."""

    def __init__(self, rows: int, k: int, index_type: Any) -> None:
        self.neighbors = np.full((rows, k), -1, index_type)
        self.weights = np.zeros((rows, k), np.float32)
        self.l1_error = np.zeros(rows, np.float32)
        self.edges = np.zeros(rows, np.int64)  # pushed over, self-loops included


def push_rows(graph: Adjacency, sources: NDArray[np.int64], w: NDArray[np.float64], rmax: float, top_k: int) -> Pushed:
    """The work behind ``gfpush``, with the number of edges that each row took."""
    out = Pushed(len(sources), min(top_k, graph.nodes), graph.indices.dtype)
    unsigned = {4: np.uint32, 8: np.uint64}[graph.indices.itemsize]
    adjacency = (graph.indptr.view(np.uint64), graph.indices.view(unsigned))
    own = threading.local()

    def push_from(start: int) -> None:
        if not hasattr(own, "scratch"):
            own.scratch = Scratch(graph, len(w) - 1, rmax, out.neighbors.shape[1])
        end = min(start + BLOCK, len(sources))
        outputs = (part[start:end] for part in (out.neighbors.view(unsigned), out.weights, out.l1_error, out.edges))
        block = sources[start:end].view(np.uint64)
        own.scratch.first = push_block(*adjacency, block, w, rmax, own.scratch.first, *own.scratch.arrays, *outputs)

    for _ in pools.map_threads(push_from, range(0, len(sources), BLOCK)):
        pass
    return out


class Scratch:
    """One worker's memory: 4 bytes a node, and 57 for each node that a row may reach.

    The lists of reached nodes take memory only as far as a row has filled them.
    """

    def __init__(self, graph: Adjacency, order: int, rmax: float, top_k: int) -> None:
        # A push takes more than degree · rmax from the mass of its round, which is 1 at most.
        reached = int(min(graph.nodes, 1.001 * order / rmax + 64 if rmax > 0 else graph.nodes))
        if reached >= NUMBERS - 1:
            raise GrandPlusError(f"a row may reach {reached} nodes", expected=f"fewer than {NUMBERS}", fix="raise rmax")
        self.first = 1  # number in ``place`` of the next row's first node
        self.place = np.empty(graph.nodes, np.uint32)
        write_degrees(graph.indptr.view(np.uint64), self.place)
        self.node, self.code = np.empty(reached + 1, np.uint32), np.empty(reached + 1, np.uint8)
        self.residue = np.zeros(reached + 1)
        self.mixed, self.limit = (np.empty(reached + 1) for _ in range(2))
        self.push = np.empty(reached + PUSHES_AHEAD, np.uint32)
        self.push_share = np.empty(reached + PUSHES_AHEAD)
        self.push_start, self.push_end = (np.empty(reached + PUSHES_AHEAD, np.uint64) for _ in range(2))
        self.best = np.empty(2 * top_k + 32, np.uint64)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the kernel's order."""
        reached = (self.place, self.node, self.code, self.residue, self.mixed, self.limit)
        return *reached, self.push, self.push_share, self.push_start, self.push_end, self.best


def _checked_nodes(nodes: ArrayLike, count: int) -> NDArray[np.int64]:
    found = np.asarray(nodes)
    if found.ndim != 1 or (found.size and not np.issubdtype(found.dtype, np.integer)):
        raise GrandPlusError(f"nodes has shape {found.shape} and type {found.dtype}", expected="a list of row numbers")
    unique = np.unique(found.astype(np.int64))
    if len(unique) != len(found):
        raise GrandPlusError(f"nodes names {len(found) - len(unique)} twice", expected="each once")
    if len(unique) and (unique[0] < 0 or unique[-1] >= count):
        bad = unique[0] if unique[0] < 0 else unique[-1]
        raise GrandPlusError(f"nodes names {bad}", expected=f"numbers from 0 to {count - 1}")
    return unique
