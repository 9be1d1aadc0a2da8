"""The memory of one thread that pushes rows, which is kept from row to row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.grown_adjacency import GrownAdjacency, Growth
from grandplus.kernels.compiled import UINT32, UINT64, kernel, writable
from grandplus.propagation.push import INDEX_BITS, INDICES, PUSHES_AHEAD
from grandplus.runtime.errors import ArgumentError

_1 = np.uint64(1)
_NO_WEIGHTS = np.empty(0, np.float32), np.empty(0, np.float32), np.empty(0, np.float64)


class Workspace:
    """The memory of one thread: 4 bytes for each node of the graph, and 57 for each node that a row may reach.

    The system provides the latter only as far as a row has filled them. On a grown graph they are 73.

    Parameters
    ----------
    graph : Adjacency or GrownAdjacency
    order : int
        N.
    rmax : float
    top_k : int
        The width of the rows.

    Raises
    ------
    ArgumentError
        A row might reach more nodes than there are local indices.
    """

    def __init__(self, graph: Adjacency | GrownAdjacency, order: int, rmax: float, top_k: int) -> None:
        # A push takes more than degree · rmax from the mass of its round, which is 1 at most.
        reached = int(min(graph.nodes, 1.001 * order / rmax + 64 if rmax > 0 else graph.nodes))
        if reached >= INDICES - 1:
            raise ArgumentError(f"a row may reach {reached} nodes", expected=f"fewer than {INDICES}", fix="raise rmax")
        self.first = 1  # local index, in ``local``, of the first node of the next row
        base, growth = base_and_growth(graph)
        self.local = np.zeros(graph.nodes, np.uint32)
        _write_exponents(base.indptr.view(np.uint64), self.local[: base.nodes])
        self.node, self.exponent = np.empty(reached + 1, np.uint32), np.empty(reached + 1, np.uint8)
        self.residue = np.zeros(reached + 1)
        self.pi, self.bound = (np.empty(reached + 1) for _ in range(2))
        queued = reached + PUSHES_AHEAD
        self.queue, self.share = np.empty(queued, np.uint32), np.empty(queued)
        self.start, self.end = (np.empty(queued, np.uint64) for _ in range(2))
        self.best = np.empty(2 * top_k + 32, np.uint64)
        self.weights = _weights_of(graph)
        self.growth = None
        if growth is not None:
            degrees = graph.degrees_of(growth.nodes).astype(np.float64)
            self.local[growth.nodes] = np.frexp(degrees)[1] - 1 << INDEX_BITS
            queued_further = (np.empty(queued, np.uint64) for _ in range(2))
            self.growth = *(array.view(np.uint64) for array in growth.arrays), *queued_further

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the order of the kernel's arguments."""
        reached = self.local, self.node, self.exponent, self.residue, self.pi, self.bound
        return *reached, self.queue, self.share, self.start, self.end, self.best


def base_and_growth(graph: Adjacency | GrownAdjacency) -> tuple[Adjacency, Growth | None]:
    """What is stored of a graph, and what it has grown by."""
    return (graph.base, graph.growth) if isinstance(graph, GrownAdjacency) else (graph, None)


def _weights_of(graph: Adjacency | GrownAdjacency) -> tuple[NDArray[Any], ...] | None:
    """The weights of a graph as the kernel takes them: of what is stored, and of what came later."""
    base, _ = base_and_growth(graph)
    if base.weights is None:
        return None
    further = graph.weights if isinstance(graph, GrownAdjacency) else None
    return *base.weights.arrays, *(further.arrays if further else _NO_WEIGHTS)


@kernel(UINT64, writable(UINT32))
def _write_exponents(indptr, local):
    """The exponent of each degree, that of its floating-point number, above the bits of the local index."""
    for v in range(np.uint64(len(local))):
        degree = np.float64(indptr[v + _1] - indptr[v] + _1)
        exponent = (degree.view(np.uint64) >> np.uint64(52)) - np.uint64(1023)
        local[v] = exponent << np.uint64(INDEX_BITS)
