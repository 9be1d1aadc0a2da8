"""Generalized Forward Push (the paper's Algorithm 1) with top-k sparsification: sparse rows of Π, with their errors.

For each source node, N rounds move probability mass along edges. A node passes its residue on if that is more than
its degree times r_max; otherwise the residue is dropped. What a row costs depends on what it pushes, not on the size of
the graph. The kernel is in ``push``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency, as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.grown_adjacency import GrownAdjacency
from grandplus.propagation.matrices import checked_weights
from grandplus.propagation.push import PUSH_BLOCK
from grandplus.propagation.rows import Rows, RowsInfo
from grandplus.propagation.workspace import Workspace, base_and_growth
from grandplus.runtime import pools
from grandplus.runtime.errors import ArgumentError

BLOCK = 64  # rows a task of a thread; small enough to spread evenly, large enough to be worth a task
EDGES_WORTH_THREADS = 2**16  # pushed in half a millisecond, which is what it takes to start threads
GROWTH = 8  # of the blocks that the calling thread pushes before others help


def gfpush(
    adjacency: Adjacency | GrownAdjacency | Graph | sp.sparray | sp.spmatrix,
    nodes: ArrayLike,
    *,
    weights: ArrayLike,
    rmax: float,
    top_k: int,
    matrix: str = "custom",
) -> Rows:
    """Approximate rows of Π = Σ wₙPⁿ by Generalized Forward Push, and keep the largest k entries of each.

    This is Algorithm 1 of the paper and the top-k sparsification after it. The result has the same bytes for any
    number of workers.

    Parameters
    ----------
    adjacency : Graph, Adjacency, GrownAdjacency or scipy sparse matrix, shape (n, n)
        The graph. A scipy matrix is made symmetric and its values are ignored; `Adjacency.of` gives one in which they
        are weights, or edges have a direction. Self-loops are added here, once, whether the matrix has them or not.
    nodes : array_like of int, shape (r,)
        The source nodes s whose rows Π_s are wanted, each once, in any order.
    weights : array_like of float, shape (N + 1,)
        w_0..w_N, non-negative and summing to 1, as from ``propagation_weights``.
    rmax : float
        The push threshold r_max, at least 0. A node v is pushed if its residue is more than d_v · r_max, where the
        degree d_v counts the entries of its row, with the self-loop. Time and memory of a row are O(N / r_max).
    top_k : int
        k, how many entries a row keeps. Of equal entries those with the lower node id are kept.
    matrix : str
        The name of Π, to be noted in the result.

    Returns
    -------
    Rows
        Rows Π̃_s^(k) by ascending node. Their ``l1_error`` is ‖Π_s - Π̃_s^(k)‖₁, not a bound of it: a row of Π sums
        to 1 and mass is only ever dropped, so it is 1 minus the sum of the entries that are kept.

    Raises
    ------
    ArgumentError
        A node is no node of the graph or given twice, the weights do not sum to 1, or rmax or top_k is out of range.

    Examples
    --------
    A path of three nodes and Π = (I + P) / 2. Node 0 keeps half of its mass; of the other half it keeps one half and
    gives one half to node 1:

    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> rows = gfpush(path, [0], weights=[0.5, 0.5], rmax=1e-4, top_k=2)
    >>> rows.neighbors.tolist(), rows.values.tolist(), rows.l1_error.tolist()
    ([[0, 1]], [[0.75, 0.25]], [0.0])

    With one entry a row, what node 1 would have is missing:

    >>> rows = gfpush(path, [0], weights=[0.5, 0.5], rmax=1e-4, top_k=1)
    >>> rows.neighbors.tolist(), rows.values.tolist(), rows.l1_error.tolist()
    ([[0]], [[0.75]], [0.25])
    """
    graph = adjacency if isinstance(adjacency, GrownAdjacency) else as_adjacency(adjacency)
    w = checked_weights(weights)
    sources = _checked_nodes(nodes, graph.nodes)
    _check_numbers(rmax, top_k)
    threshold, entries = float(rmax), int(top_k)
    pushed = RowPusher(graph, w, threshold, entries).push(sources)
    info = RowsInfo(matrix, tuple(w.tolist()), threshold, entries, graph.nodes, graph.fingerprint)
    return Rows(sources, pushed.neighbors, pushed.values, pushed.l1_error, info)


class Pushed:
    """Room for rows, which ``RowPusher`` fills.

    Parameters
    ----------
    rows : int
        r, how many there are.
    width : int
        How many entries each may have. A row with fewer ends with -1 and 0.
    index_type : dtype
        Of the node ids: int32 or int64.

    Attributes
    ----------
    neighbors, values, l1_error
        As in ``Rows``.
    edges : ndarray of int64, shape (r,)
        Over how many edges each row pushed mass, self-loops included.
    """

    def __init__(self, rows: int, width: int, index_type: Any) -> None:
        self.neighbors = np.full((rows, width), -1, index_type)
        self.values = np.zeros((rows, width), np.float32)
        self.l1_error = np.zeros(rows, np.float32)
        self.edges = np.zeros(rows, np.int64)


class RowPusher:
    """The work behind ``gfpush``, for arguments that were checked. Its memory is kept from call to call.

    Parameters
    ----------
    graph : Adjacency or GrownAdjacency
    w : ndarray of float64, shape (N + 1,)
    rmax : float
    top_k : int
    """

    def __init__(self, graph: Adjacency | GrownAdjacency, w: NDArray[np.float64], rmax: float, top_k: int) -> None:
        self._w, self._rmax, self._width = w, rmax, min(top_k, graph.nodes)
        self._graph, self._index_type = graph, graph.index_type
        base, growth = base_and_growth(graph)
        self._push_block = PUSH_BLOCK[growth is not None, base.weights is not None]
        # Unsigned, since numba lets negative indices count from the end, which takes instructions.
        self._adjacency = base.indptr.view(np.uint64), base.indices.view(_unsigned(base.index_type))
        self._free: list[Workspace] = []  # that no thread uses now

    def push(self, sources: NDArray[np.int64]) -> Pushed:
        """Rows of some nodes.

        The first ones are pushed by the calling thread. Others help as soon as there is work enough for them.

        Parameters
        ----------
        sources : ndarray of int64, shape (r,)

        Returns
        -------
        Pushed
        """
        pushed = Pushed(len(sources), self._width, self._index_type)
        start, block, edges = 0, 1, 0
        while start < len(sources) and edges < EDGES_WORTH_THREADS:
            self._push(pushed, sources, start, start + block)
            edges += int(pushed.edges[start : start + block].sum())
            start, block = start + block, block * GROWTH
        starts = range(start, len(sources), BLOCK)
        if starts:
            for _ in pools.map_threads(lambda first: self._push(pushed, sources, first, first + BLOCK), starts):
                pass
        return pushed

    def _push(self, pushed: Pushed, sources: NDArray[np.int64], start: int, end: int) -> None:
        try:
            space = self._free.pop()
        except IndexError:
            space = Workspace(self._graph, len(self._w) - 1, self._rmax, self._width)
        block = slice(start, end)
        space.first = self._push_block(
            *self._adjacency, sources[block].view(np.uint64), self._w, self._rmax, space.first, space.growth,
            space.weights, *space.arrays,
            pushed.neighbors[block].view(_unsigned(self._index_type)), pushed.values[block], pushed.l1_error[block],
            pushed.edges[block],
        )  # fmt: skip
        self._free.append(space)


def _unsigned(index_type: np.dtype[Any]) -> str:
    return f"uint{8 * index_type.itemsize}"


def _check_numbers(rmax: Any, top_k: Any) -> None:
    if not (
        isinstance(rmax, int | float | np.integer | np.floating)
        and rmax >= 0
        and isinstance(top_k, int | np.integer)
        and top_k >= 1
    ):
        expected = "rmax: a number of at least 0, top_k: a whole number of at least 1"
        raise ArgumentError(f"rmax is {rmax!r} and top_k is {top_k!r}", expected=expected)


def _checked_nodes(nodes: ArrayLike, count: int) -> NDArray[np.int64]:
    given = np.asarray(nodes)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ArgumentError(f"nodes has shape {given.shape} and type {given.dtype}", expected="a list of row numbers")
    nodes_in_order = np.sort(given.astype(np.int64))  # np.unique would take as long as short rows do
    repeated = nodes_in_order[1:][nodes_in_order[1:] == nodes_in_order[:-1]]
    if len(repeated):
        raise ArgumentError(f"nodes names node {repeated[0]} twice", expected="each node once")
    if len(nodes_in_order) and (nodes_in_order[0] < 0 or nodes_in_order[-1] >= count):
        outside = nodes_in_order[0] if nodes_in_order[0] < 0 else nodes_in_order[-1]
        raise ArgumentError(f"nodes names {outside}", expected=f"numbers from 0 to {count - 1}")
    return nodes_in_order
