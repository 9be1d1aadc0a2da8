"""Rows of Π̃X, of a few nodes out of very many."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grandplus.graph.features import Features, rows_of
from grandplus.graph.splits import Nodes
from grandplus.propagation.rows import Rows

BLOCK = 512  # rows of Π at a time, so that memory holds the features of few neighbours


def propagated_rows_of(rows: Rows, features: Features, nodes: Nodes) -> Features:
    """Rows of Π̃X, those of Π̃ divided by their sums.

    Parameters
    ----------
    rows : Rows
        Of these nodes, and of any others.
    features : float32 (n, d) ndarray or scipy CSR
        X.
    nodes : int64 (m,)

    Returns
    -------
    float64 (m, d), ndarray or scipy CSR, as the features

    Examples
    --------
    >>> from grandplus.propagation.gfpush import gfpush
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> rows = gfpush(path, [0, 2], weights=[0.5, 0.5], rmax=0, top_k=2)
    >>> propagated_rows_of(rows, np.array([[0], [4], [8]], np.float32), np.array([2, 0])).tolist()
    [[7.0], [1.0]]
    """
    parts = [_product(rows, features, nodes[start : start + BLOCK]) for start in range(0, max(len(nodes), 1), BLOCK)]
    return sp.vstack(parts, format="csr") if sp.issparse(features) else np.vstack(parts)


def _product(rows: Rows, features: Features, nodes: Nodes) -> Features:
    positions = rows.positions(nodes)
    neighbors, values = rows.neighbors[positions], rows.values[positions].astype(np.float64)
    stored = neighbors >= 0
    sources, columns = np.unique(neighbors[stored], return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    sums = values.sum(axis=1, keepdims=True)  # 0 where r_max has left nothing of a row
    shares = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)[stored]
    return sp.csr_array((shares, columns, indptr), (len(nodes), len(sources))) @ rows_of(features, sources)
