"""A graph and its features, as a notebook has them: matrices, lists of edges, and objects of other libraries.

None of those libraries is imported: an object is recognised by the attributes that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.datasets.arrays.checks import features_of
from grandplus.datasets.in_memory.arrays import as_matrix, is_frame, is_pandas
from grandplus.datasets.in_memory.edges import IGNORE, EdgeReader
from grandplus.runtime.errors import ArgumentError, argument_errors

MASKS = ("train_mask", "val_mask", "test_mask")


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph of n nodes as arrays; labels and masks are still as they were given.

    Attributes
    ----------
    edges : ndarray of int, shape (2, E)
        Row numbers, with duplicates, self-loops and any direction.
    nodes : int
    features : ndarray or scipy.sparse.csr_array of float32, shape (n, d), or None
        All values are finite. float64 where float32 would lose the variance of a column. It may share memory with X.
    feature_names : list of str or None
        The columns of a DataFrame, if all are named by text.
    node_ids : ndarray, shape (n,), or None
        The index of X, or of y, if it holds whole numbers or text, each once, and other than the row numbers.
    labels : object
        ``y``, or that of a ``Data`` object; None if there is none.
    masks : dict of str to object
        The masks of a ``Data`` object by the names that they have there.
    """

    edges: NDArray[Any]
    nodes: int
    features: Any
    feature_names: list[str] | None
    node_ids: NDArray[Any] | None
    labels: Any
    masks: dict[str, Any]


def inputs_of(graph: Any, X: Any = None, y: Any = None, *, edge_weights: str | None = None) -> Inputs:
    """Read a graph, whichever library it comes from.

    Parameters
    ----------
    graph : object
        One of these; every edge counts in both directions, and entries of a matrix that are 0 are no edges.

        - A scipy sparse matrix or an array or tensor (n, n): the adjacency.
        - An integer array or tensor (2, E): ``edge_index``, pairs of row numbers.
        - A graph of networkx, whose nodes are ids.
        - A pandas DataFrame of edges, whose two columns hold ids. They have a usual pair of names, such as source and
          target, or are the only ones.
        - A ``Data`` object of PyTorch Geometric: ``edge_index``, and ``x``, ``y`` and masks if it has them.
        - A `grandplus.Adjacency`.

        An id is looked up in the index of X if X is a DataFrame (without X, in that of y). Otherwise it is a row
        number.
    X : array_like, tensor, scipy sparse matrix or pandas.DataFrame, shape (n, d), optional
        Features; by default the graph's ``x``, if it has that.
    y : array_like, shape (n,), optional
        Labels; by default the graph's ``y``, if it has that.
    edge_weights : {None, "ignore"}
        Whether a graph may have edge weights, which are then left out.

    Returns
    -------
    Inputs

    Raises
    ------
    ArgumentError
        The graph is none of these; it has weights, and they are not to be ignored; an edge names an unknown node; X
        holds something other than finite numbers, has another number of rows than the adjacency, or another index
        than y.

    Examples
    --------
    >>> inputs = inputs_of(np.array([[0, 1], [1, 2]]), np.eye(3), [0, 1, 0])
    >>> inputs.edges.tolist(), inputs.nodes
    ([[0, 1], [1, 2]], 3)
    """
    if edge_weights not in (None, IGNORE):
        raise ArgumentError(f"edge_weights is {edge_weights!r}", expected=f'None or "{IGNORE}"')
    data = graph if getattr(graph, "edge_index", None) is not None and not is_frame(graph) else None
    X = getattr(data, "x", None) if X is None else X
    y = getattr(data, "y", None) if y is None else y
    if X is None and y is None:
        raise ArgumentError("there are neither features nor labels", expected="X, y or both")
    if is_pandas(X) and is_pandas(y) and not X.index.equals(y.index):
        fix = "say y.loc[X.index], or y.to_numpy() if the order is right"
        raise ArgumentError("X and y have different indexes", expected="the same nodes in the same order", fix=fix)
    names = list(X.columns) if is_frame(X) and all(isinstance(name, str) for name in X.columns) else None
    values = None if X is None else _frame_values(X) if is_frame(X) else as_matrix(X, "X")
    rows = y if X is None else X
    count = _count(rows if values is None else values)
    ids = rows.index if is_pandas(rows) else None
    edges, nodes = EdgeReader(count, ids, edge_weights == IGNORE).read(graph)
    with argument_errors():
        features = None if values is None else features_of(_changeable(values), nodes, "X", _cells_of(X))
    masks = {mask: getattr(data, mask, None) for mask in MASKS}
    return Inputs(
        edges=edges,
        nodes=nodes,
        features=features,
        feature_names=names,
        node_ids=None if ids is None else _node_ids(ids),
        labels=y,
        masks={name: mask for name, mask in masks.items() if mask is not None},
    )


def _cells_of(X: Any) -> Callable[[int, int], str]:
    """What to call a cell of X."""
    if is_frame(X):
        return lambda row, column: f"node {X.index[row]}, column {X.columns[column]!r}"
    return lambda row, column: f"row {row}, column {column}"


def _node_ids(index: Any) -> NDArray[Any] | None:
    ids = np.asarray(index)
    if ids.dtype.kind == "O" and all(isinstance(name, str) for name in ids.tolist()):
        ids = ids.astype(str)
    usual = ids.ndim == 1 and ids.dtype.kind in "iuU" and index.is_unique
    return ids if usual and not np.array_equal(ids, np.arange(len(ids))) else None


def _count(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    if shape is None and hasattr(rows, "__len__"):
        return len(rows)
    if not shape:
        raise ArgumentError(f"X and y are {rows!r}", expected="a row and a label for each node")
    return int(shape[0])


def _frame_values(frame: Any) -> NDArray[Any]:
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if getattr(kind, "kind", "O") not in "biuf":
            expected, fix = "numbers", "encode it as numbers, or leave it out"
            raise ArgumentError(f"column {name!r} holds {kind}", where="X", expected=expected, fix=fix)
    try:
        small = all(np.can_cast(getattr(kind, "numpy_dtype", kind), np.float32) for kind in frame.dtypes)
        return np.asarray(frame.to_numpy(np.float32 if small else np.float64))
    except (TypeError, ValueError) as error:  # such as missing values among whole numbers
        raise ArgumentError(f"is no array: {error}", where="X") from None


def _changeable(values: Any) -> Any:
    """A matrix in which ``features_of`` may merge entries and drop zeros: a copy only if there are any."""
    if not sp.issparse(values) or values.format != "csr":
        return values
    return values if values.has_canonical_format and values.data.all() else values.copy()
