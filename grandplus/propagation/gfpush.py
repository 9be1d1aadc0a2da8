"""Generalized Forward Push: sparse rows of Π with a known error (the paper's Algorithm 1).

For each source node, N rounds move probability mass along edges; a node passes its mass on
only if that is more than degree · r_max, and what is not passed on is dropped. Each worker
keeps the residues in dense arrays of n entries, cleared through lists of the touched nodes,
so a row costs what it pushes, whatever the graph's size.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import register_jitable
from numpy.typing import ArrayLike, NDArray

from grandplus import execution
from grandplus.compiled import FLOAT32, FLOAT64, INT32, INT64, compiled, writable
from grandplus.errors import GrandPlusError
from grandplus.graph import Adjacency, Graph, as_adjacency
from grandplus.propagation.rows import Rows, RowsInfo
from grandplus.propagation.weights import checked_weights

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
    kernel = _kernel(graph.indices.dtype.name)
    own = threading.local()

    def push_block(start: int) -> None:
        if not hasattr(own, "scratch"):
            own.scratch = _Scratch(graph.nodes, graph.indices.dtype)
        end = min(start + BLOCK, len(sources))
        outputs = (part[start:end] for part in (out.neighbors, out.weights, out.l1_error, out.edges))
        kernel(graph.indptr, graph.indices, sources[start:end], w, rmax, *own.scratch.arrays, *outputs)

    for _ in execution.map_threads(push_block, range(0, len(sources), BLOCK)):
        pass
    return out


class _Scratch:
    """One worker's memory: 3 × 8 + 3 × 4 bytes a node with int32 ids. All zero between rows."""

    def __init__(self, nodes: int, index_type: Any) -> None:
        residue, next_residue, mixed = (np.zeros(nodes, np.float64) for _ in range(3))
        frontier, next_frontier, touched = (np.empty(nodes, index_type) for _ in range(3))
        self.arrays = (residue, next_residue, mixed, frontier, next_frontier, touched)


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


@functools.cache
def _kernel(index_type: str) -> Any:
    ids = {"int32": INT32, "int64": INT64}[index_type]
    lists = [writable(ids)] * 3
    matrix = [types.Array(kind.dtype, 2, "C") for kind in (ids, FLOAT32)]
    outputs = [*matrix, writable(FLOAT32), writable(INT64)]
    scratch = [writable(FLOAT64)] * 3 + lists
    return compiled(_push_block, INT64, ids, INT64, FLOAT64, types.float64, *scratch, *outputs)


def _push_block(  # type: ignore[no-untyped-def]
    indptr, indices, sources, w, rmax,
    residue, next_residue, mixed, frontier, next_frontier, touched,
    out_neighbors, out_weights, out_error, out_edges,
):  # fmt: skip
    """Algorithm 1 and top-k for a block of sources. Scratch arrays are zero before and after."""
    top_k = out_neighbors.shape[1]
    heap_weight = np.empty(top_k, np.float32)
    heap_node = np.empty(top_k, np.int64)
    for row in range(len(sources)):
        source = sources[row]
        edges = 0
        touched_count = 0
        # r^(0) = q^(0) = e_s, and its share of the mixture.
        residue[source] = 1.0
        frontier[0] = source
        frontier_count = 1
        if w[0] > 0:
            mixed[source] = w[0]
            touched[0] = source
            touched_count = 1
        for order in range(1, len(w)):
            next_count = 0
            for i in range(frontier_count):
                v = frontier[i]
                start, end = indptr[v], indptr[v + 1]
                degree = end - start + 1
                mass = residue[v]
                residue[v] = 0.0  # passed on, or dropped
                if mass > degree * rmax:
                    share = mass / degree
                    if share > 0.0:  # not so small that it is rounded to nothing
                        edges += degree
                        if next_residue[v] == 0.0:
                            next_frontier[next_count] = v
                            next_count += 1
                        next_residue[v] += share
                        for j in range(start, end):
                            u = indices[j]
                            if next_residue[u] == 0.0:
                                next_frontier[next_count] = u
                                next_count += 1
                            next_residue[u] += share
            residue, next_residue = next_residue, residue
            frontier, next_frontier = next_frontier, frontier
            frontier_count = next_count
            # q^(n) = r^(n) as it stands when round n has ended.
            if w[order] > 0:
                for i in range(frontier_count):
                    u = frontier[i]
                    part = w[order] * residue[u]
                    if part > 0.0 and mixed[u] == 0.0:
                        touched[touched_count] = u
                        touched_count += 1
                    mixed[u] += part
        for i in range(frontier_count):
            residue[frontier[i]] = 0.0

        # The k largest by the float32 weight that is stored, then by lower id: a min-heap of
        # the best so far, whose root is the one to beat.
        size = 0
        for i in range(touched_count):
            node = touched[i]
            weight = np.float32(mixed[node])
            if size < top_k:
                at = size
                size += 1
                while at > 0:
                    parent = (at - 1) >> 1
                    if heap_weight[parent] < weight or (heap_weight[parent] == weight and heap_node[parent] > node):
                        break
                    heap_weight[at], heap_node[at] = heap_weight[parent], heap_node[parent]
                    at = parent
                heap_weight[at], heap_node[at] = weight, node
            elif weight > heap_weight[0] or (weight == heap_weight[0] and node < heap_node[0]):
                _sift_down(heap_weight, heap_node, size, weight, node)
        # Taking the root again and again gives the row from its end.
        kept = 0.0
        for at in range(size - 1, -1, -1):
            weight, node = heap_weight[0], heap_node[0]
            out_weights[row, at], out_neighbors[row, at] = weight, node
            _sift_down(heap_weight, heap_node, at, heap_weight[at], heap_node[at])
            kept += mixed[node]
        for i in range(touched_count):
            mixed[touched[i]] = 0.0
        out_error[row] = max(0.0, 1.0 - kept)
        out_edges[row] = edges


@register_jitable
def _sift_down(heap_weight, heap_node, size, weight, node):  # type: ignore[no-untyped-def]
    """Put an entry in the place of the root and restore the order of a min-heap."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            heap_weight[other] < heap_weight[child]
            or (heap_weight[other] == heap_weight[child] and heap_node[other] > heap_node[child])
        ):
            child = other
        if weight < heap_weight[child] or (weight == heap_weight[child] and node > heap_node[child]):
            break
        heap_weight[at], heap_node[at] = heap_weight[child], heap_node[child]
        at = child
    heap_weight[at], heap_node[at] = weight, node
