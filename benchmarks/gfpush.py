"""How fast is ``gfpush``? Compared with a push that uses hash maps, and with the least time that its pushes can take.

The latter is the floor: it makes the same pushes again in one thread, and nothing else. For each it reads the row of
the adjacency, prefetched some pushes ahead, and adds once for each edge to a dense array. On small graphs, rows of the
paper's settings are compared in CPU time. Prints a JSON line for each configuration and repeat, and one for all. Ends
with 1 if a row differs from that of a plain push in float64:

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

import numpy as np

from benchmarks.graphs import degree_corrected
from benchmarks.lines import print_line
from benchmarks.plain_push import errors_of, hash_map, record, replay
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.splits import Splits
from grandplus.pipeline.cases import Case as PublishedCase
from grandplus.pipeline.cases import graph_folder
from grandplus.propagation.gfpush import RowPusher, gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.workspace import Workspace
from grandplus.runtime import environment, pools

CHECKED_ROWS = 32
BLOCK = 8  # rows a task of the hash-map push, whose rows take long
SECONDS_A_SMALL_CASE = 2


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
SMALL = [f"{dataset} {matrix}" for dataset in ("cora", "citeseer", "pubmed") for matrix in ("ppr", "avg", "single")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(2, environment.workers()))
    parser.add_argument("--cpu-time", action="store_true", help="seconds of all threads: of use on a busy machine")
    parser.add_argument("--cases", nargs="+", choices=[*CASES, *SMALL], default=[*CASES, *SMALL])
    options = parser.parse_args()
    if options.cpu_time:
        CLOCK[0] = time.process_time
    graph = functools.lru_cache(1)(degree_corrected)
    lines = []
    for name in options.cases:
        if name in SMALL:
            lines.append(measure_small(name))
        else:
            case = CASES[name]
            lines += measure(name, case, graph(case.nodes, case.edges, seed=1), options.threads, options.repeats)
    means, floors = (
        {
            name: float(np.median([line[ratio] for line in lines if line["case"] == name]))
            for name in options.cases
            if ratio == "to_hash_map" or name in CASES
        }
        for ratio in ("to_hash_map", "to_floor")
    )
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
    push = RowPusher(graph, w, case.rmax, case.top_k).push
    checked = np.ascontiguousarray(sources[:: case.rows // CHECKED_ROWS])
    errors = errors_of(graph, gfpush(graph, checked, weights=w, rmax=case.rmax, top_k=case.top_k), w, case.rmax)
    replayed = reference[: len(reference) // 4 if case.order < 4 else len(reference)]
    pushes = record(graph, replayed, w, case.rmax)
    blocks = [reference[start : start + BLOCK] for start in range(0, len(reference), BLOCK)]
    plain_push = functools.partial(hash_map, graph, w=w, rmax=case.rmax, top_k=case.top_k)
    push(sources[:1]), plain_push(reference[:1])  # compile
    replay(graph, *(part[:2] for part in pushes))
    memory = sum(part.nbytes for part in Workspace(graph, case.order, case.rmax, case.top_k).arrays)
    lines = []
    for repeat in range(repeats):
        plain = _timed(threads, lambda: list(pools.map_threads(plain_push, blocks))) / len(reference)
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


# --- Small graphs ----------------------------------------------------------------------------


def measure_small(name: str) -> dict[str, Any]:
    """Rows of one trial with the paper's settings: milliseconds of all threads, beside one call with hash maps."""
    dataset, matrix = name.split()
    settings = PublishedCase(dataset, matrix).settings(trials=1)
    folder = graph_folder(settings)
    graph, sources = Adjacency.load(folder), Splits.load(folder).needing_rows()
    w, rmax, top_k = np.array(settings.matrix.weights()), settings.gfpush.rmax, settings.gfpush.top_k
    push = functools.partial(gfpush, graph, weights=w, rmax=rmax, top_k=top_k)
    errors = errors_of(graph, push(sources[:: len(sources) // CHECKED_ROWS]), w, rmax)
    hash_map(graph, sources[:1], w, rmax, top_k)  # compile
    milliseconds, plain = math.inf, math.inf
    end = time.process_time() + SECONDS_A_SMALL_CASE
    while time.process_time() < end:
        plain = min(plain, _cpu_milliseconds(lambda: hash_map(graph, sources, w, rmax, top_k)))
        milliseconds = min(milliseconds, *(_cpu_milliseconds(lambda: push(sources)) for _ in range(3)))
    return print_line(
        benchmark="gfpush", case=name, rows=len(sources), order=len(w) - 1, rmax=rmax, top_k=top_k,
        cpu_ms=milliseconds, hash_map_cpu_ms=plain, to_hash_map=plain / milliseconds, **errors,
    )  # fmt: skip


def _cpu_milliseconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


if __name__ == "__main__":
    sys.exit(main())
