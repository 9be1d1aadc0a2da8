"""What GFPush is compared with: plain pushes in hash maps and in dense arrays, and the pushes alone."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.typed import Dict
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.kernels.prefetch import prefetch
from grandplus.propagation.gfpush import Pushed
from grandplus.propagation.rows import Rows

# --- The push with hash maps -----------------------------------------------------------------


def hash_map(graph: Adjacency, sources: NDArray[np.int64], w: NDArray[np.float64], rmax: float, top_k: int) -> Pushed:
    """Rows of some nodes, by one call in this thread."""
    out = Pushed(len(sources), top_k, graph.indices.dtype)
    _hash_map(graph.indptr, graph.indices, sources, w, rmax, out.neighbors, out.values, out.l1_error)
    return out


@numba.njit(nogil=True)
def _hash_map(indptr, indices, sources, w, rmax, out_neighbors, out_weights, out_error):
    """Algorithm 1 with a dictionary for each r^(n) and for the mixture."""
    for row in range(len(sources)):
        source = np.int32(sources[row])
        residue = Dict.empty(types.int32, types.float64)
        mixed = Dict.empty(types.int32, types.float64)
        residue[source] = 1.0
        if w[0] > 0:
            mixed[source] = w[0]
        for order in range(1, len(w)):
            following = Dict.empty(types.int32, types.float64)
            for v, mass in residue.items():
                degree = indptr[v + 1] - indptr[v] + 1
                if mass > degree * rmax:
                    share = mass / degree
                    following[v] = following.get(v, 0.0) + share
                    for j in range(indptr[v], indptr[v + 1]):
                        following[indices[j]] = following.get(indices[j], 0.0) + share
            if w[order] > 0:
                for u, mass in following.items():
                    mixed[u] = mixed.get(u, 0.0) + w[order] * mass
            residue = following
        nodes = np.empty(len(mixed), np.int32)
        values = np.empty(len(mixed), np.float64)
        for i, (u, mass) in enumerate(mixed.items()):
            nodes[i], values[i] = u, mass
        # The k largest, sorted.
        top_k = min(len(nodes), out_neighbors.shape[1])
        least = np.partition(values, len(values) - top_k)[len(values) - top_k]
        best = np.nonzero(values >= least)[0]
        best = best[np.argsort(-values[best])][:top_k]
        out_neighbors[row, :top_k], out_weights[row, :top_k] = nodes[best], values[best]
        out_error[row] = 1.0 - values[best].sum()


# --- The floor -------------------------------------------------------------------------------


@numba.njit
def push_dense(indptr, indices, source, w, rmax, residue, mixed, pushed, shares):
    """Algorithm 1 in dense float64 arrays, read from end to end in each round; returns the number of pushes.

    ``residue`` and ``mixed`` are overwritten. The pushes are listed in ``pushed`` and ``shares`` as far as these reach.
    """
    mixed[:] = 0.0
    residue[:] = 0.0
    residue[source] = 1.0
    mixed[source] = w[0]
    pushes = 0
    for order in range(1, len(w)):
        following = np.zeros_like(residue)
        for v in range(len(residue)):
            degree = indptr[v + 1] - indptr[v] + 1
            if residue[v] > degree * rmax:
                share = residue[v] / degree
                if pushes < len(pushed):
                    pushed[pushes], shares[pushes] = v, share
                pushes += 1
                following[v] += share
                for j in range(indptr[v], indptr[v + 1]):
                    following[indices[j]] += share
        residue[:] = following
        mixed += w[order] * following
    return pushes


def record(
    graph: Adjacency, sources: NDArray[np.int64], w: NDArray[np.float64], rmax: float
) -> tuple[NDArray[Any], ...]:
    """All pushes of these sources, those of a row in random order: the nodes, and the share of each neighbour.

    In the order of node numbers memory accesses would be faster than in the one in which nodes are reached.
    """
    rng = np.random.default_rng(3)
    residue, mixed = (np.empty(graph.nodes) for _ in range(2))
    pushed, shares = np.empty(1 << 17, np.int32), np.empty(1 << 17)
    rows = []
    for source in sources:
        count = push_dense(graph.indptr, graph.indices, source, w, rmax, residue, mixed, pushed, shares)
        assert count <= len(pushed)
        order = rng.permutation(count)
        rows.append((pushed[order], shares[order]))
    nodes, given = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return nodes, given


def replay(graph: Adjacency, pushed: NDArray[np.int32], shares: NDArray[np.float64]) -> None:
    starts, ends = graph.indptr[pushed].view(np.uint64), graph.indptr[pushed + 1].view(np.uint64)
    _replay(graph.indices.view(np.uint32), starts, ends, pushed.view(np.uint32), shares, np.zeros(graph.nodes))


@numba.njit
def _replay(indices, starts, ends, pushed, shares, total):
    for i in range(len(pushed)):
        if i + 8 < len(pushed):
            for line in range(4):
                prefetch(indices, starts[i + 8] + np.uint64(16 * line))
        total[pushed[i]] += shares[i]
        for j in range(starts[i], ends[i]):
            total[indices[j]] += shares[i]


# --- The check -------------------------------------------------------------------------------

L1_TOLERANCE = 1e-4


def errors_of(graph: Adjacency, rows: Rows, w: NDArray[np.float64], rmax: float) -> dict[str, Any]:
    """Largest differences of rows from a plain float64 push, among the entries that either keeps."""
    residue, mixed = (np.empty(graph.nodes) for _ in range(2))
    no_list = (np.empty(0, np.int32), np.empty(0))
    entry = l1 = 0.0
    for row, source in enumerate(rows.node):
        push_dense(graph.indptr, graph.indices, source, w, rmax, residue, mixed, *no_list)
        stored = rows.neighbors[row] >= 0
        kept = rows.neighbors[row][stored]
        entry = max(entry, float(np.abs(mixed[kept] - rows.values[row][stored]).max(initial=0)))
        l1 = max(l1, abs(float(rows.l1_error[row]) - (1 - float(np.sort(mixed)[-len(stored) :].sum()))))
        # An entry that should have been kept is wrong by how much it exceeds the smallest that was kept.
        smallest = float(mixed[kept].min()) if stored.all() else 0.0
        mixed[kept] = 0.0
        entry = max(entry, float(mixed.max()) - smallest)
    right = entry <= 2 * rmax and l1 <= L1_TOLERANCE
    return {"checked_rows": len(rows), "entry_error": entry, "l1_error_difference": l1, "right": right}
