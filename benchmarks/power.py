"""How fast are exact products ΠX? Compared with scipy's sparse product on one thread, and PyTorch's on all of ours.

All three do the same arithmetic in float32: for each order the sum over a node's neighbours and itself, divided by its
degree, is added to the total. Prints a JSON line for each repeat. Ends with 1 if a result differs from scipy's in
float64, or from that of another number of threads:

    python -m benchmarks.power
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from benchmarks.graphs import degree_corrected
from benchmarks.lines import print_line
from grandplus.graph.adjacency import Adjacency
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.power import propagate
from grandplus.runtime import environment

TOLERANCE = 1e-5  # relative to the largest entry
CHECKED_ROWS = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=min(2, environment.workers()))
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--order", type=int, default=2)
    options = parser.parse_args()
    graph = degree_corrected(options.nodes, options.edges, seed=1)
    x = np.random.default_rng(2).normal(size=(graph.nodes, options.features)).astype(np.float32)
    w = propagation_weights("avg", order=options.order)
    walk = walk_of(graph)
    indptr, indices, data = (torch.from_numpy(part) for part in (walk.indptr, walk.indices, walk.data))
    tensor = torch.sparse_csr_tensor(indptr, indices, data, size=walk.shape, check_invariants=False)
    torch.set_num_threads(options.threads)
    product = _run(options.threads, graph, x, w)  # compiles too
    error = _error(walk, x, w, product)
    same = product.tobytes() == _run(1, graph, x, w).tobytes()
    right = error <= TOLERANCE and same
    for repeat in range(options.repeats):
        ours = _seconds(lambda: _run(options.threads, graph, x, w))
        theirs = _seconds(lambda: mixed(lambda y: torch.mm(tensor, y), torch.from_numpy(x), w))
        single = _seconds(lambda: mixed(lambda y: walk @ y, x, w))
        alone = _seconds(lambda: _run(1, graph, x, w))
        terms = options.order * (len(graph.indices) + graph.nodes)
        print_line(
            benchmark="power", repeat=repeat, nodes=graph.nodes, edges=len(graph.indices) // 2, order=options.order,
            features=options.features, threads=options.threads, seconds=ours, scipy_seconds=single,
            to_scipy=single / ours, torch_seconds=theirs, to_torch=theirs / ours, speed_up_by_threads=alone / ours,
            gb_of_features_per_s=4e-9 * options.features * terms / ours, relative_error=error,
            same_bytes_on_one_thread=same, right=right,
        )  # fmt: skip
    return 0 if right else 1


def _run(threads: int, graph: Adjacency, x: NDArray[np.float32], w: NDArray[np.float64]) -> NDArray[np.float32]:
    os.environ["GRANDPLUS_WORKERS"] = str(threads)
    return propagate(graph, x, weights=w)


def walk_of(graph: Adjacency) -> sp.csr_array:
    """P = D̃⁻¹Ã in float32, with the self-loop first in each row; int32 throughout."""
    n = graph.nodes
    indptr = (graph.indptr + np.arange(n + 1)).astype(np.int32)
    indices = np.insert(graph.indices, graph.indptr[:-1], np.arange(n, dtype=np.int32))
    data = np.repeat((1 / graph.degrees).astype(np.float32), graph.degrees)
    return sp.csr_array((data, indices, indptr), shape=(n, n))


def mixed(product: Callable[[Any], Any], x: Any, w: NDArray[np.float64]) -> Any:
    """Σ wₙPⁿx by products with P."""
    total = float(w[0]) * x
    for weight in w[1:]:
        x = product(x)
        total += float(weight) * x
    return total


def _error(walk: sp.csr_array, x: NDArray[np.float32], w: NDArray[np.float64], product: NDArray[np.float32]) -> float:
    """Largest difference from float64 in some rows and columns, relative to the largest entry."""
    rows = np.random.default_rng(3).choice(x.shape[0], min(CHECKED_ROWS, x.shape[0]), replace=False)
    exact = mixed(lambda y: walk.astype(np.float64) @ y, x[:, :8].astype(np.float64), w)
    return float(np.abs(exact[rows] - product[rows, :8]).max() / np.abs(exact).max())


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
