"""What do weights of edges cost? Rows and products with weights, and without them on the same graph.

The graph without weights has kernels of its own, from the same source. Weights of 1 that are kept all the same go
through those for weights, and have to give the same bytes of rows. Prints a JSON line for each repeat. Ends with 1 if
they don't, or if a weighted row or product differs from scipy's in float64:

    python -m benchmarks.weights
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.graphs import degree_corrected
from benchmarks.lines import print_line
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.edge_weights import EdgeWeights, row_sums
from grandplus.propagation.gfpush import Pushed, RowPusher
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.power import propagate

RMAX, TOP_K = 1e-5, 32
TOLERANCE = 1e-5
CHECKED_ROWS = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=300_000)
    parser.add_argument("--edges", type=int, default=3_000_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=64)
    options = parser.parse_args()
    plain = degree_corrected(options.nodes, options.edges, seed=1)
    rng = np.random.default_rng(2)
    ones, drawn = with_weights(plain, np.ones(len(plain.indices))), with_weights(plain, symmetric(plain))
    sources = np.sort(rng.choice(plain.nodes, options.rows, replace=False))
    x = rng.normal(size=(plain.nodes, options.features)).astype(np.float32)
    w = propagation_weights("avg", order=4)

    def rows(graph: Adjacency) -> Pushed:
        return RowPusher(graph, w, RMAX, TOP_K).push(sources)

    def products(graph: Adjacency) -> NDArray[np.float32]:
        return propagate(graph, x, weights=w)

    same, checked = _bytes(rows(plain)) == _bytes(rows(ones)), sources[:CHECKED_ROWS]
    right = same and _error(drawn, w, checked, x, products(drawn)) <= TOLERANCE
    for repeat in range(options.repeats):
        rows_s, weighted_rows_s = (_seconds(rows, graph) for graph in (plain, drawn))
        product_s, weighted_product_s = (_seconds(products, graph) for graph in (plain, drawn))
        print_line(
            benchmark="weights", repeat=repeat, nodes=plain.nodes, edges=len(plain.indices) // 2, rows=options.rows,
            rows_s=rows_s, weighted_rows_s=weighted_rows_s, rows_ratio=weighted_rows_s / rows_s,
            product_s=product_s, weighted_product_s=weighted_product_s, product_ratio=weighted_product_s / product_s,
            same_bytes_for_ones=same, right=right,
        )  # fmt: skip
    return 0 if right else 1


def with_weights(graph: Adjacency, entries: NDArray[Any]) -> Adjacency:
    """The graph with these weights of its entries, and self-loops of 1."""
    values, loops = entries.astype(np.float32), np.ones(graph.nodes, np.float32)
    return Adjacency(graph.indptr, graph.indices, EdgeWeights(values, loops, row_sums(graph.indptr, values, loops)))


def symmetric(graph: Adjacency) -> NDArray[np.float64]:
    """Weights from 0.5 to 2 that are the same in both directions."""
    values = np.random.default_rng(3).uniform(0.5, 1, graph.nodes)
    rows = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    return np.asarray(values[rows] + values[graph.indices])


def _bytes(pushed: Pushed) -> list[bytes]:
    return [part.tobytes() for part in (pushed.neighbors, pushed.values, pushed.l1_error)]


def _error(
    graph: Adjacency,
    w: NDArray[np.float64],
    sources: NDArray[np.int64],
    x: NDArray[np.float32],
    product: NDArray[np.float32],
) -> float:
    """Largest difference of some rows' entries from exact ones, and of products relative to the largest."""
    assert graph.weights is not None
    n = graph.nodes
    pushed = RowPusher(graph, w, 0.0, n).push(sources)
    stored = sp.csr_array((graph.weights.entries.astype(float), graph.indices, graph.indptr), shape=(n, n))
    walk = sp.diags_array(1 / graph.strengths) @ (stored + sp.eye_array(n))
    power = sp.csr_array((np.ones(len(sources)), (np.arange(len(sources)), sources)), shape=(len(sources), n))
    exact = w[0] * power.toarray()
    for weight in w[1:]:
        power = power @ walk
        exact += weight * power.toarray()
    made = np.zeros((len(sources), n))
    for row in range(len(sources)):
        held = pushed.neighbors[row] >= 0
        made[row, pushed.neighbors[row, held]] = pushed.values[row, held]
    products = exact @ x
    return float(max(np.abs(made - exact).max(), np.abs(products - product[sources]).max() / np.abs(products).max()))


def _seconds(work: Callable[[Adjacency], Any], graph: Adjacency) -> float:
    start = time.perf_counter()
    work(graph)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
