"""The edges of a graph, as a notebook has them -> pairs of row numbers, with weights if these are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.edge_weights import check_has_weights
from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.datasets.in_memory.attributes import is_igraph, is_networkx
from grandplus.datasets.in_memory.frames import column, column_names, is_frame
from grandplus.datasets.in_memory.ids import NodeIds
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.names import ends_by_name, is_index, is_no_end, is_weight
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.edge_weights import checked_edge_weights, numbers_of
from grandplus.runtime.errors import ArgumentError, argument_errors

SHOWN_COLUMNS = 5  # in an error
_KINDS = (
    "a scipy sparse matrix or an array (n, n), an edge_index (2, E), a graph of networkx or igraph, a DataFrame of "
    "edges, or a Data object of PyTorch Geometric"
)
_UNWEIGHTED = "edges without weights"
_WITHOUT = 'leave edge_weights="use" out'
_SAY = 'say edge_weights="use", or "ignore" to count every edge once'


class ReadEdges(NamedTuple):
    """The edges of a graph.

    Attributes
    ----------
    edges : int (2, E)
        Row numbers.
    nodes : int
        How many there are.
    weights : float32 (E,) or None
    undirected : bool
        Whether the graph says that its edges have no direction.
    """

    edges: NDArray[Any]
    nodes: int
    weights: NDArray[np.float32] | None = None
    undirected: bool = False


@dataclass(frozen=True, eq=False)
class EdgeReader:
    """Reads edges for nodes that have a row each.

    Attributes
    ----------
    count : int
        Rows of X.
    ids : NodeIds or None
        None: ids are row numbers.
    edge_weights : {None, "ignore", "use"}
        Whether weights are refused, left out or used.
    """

    count: int
    ids: NodeIds | None
    edge_weights: Literal["ignore", "use"] | None

    def read(self, graph: Any) -> ReadEdges:
        """The edges of a graph of any kind.

        Parameters
        ----------
        graph : object
            See `inputs_of`.

        Raises
        ------
        ArgumentError
            It is of no kind that is known, has weights that are refused or none that can be used, or names an unknown
            node.
        """
        found = self._read(graph)
        with argument_errors():
            check_has_weights(found.weights, Reading(weights=self.edge_weights), "graph", _WITHOUT)
        return found

    def _read(self, graph: Any) -> ReadEdges:
        if is_frame(graph):
            return self._frame(graph)
        if getattr(graph, "edge_index", None) is not None:
            return self._data(graph)
        if is_networkx(graph):
            return self._networkx(graph)
        if is_igraph(graph):
            return self._igraph(graph)
        if isinstance(graph, Adjacency):
            if not graph.symmetric:
                found, fix = f"the Adjacency has direction {graph.direction}", "give its matrix, and say direction"
                raise ArgumentError(found, expected="one of both directions", fix=fix)
            graph = _matrix_of(graph)
        if not (hasattr(graph, "dtype") or isinstance(graph, list | tuple)):
            raise ArgumentError(f"graph is a {type(graph).__name__}", expected=_KINDS)
        matrix = as_matrix(graph, "graph")
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise ArgumentError(f"graph is {described(matrix)}", expected=_KINDS)
        rows, columns = matrix.shape
        if not sp.issparse(matrix) and rows == 2 and (columns != 2 or self.count != 2):
            return ReadEdges(self._list(matrix), self.count)
        if rows != columns:
            fix = "transpose it" if columns == 2 and matrix.dtype.kind in "iu" else ""
            expected = "a square matrix" if sp.issparse(matrix) else "(n, n), or (2, E) for an edge_index"
            raise ArgumentError(f"has shape {rows} x {columns}", where="adjacency", expected=expected, fix=fix)
        return self._matrix(matrix)

    def _weights(self, values: Any, where: str) -> NDArray[np.float32] | None:
        """The weights of edges, one of which each has."""
        given = numbers_of(values)
        if self.edge_weights is None:
            other: Any = np.flatnonzero((given != 0) & (given != 1)) if given.dtype.kind != "b" else []
            if len(other):
                weight = given[other[0]]
                expected, fix = (_UNWEIGHTED, _SAY) if np.isfinite(weight) else ("finite numbers", "")
                raise ArgumentError(f"has an edge of weight {weight:g}", where=where, expected=expected, fix=fix)
            return None
        if self.edge_weights == "ignore":
            if given.dtype.kind == "f" and not np.isfinite(given).all():
                weight = given[~np.isfinite(given)][0]
                raise ArgumentError(f"has an edge of weight {weight:g}", where=where, expected="finite numbers")
            return None
        with argument_errors(where):
            return checked_edge_weights(given, len(given))

    def _matrix(self, matrix: Any) -> ReadEdges:
        if sp.issparse(matrix):
            matrix = matrix if matrix.format in ("csr", "csc", "coo") else matrix.tocoo()
            if self.edge_weights == "use":
                matrix = matrix.tocsr(copy=True)
                matrix.sum_duplicates()
        else:
            places = np.nonzero(matrix)
            matrix = sp.coo_array((matrix[places], places), matrix.shape)
        weights = self._weights(matrix.data, "adjacency")
        with argument_errors():
            edges, _ = edges_of(matrix, Source(format="memory", read=Reading(weights="ignore")), "adjacency")
        return ReadEdges(edges, matrix.shape[0], None if weights is None else weights[matrix.data != 0])

    def _data(self, graph: Any) -> ReadEdges:
        held = [key for key in ("edge_weight", "edge_attr") if getattr(graph, key, None) is not None]
        found = f"the graph has {' and '.join(held)}"
        if held and self.edge_weights is None:
            raise ArgumentError(found, expected=_UNWEIGHTED, fix=_SAY)
        if len(held) > 1 and self.edge_weights == "use":
            raise ArgumentError(found, expected="the weights in one of them", fix="set the other to None")
        edges, weights = self._list(as_matrix(graph.edge_index, "edge_index")), None
        if held and self.edge_weights == "use":
            values = np.asarray(as_matrix(getattr(graph, held[0]), held[0]))
            values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
            weights = self._weights(values, held[0])
            if weights is not None and weights.shape != (edges.shape[1],):
                expected = f"{edges.shape[1]} numbers, one for each edge"
                raise ArgumentError(f"is {described(values)}", where=held[0], expected=expected)
        return ReadEdges(edges, self.count, weights)

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

    def _networkx(self, graph: Any) -> ReadEdges:
        listed = list(graph.edges(data="weight"))
        values = [weight for *_, weight in listed]
        weights = self._of_each(values, lambda edge: f"the edge of {listed[edge][0]!r} and {listed[edge][1]!r}")
        names = list(graph)
        row_of = dict(zip(names, self._rows(names, "graph").tolist(), strict=True))
        ends = [(row_of[first], row_of[second]) for first, second, _ in listed]
        edges = np.array(ends, np.int64).reshape(-1, 2).T
        return ReadEdges(edges, self.count, weights, not graph.is_directed())

    def _igraph(self, graph: Any) -> ReadEdges:
        edges = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2).T
        weights = None
        if "weight" in graph.es.attributes():
            values = graph.es["weight"]
            weights = self._of_each(values, lambda edge: f"the edge of vertices {edges[0, edge]} and {edges[1, edge]}")
        if self.ids is None and graph.vcount() != self.count:
            expected = f"{self.count}, a vertex for each row of X"
            raise ArgumentError(f"has {graph.vcount()} vertices", where="graph", expected=expected)
        named = self.ids is not None and "name" in graph.vs.attributes()
        rows = self._rows(graph.vs["name"] if named else range(graph.vcount()), "graph")[edges]
        return ReadEdges(rows, self.count, weights, not graph.is_directed())

    def _of_each(self, values: list[Any], called: Callable[[int], str]) -> NDArray[np.float32] | None:
        """The weights of edges, None where one has none; errors say which edge it is."""
        if self.edge_weights is None:
            other = next((edge for edge, weight in enumerate(values) if not _counts_once(weight)), None)
            if other is not None:
                raise ArgumentError(f"{called(other)} has a weight", where="graph", expected=_UNWEIGHTED, fix=_SAY)
        if self.edge_weights != "use" or all(weight is None for weight in values):
            return None
        without = next((edge for edge, weight in enumerate(values) if weight is None), None)
        if without is not None:
            raise ArgumentError(f"{called(without)} has no weight", where="graph", expected="one, as others have")
        return self._weights(values, "graph")

    def _frame(self, frame: Any) -> ReadEdges:
        names = column_names(frame)
        columns = [position for position, name in enumerate(names) if not is_index(name)]
        pairs = ends_by_name(names)
        only = len(columns) == 2 and not any(is_no_end(names[position]) for position in columns)
        if not only and len(pairs) != 1:
            listed = ", ".join(names[:SHOWN_COLUMNS]) + ", …" * (len(names) > SHOWN_COLUMNS)
            expected = "two, or source and target among them"
            raise ArgumentError(f"columns are {listed}", where="edges", expected=expected)
        ends = columns if only else pairs[0]
        further = [position for position in columns if position not in ends]
        if further and self.edge_weights is None:
            shown = ", ".join(repr(frame.columns[position]) for position in further[:SHOWN_COLUMNS])
            fix = 'say edge_weights="use", or "ignore" to leave further columns out'
            raise ArgumentError(
                f"has further columns: {shown}", where="edges", expected="the two ends of an edge only", fix=fix
            )
        weights = None
        if further and self.edge_weights == "use":
            called = [position for position in further if is_weight(names[position])] or further
            if len(called) > 1:
                shown = ", ".join(names[position] for position in called[:SHOWN_COLUMNS])
                found = f"has several columns that may be the weights: {shown}"
                raise ArgumentError(found, where="edges", expected="one", fix="leave the others out")
            weights = self._weights(np.asarray(column(frame, called[0])), "edges")
        return ReadEdges(
            np.stack([self._rows(np.asarray(column(frame, end)), "edges") for end in ends]), self.count, weights
        )

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


def _counts_once(weight: Any) -> bool:
    return weight is None or (np.ndim(weight) == 0 and bool(weight == 1))


def _matrix_of(adjacency: Adjacency) -> Any:
    """A sparse matrix, with weights and self-loops only if it has weights."""
    return (adjacency.matrix() + sp.diags_array(np.where(adjacency.loops == 1, 0, adjacency.loops))).tocsr()


def _listed(names: Sequence[Any] | NDArray[Any]) -> list[Any]:
    return names.tolist() if isinstance(names, np.ndarray) else list(names)
