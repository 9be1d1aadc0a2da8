"""The edges of an adjacency matrix, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.matrices import check_compressed
from grandplus.datasets.edge_weights import check_unnamed, weights_read
from grandplus.datasets.source import Source
from grandplus.graph.adjacency import INT32_IDS
from grandplus.runtime.errors import GrandPlusError


def edges_of(adjacency: Any, source: Source, where: object) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """The entries of an adjacency that are not 0, and their weights if these are used.

    Parameters
    ----------
    adjacency : (n, n) scipy sparse
        Its indices are checked.
    source : Source
        ``source.read.weights`` says what becomes of weights.
    where : object
        What to call the matrix in an error.

    Returns
    -------
    edges : int32 (2, E), or int64 if the ids need it
    weights : float32 (E,) or None

    Raises
    ------
    GrandPlusError
        It is of another kind or not square, an index is out of range, or it has weights that are refused.
    """
    if not sparse.issparse(adjacency):
        raise GrandPlusError(f"holds a {type(adjacency).__name__}", where=where, expected="a sparse matrix")
    nodes, columns = adjacency.shape
    if nodes != columns:
        raise GrandPlusError(f"has shape {nodes} x {columns}", where=where, expected="a square matrix")
    edges = np.empty((2, adjacency.nnz), np.int32 if nodes <= INT32_IDS else np.int64)
    if adjacency.format == "coo":
        edges[0], edges[1] = adjacency.row, adjacency.col
    elif adjacency.format in ("csr", "csc"):
        check_compressed(adjacency.indptr, adjacency.indices, nodes, where)
        edges[0] = np.repeat(np.arange(nodes, dtype=edges.dtype), np.diff(adjacency.indptr))
        edges[1] = adjacency.indices
    else:
        raise GrandPlusError(f"is in format {adjacency.format}", where=where, expected="csr, csc or coo")
    check_unnamed(source.read, where)
    weights = weights_read(adjacency.data, source.read, where)
    if adjacency.data.all():
        return edges, weights
    kept = adjacency.data != 0
    return edges[:, kept], None if weights is None else weights[kept]
