"""Propagation of features, or of their products with a weight, for predictions of all nodes (the paper's Eq. 15)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.methods.inputs import multiply
from grandplus.propagation.columns import propagate_columns
from grandplus.propagation.plan import Plan


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
    products = multiply(graph.features, first_weight, plan.array(graph.adjacency.nodes))
    propagate_columns(graph, products, weights=weights, columns=plan.columns, out=products)
    return products
