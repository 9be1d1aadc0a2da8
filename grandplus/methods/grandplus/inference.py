"""Propagation of features, or of their products with a weight, for predictions of all nodes (the paper's Eq. 15)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.propagation.columns import propagate_columns
from grandplus.propagation.plan import Plan
from grandplus.runtime import pools

ROWS_AT_ONCE = 8192


def propagate_features(graph: Graph, weights: tuple[float, ...], plan: Plan) -> NDArray[np.float32]:
    """ΠX: float32 (n, d).

    Parameters
    ----------
    graph : Graph
    weights : tuple of float
        w_0..w_N of Π.
    plan : Plan
        Of width d.
    """
    out = plan.array(graph.adjacency.nodes)
    propagate_columns(graph, graph.features, weights=weights, columns=plan.columns, out=out)
    return out


def propagate_products(
    graph: Graph, first_weight: NDArray[np.float32], weights: tuple[float, ...], plan: Plan
) -> NDArray[np.float32]:
    """Π(XW): float32 (n, h).

    Parameters
    ----------
    graph : Graph
    first_weight : float32 (d, h)
    weights : tuple of float
        w_0..w_N of Π.
    plan : Plan
        Of width h.
    """
    products = _multiply(graph.features, first_weight, plan.array(graph.adjacency.nodes))
    propagate_columns(graph, products, weights=weights, columns=plan.columns, out=products)
    return products


def _multiply(features: Features, weight: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
    """XW by blocks of rows, each summed by one thread."""
    dense = torch.from_numpy(weight)

    def multiply(start: int) -> None:
        end = min(start + ROWS_AT_ONCE, len(out))
        if not sp.issparse(features):
            out[start:end] = (torch.tensor(features[start:end]) @ dense).numpy()
            return
        first, last = int(features.indptr[start]), int(features.indptr[end])
        indptr = (features.indptr[start : end + 1] - first).astype(np.int32)
        # Copies, as PyTorch warns of arrays that can't be written to.
        indices, data = features.indices[first:last].copy(), features.data[first:last].copy()
        ids, starts, shares = (torch.from_numpy(array) for array in (indices, indptr, data))
        # A sum of weighted rows is an embedding bag. Its kernel prefetches, as the table is larger than the cache.
        part = torch.embedding_bag(dense, ids, starts, False, 0, False, shares, include_last_offset=True)[0]
        out[start:end] = part.numpy()

    for _ in pools.map_threads(multiply, range(0, len(out), ROWS_AT_ONCE)):
        pass
    return out
