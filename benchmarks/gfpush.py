"""How fast is ``gfpush``? Compared with a push that uses hash maps, and with the least time that its pushes can take.

The latter is the floor: it makes the same pushes again in one thread, and nothing else. For each it reads the row of
the adjacency, prefetched some pushes ahead, and adds once for each edge to a dense array. Prints a JSON line for each
configuration and repeat, and one for all. Ends with 1 if a row differs from that of a plain push in float64:

    python -m benchmarks.gfpush
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types
from numba.typed import Dict
from numpy.typing import NDArray

from benchmarks.graphs import degree_corrected
from benchmarks.lines import print_line
from grandplus.graph.adjacency import Adjacency
from grandplus.kernels.prefetch import prefetch
from grandplus.propagation.gfpush import Pushed, push_rows
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.push import Workspace
from grandplus.runtime import environment, pools

L1_TOLERANCE = 1e-4
CHECKED_ROWS = 32
BLOCK = 8  # rows a task of the hash-map push, whose rows take long


@dataclass(frozen=True)
class Case:
    nodes: int
    edges: int
    matrix: str
    order: int
    rmax: float
    top_k: int
    rows: int  # that gfpush makes, in two threads
    reference_rows: int  # that the hash-map push makes


CASES = {
    "AMiner-CS": Case(600_000, 6_200_000, "avg", 4, 1e-5, 64, 6144, 256),
    "Amazon2M single": Case(2_450_000, 61_000_000, "single", 2, 1e-6, 32, 16384, 768),
    "Amazon2M avg": Case(2_450_000, 61_000_000, "avg", 4, 1e-6, 64, 512, 32),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(2, environment.workers()))
    parser.add_argument("--cpu-time", action="store_true", help="seconds of all threads: of use on a busy machine")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args()
    if options.cpu_time:
        CLOCK[0] = time.process_time
    graph = functools.lru_cache(1)(degree_corrected)
    lines = []
    for name in options.cases:
        case = CASES[name]
        lines += measure(name, case, graph(case.nodes, case.edges, seed=1), options.threads, options.repeats)
    means = {
        name: float(np.median([line["to_hash_map"] for line in lines if line["case"] == name]))
        for name in options.cases
    }
    floors = {
        name: float(np.median([line["to_floor"] for line in lines if line["case"] == name])) for name in options.cases
    }
    wrong = [line["case"] for line in lines if not line["right"]]
    geometric = math.exp(sum(map(math.log, means.values())) / len(means))
    print_line(
        benchmark="gfpush", case="all", threads=options.threads, to_hash_map=means, geometric_mean=geometric,
        to_floor=floors, right=not wrong,
    )  # fmt: skip
    return 1 if wrong else 0


def measure(name: str, case: Case, graph: Adjacency, threads: int, repeats: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    w = propagation_weights(case.matrix, order=case.order)
    sources = np.sort(rng.choice(graph.nodes, case.rows, replace=False))
    reference = np.ascontiguousarray(sources[:: case.rows // case.reference_rows])
    half, quarter = (np.ascontiguousarray(sources[::step]) for step in (2, 4))
    push = functools.partial(push_rows, graph, w=w, rmax=case.rmax, top_k=case.top_k)
    errors = check(graph, np.ascontiguousarray(sources[:: case.rows // CHECKED_ROWS]), case, w)
    replayed = reference[: len(reference) // 4 if case.order < 4 else len(reference)]
    pushes = record(graph, replayed, w, case.rmax)
    push(sources[:1]), hash_map(graph, reference[:1], w, case)  # compile
    replay(graph, *(part[:2] for part in pushes))
    memory = sum(part.nbytes for part in Workspace(graph, case.order, case.rmax, case.top_k).arrays)
    lines = []
    for repeat in range(repeats):
        plain = _timed(threads, lambda: hash_map(graph, reference, w, case)) / len(reference)
        whole, pushed = _timed_result(threads, lambda: push(sources))
        alone = _timed(1, lambda: push(half)) / len(half)
        of_fewer = _timed(1, lambda: push(quarter)) / len(quarter)
        floor = _timed(1, lambda: replay(graph, *pushes)) / len(replayed)
        each = whole / len(sources)
        edges = float(pushed.edges.mean())
        lines.append(print_line(
            benchmark="gfpush", case=name, repeat=repeat, nodes=graph.nodes, edges=len(graph.indices) // 2,
            matrix=case.matrix, order=case.order, rmax=case.rmax, top_k=case.top_k, threads=threads,
            rows_per_s=1 / each, hash_map_rows_per_s=1 / plain, to_hash_map=plain / each,
            ms_a_row_on_one_thread=1e3 * alone, floor_ms=1e3 * floor, to_floor=alone / floor,
            edges_a_row=edges, edges_per_s_on_one_thread=edges / alone, edges_per_s=edges / each,
            speed_up_by_threads=alone / each, twice_the_rows_take=2 * alone / of_fewer,
            mb_per_worker_at_most=memory / 1e6, bytes_per_node_at_most=memory / graph.nodes, **errors,
        ))  # fmt: skip
    return lines


CLOCK: list[Callable[[], float]] = [time.perf_counter]


def _timed(threads: int, work: Callable[[], Any]) -> float:
    return _timed_result(threads, work)[0]


def _timed_result(threads: int, work: Callable[[], Any]) -> tuple[float, Any]:
    os.environ["GRANDPLUS_WORKERS"] = str(threads)
    start = CLOCK[0]()
    result = work()
    return CLOCK[0]() - start, result


# --- The push with hash maps -----------------------------------------------------------------


def hash_map(graph: Adjacency, sources: NDArray[np.int64], w: NDArray[np.float64], case: Case) -> Pushed:
    out = Pushed(len(sources), case.top_k, graph.indices.dtype)

    def push(start: int) -> None:
        part = slice(start, start + BLOCK)
        _hash_map(
            graph.indptr, graph.indices, sources[part], w, case.rmax, out.neighbors[part], out.values[part],
            out.l1_error[part],
        )  # fmt: skip

    for _ in pools.map_threads(push, range(0, len(sources), BLOCK)):
        pass
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
def _push_dense(indptr, indices, source, w, rmax, residue, mixed, pushed, shares):
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
        count = _push_dense(graph.indptr, graph.indices, source, w, rmax, residue, mixed, pushed, shares)
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


def check(graph: Adjacency, sources: NDArray[np.int64], case: Case, w: NDArray[np.float64]) -> dict[str, Any]:
    """Largest differences from a plain float64 push, among the entries that either keeps."""
    rows = push_rows(graph, sources, w, case.rmax, case.top_k)
    residue, mixed = (np.empty(graph.nodes) for _ in range(2))
    no_list = (np.empty(0, np.int32), np.empty(0))
    entry = l1 = 0.0
    for row, source in enumerate(sources):
        _push_dense(graph.indptr, graph.indices, source, w, case.rmax, residue, mixed, *no_list)
        stored = rows.neighbors[row] >= 0
        kept = rows.neighbors[row][stored]
        entry = max(entry, float(np.abs(mixed[kept] - rows.values[row][stored]).max(initial=0)))
        best = np.partition(mixed, -case.top_k)[-case.top_k :]
        # An entry that should have been kept is wrong by how much it exceeds the smallest that was kept.
        entry = max(entry, float(best.min() - mixed[kept].min()) if len(kept) == case.top_k else float(best.max()))
        l1 = max(l1, abs(float(rows.l1_error[row]) - (1 - float(best.sum()))))
    right = entry <= 2 * case.rmax and l1 <= L1_TOLERANCE
    return {"checked_rows": len(sources), "entry_error": entry, "l1_error_difference": l1, "right": right}


if __name__ == "__main__":
    sys.exit(main())
