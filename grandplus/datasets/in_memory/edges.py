"""The edges of a graph, as a notebook has them -> pairs of row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.datasets.arrays.checks import described, edges_of
from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.datasets.in_memory.attributes import is_igraph, is_networkx
from grandplus.datasets.in_memory.frames import column, column_names, is_frame
from grandplus.datasets.in_memory.ids import NodeIds
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.names import ends_by_name, is_index, is_no_end
from grandplus.graph.adjacency import Adjacency
from grandplus.runtime.errors import ArgumentError, argument_errors

IGNORE = "ignore"
SHOWN_COLUMNS = 5  # in an error
_KINDS = (
    "a scipy sparse matrix or an array (n, n), an edge_index (2, E), a graph of networkx or igraph, a DataFrame of "
    "edges, or a Data object of PyTorch Geometric"
)
_UNWEIGHTED = "edges without weights, as the method has none"
_COUNT_ONCE = f'say edge_weights="{IGNORE}" to count every edge once'


@dataclass(frozen=True, eq=False)
class EdgeReader:
    """Reads edges for nodes that have a row each.

    Attributes
    ----------
    count : int
        Rows of X.
    ids : NodeIds or None
        None: ids are row numbers.
    ignore : bool
        Whether weights are left out; they are refused otherwise.
    """

    count: int
    ids: NodeIds | None
    ignore: bool

    def read(self, graph: Any) -> tuple[NDArray[Any], int]:
        """The edges (2, E) of a graph of any kind, and how many nodes it has.

        Parameters
        ----------
        graph : object
            See `inputs_of`.

        Raises
        ------
        ArgumentError
            It is of no kind that is known, has weights, or names an unknown node.
        """
        if is_frame(graph):
            return self._frame(graph), self.count
        if getattr(graph, "edge_index", None) is not None:
            if not self.ignore and any(getattr(graph, key, None) is not None for key in ("edge_weight", "edge_attr")):
                raise ArgumentError("the graph has edge_weight or edge_attr", expected=_UNWEIGHTED, fix=_COUNT_ONCE)
            return self._list(as_matrix(graph.edge_index, "edge_index")), self.count
        if is_networkx(graph):
            return self._networkx(graph), self.count
        if is_igraph(graph):
            return self._igraph(graph), self.count
        if isinstance(graph, Adjacency):
            ones = np.ones(len(graph.indices), bool)
            graph = sp.csr_array((ones, graph.indices, graph.indptr), shape=(graph.nodes, graph.nodes))
        if not (hasattr(graph, "dtype") or isinstance(graph, list | tuple)):
            raise ArgumentError(f"graph is a {type(graph).__name__}", expected=_KINDS)
        matrix = as_matrix(graph, "graph")
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise ArgumentError(f"graph is {described(matrix)}", expected=_KINDS)
        rows, columns = matrix.shape
        if not sp.issparse(matrix) and rows == 2 and (columns != 2 or self.count != 2):
            return self._list(matrix), self.count
        if rows != columns:
            fix = "transpose it" if columns == 2 and matrix.dtype.kind in "iu" else ""
            expected = "a square matrix" if sp.issparse(matrix) else "(n, n), or (2, E) for an edge_index"
            raise ArgumentError(f"has shape {rows} x {columns}", where="adjacency", expected=expected, fix=fix)
        return self._matrix(matrix), rows

    def _matrix(self, matrix: Any) -> NDArray[Any]:
        if not sp.issparse(matrix):
            self._check_weights(matrix)
            return np.stack(np.nonzero(matrix))
        matrix = matrix if matrix.format in ("csr", "csc", "coo") else matrix.tocoo()
        self._check_weights(matrix.data)
        with argument_errors():
            return edges_of(matrix, Source(format="memory", read=Reading(weights="ignore")), "adjacency")

    def _check_weights(self, values: NDArray[Any]) -> None:
        if values.dtype.kind == "b":
            return
        wrong = ~np.isfinite(values) if self.ignore else (values != 0) & (values != 1)
        if wrong.any():
            weight = values[wrong][0]
            ignorable = not self.ignore and np.isfinite(weight)
            expected, fix = (_UNWEIGHTED, _COUNT_ONCE) if ignorable else ("finite numbers", "")
            raise ArgumentError(f"has an edge of weight {weight:g}", where="adjacency", expected=expected, fix=fix)

    def _list(self, edges: Any) -> NDArray[np.int64]:
        # Without an edge, a list has no type of its own.
        if edges.ndim != 2 or edges.shape[0] != 2 or (edges.dtype.kind not in "iu" and edges.shape[1]):
            raise ArgumentError(f"edge_index is {described(edges)}", expected="(2, E) whole numbers")
        wrong = ((edges < 0) | (edges >= self.count)).any(axis=0)
        if wrong.any():
            edge = int(wrong.argmax())
            ends, expected = f"{edges[0, edge]} and {edges[1, edge]}", f"nodes from 0 to {self.count - 1}"
            raise ArgumentError(f"edge {edge} joins {ends}", where="edge_index", expected=expected)
        return np.asarray(edges, np.int64)

    def _networkx(self, graph: Any) -> NDArray[np.int64]:
        if not self.ignore:
            weighted = next((ends for *ends, weight in graph.edges(data="weight", default=1) if weight != 1), None)
            if weighted:
                edge = f"the edge of {weighted[0]!r} and {weighted[1]!r}"
                raise ArgumentError(f"{edge} has a weight", where="graph", expected=_UNWEIGHTED, fix=_COUNT_ONCE)
        names = list(graph)
        row_of = dict(zip(names, self._rows(names, "graph").tolist(), strict=True))
        ends = [(row_of[first], row_of[second]) for first, second in graph.edges()]
        return np.array(ends, np.int64).reshape(-1, 2).T

    def _igraph(self, graph: Any) -> NDArray[np.int64]:
        edges = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2).T
        if not self.ignore and "weight" in graph.es.attributes():
            weighted = next((row for row, weight in enumerate(graph.es["weight"]) if weight != 1), None)
            if weighted is not None:
                edge = f"the edge of vertices {edges[0, weighted]} and {edges[1, weighted]}"
                raise ArgumentError(f"{edge} has a weight", where="graph", expected=_UNWEIGHTED, fix=_COUNT_ONCE)
        if self.ids is None and graph.vcount() != self.count:
            expected = f"{self.count}, a vertex for each row of X"
            raise ArgumentError(f"has {graph.vcount()} vertices", where="graph", expected=expected)
        named = self.ids is not None and "name" in graph.vs.attributes()
        return self._rows(graph.vs["name"] if named else range(graph.vcount()), "graph")[edges]

    def _frame(self, frame: Any) -> NDArray[np.int64]:
        names = column_names(frame)
        columns = [position for position, name in enumerate(names) if not is_index(name)]
        pairs = ends_by_name(names)
        only = len(columns) == 2 and not any(is_no_end(names[position]) for position in columns)
        if not only and len(pairs) != 1:
            listed = ", ".join(names[:SHOWN_COLUMNS]) + ", …" * (len(names) > SHOWN_COLUMNS)
            expected = "two, or source and target among them"
            raise ArgumentError(f"columns are {listed}", where="edges", expected=expected)
        ends = columns if only else pairs[0]
        further = [repr(frame.columns[position]) for position in columns if position not in ends]
        if further and not self.ignore:
            fix = f'say edge_weights="{IGNORE}" to leave further columns out'
            found = f"has further columns: {', '.join(further[:SHOWN_COLUMNS])}"
            raise ArgumentError(found, where="edges", expected="the two ends of an edge only", fix=fix)
        return np.stack([self._rows(np.asarray(column(frame, end)), "edges") for end in ends])

    def _rows(self, names: Sequence[Any] | NDArray[Any], where: str) -> NDArray[np.int64]:
        """The rows that these ids have in X."""
        if self.ids is None:
            known = np.asarray(names)
            if known.ndim != 1 or (known.size and known.dtype.kind not in "iu"):
                other = next((name for name in _listed(names) if not isinstance(name, int | np.integer)), known.dtype)
                fix = "make X a DataFrame whose index holds the ids"
                raise ArgumentError(f"names node {other!r}", where=where, expected="row numbers of X", fix=fix)
            rows = np.where((known >= 0) & (known < self.count), known, -1)
            expected = f"row numbers of X, from 0 to {self.count - 1}"
        else:
            if not self.ids.unique:
                found = f"{self.ids.name.removesuffix(' of X')} holds {self.ids.repeated()!r} twice"
                raise ArgumentError(found, where="X", expected="each node once")
            rows = self.ids.rows(names)
            expected = f"ids in {self.ids.name}, such as {self.ids.examples()}"
        if (rows < 0).any():
            name = _listed(names)[int((rows < 0).argmax())]
            raise ArgumentError(f"names node {name!r}", where=where, expected=expected)
        return rows.astype(np.int64, copy=False)


def _listed(names: Sequence[Any] | NDArray[Any]) -> list[Any]:
    return names.tolist() if isinstance(names, np.ndarray) else list(names)
