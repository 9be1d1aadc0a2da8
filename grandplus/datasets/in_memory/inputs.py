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

from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.in_memory.edges import EdgeReader
from grandplus.datasets.in_memory.frames import is_frame
from grandplus.datasets.in_memory.ids import NodeIds
from grandplus.datasets.in_memory.nodes import GivenNodes, given_nodes
from grandplus.runtime.errors import ArgumentError, argument_errors

MASKS = ("train_mask", "val_mask", "test_mask")


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph of n nodes as arrays; labels and masks are still as they were given.

    Attributes
    ----------
    edges : ndarray of int, shape (2, E)
        Row numbers, with duplicates, self-loops and any direction.
    weights : ndarray of float32, shape (E,), or None
        Of the edges, where they are used.
    undirected : bool
        Whether edges have no direction, as the graph says.
    nodes : int
    features : ndarray or scipy.sparse.csr_array of float32, shape (n, d), or None
        All values are finite. float64 where float32 would lose the variance of a column. It may share memory with X.
    feature_names : list of str or None
        The columns of a DataFrame, if all are named by text; or of the attributes of nodes.
    node_ids : ndarray, shape (n,), or None
        The ids, if they are whole numbers or text, each once, and other than the row numbers.
    labels : object
        ``y``, or what stands for it; None if there is nothing.
    masks : dict of str to object
        The masks of a ``Data`` object by the names that they have there.
    """

    edges: NDArray[Any]
    weights: NDArray[np.float32] | None
    undirected: bool
    nodes: int
    features: Any
    feature_names: list[str] | None
    node_ids: NDArray[Any] | None
    labels: Any
    masks: dict[str, Any]


def inputs_of(graph: Any, X: Any = None, y: Any = None, *, edge_weights: Any = None) -> Inputs:
    """Read a graph, whichever library it comes from.

    Parameters
    ----------
    graph : object
        One of these; entries of a matrix that are 0 are no edges.

        - A scipy sparse matrix or an array or tensor (n, n): the adjacency.
        - An integer array or tensor (2, E): ``edge_index``, pairs of row numbers.
        - A graph of networkx, whose nodes are ids; or of igraph, whose vertices have ids if they have the attribute
          name.
        - A DataFrame of edges, of pandas or Polars, whose two columns hold ids. They have a usual pair of names, such
          as source and target, or are the only ones.
        - A ``Data`` object of PyTorch Geometric: ``edge_index``, and ``x``, ``y`` and masks if it has them.
        - A `grandplus.Adjacency`.

        An id is looked up in the index of X if X is a DataFrame of pandas (without X, in that of y). Where X has no
        index of its own, ids may be in a column that is called id and has all that edges name. Otherwise an id is a
        row number.
    X : array_like, tensor, scipy sparse matrix, DataFrame or list of str, shape (n, d), optional
        Features; by default the graph's ``x``, if it has that. Of a graph with attributes of nodes, a list names those
        that are features; by default all that hold numbers are, if y is no array.
    y : array_like, shape (n,), or str, optional
        Labels, or the name of the column of X or of the attribute of nodes that has them; by default the graph's ``y``,
        or the one column or attribute with a usual name, such as label or class.
    edge_weights : {None, "ignore", "use"}
        Whether edge weights are refused, left out or used: the values of a matrix, ``weight`` of networkx and igraph, a
        column that is called like weights or the only further one, and ``edge_weight`` or an ``edge_attr`` of one
        column.

    Returns
    -------
    Inputs

    Raises
    ------
    ArgumentError
        The graph is none of these; it has weights, and nothing says what becomes of them; an edge names an unknown
        node; X holds something other than finite numbers, has another number of rows than the adjacency, or another
        index than y; or which column or attribute is the class can't be told.

    Examples
    --------
    >>> inputs = inputs_of(np.array([[0, 1], [1, 2]]), np.eye(3), [0, 1, 0])
    >>> inputs.edges.tolist(), inputs.nodes
    ([[0, 1], [1, 2]], 3)
    """
    if edge_weights not in (None, "ignore", "use"):
        raise ArgumentError(f"edge_weights is {edge_weights!r}", expected='None, "ignore" or "use"')
    data = graph if getattr(graph, "edge_index", None) is not None and not is_frame(graph) else None
    X = getattr(data, "x", None) if X is None else X
    y = getattr(data, "y", None) if y is None else y
    given = given_nodes(graph, X, y)
    found = EdgeReader(given.count, given.ids, edge_weights).read(graph)
    with argument_errors():
        values = given.values
        features = None if values is None else features_of(_changeable(values), found.nodes, "X", _cells_of(given))
    masks = {mask: getattr(data, mask, None) for mask in MASKS}
    return Inputs(
        edges=found.edges,
        weights=found.weights,
        undirected=found.undirected,
        nodes=found.nodes,
        features=features,
        feature_names=given.names,
        node_ids=None if given.ids is None else _node_ids(given.ids),
        labels=given.labels,
        masks={name: mask for name, mask in masks.items() if mask is not None},
    )


def _cells_of(given: GivenNodes) -> Callable[[int, int], str]:
    """What to call a cell of X."""
    ids, names = given.ids, given.names

    def called(row: int, column: int) -> str:
        node = f"row {row}" if ids is None else f"node {ids.values[row]}"
        return f"{node}, column {column if names is None else repr(names[column])}"

    return called


def _node_ids(given: NodeIds) -> NDArray[Any] | None:
    ids = given.values
    if ids.dtype.kind == "O":
        kinds = {type(name) for name in ids.tolist()}
        ids = ids.astype(str) if kinds == {str} else ids.astype(np.int64) if kinds == {int} else ids
    usual = ids.ndim == 1 and ids.dtype.kind in "iuU" and given.unique
    return ids if usual and not np.array_equal(ids, np.arange(len(ids))) else None


def _changeable(values: Any) -> Any:
    """A matrix in which ``features_of`` may merge entries and drop zeros: a copy only if there are any."""
    if not sp.issparse(values) or values.format != "csr":
        return values
    return values if values.has_canonical_format and values.data.all() else values.copy()
