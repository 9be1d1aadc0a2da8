"""A graph that has grown: new nodes and edges over a stored graph, none of whose arrays is copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.features import Features, csr_of, zero_rows
from grandplus.graph.fitted import RAW_ROWS, FittedFeatures
from grandplus.graph.grown_adjacency import GrownAdjacency, grow
from grandplus.graph.ids import find_rows, hint, raise_unknown
from grandplus.kernels.compiled import FLOAT32, INT32, INT64, kernel, writable
from grandplus.runtime.errors import ArgumentError

Graph: TypeAlias = Any  # of grandplus.graph.graph, which imports this module


@dataclass(frozen=True, eq=False)
class GrownGraph:
    """A stored graph with the nodes and edges that came later, made by ``graph.grown``.

    Attributes
    ----------
    base : Graph
        The stored one. Its nodes keep their numbers, 0 to n₀ - 1.
    adjacency : GrownAdjacency of n nodes
    new_ids : (m,)
        The ids of the new nodes, which are the last ones.
    new_labels : int64 (m,)
        -1 where unknown.
    remade : int64 (c,)
        The nodes that have other features than in ``base``, or none there, ascending.
    remade_features : float32 (c, d), ndarray or scipy CSR
        Theirs.
    facts : dict of int
        ``nodes`` and ``edges`` that were added, ``merged_duplicates`` and ``dropped_self_loops``,
        ``zero_feature_rows`` (new nodes whose given features are all 0), and ``unknown_degrees``: nodes with a number
        of neighbours that has no column in one-hot features.
    """

    base: Graph
    adjacency: GrownAdjacency
    new_ids: NDArray[Any]
    new_labels: NDArray[np.int64]
    remade: NDArray[np.int64]
    remade_features: Features
    facts: dict[str, int]

    @property
    def classes(self) -> list[str]:
        """Names, by class number."""
        return list(self.base.classes)

    @property
    def new_nodes(self) -> NDArray[np.int64]:
        """The numbers of the new nodes: int64 (m,)."""
        return np.arange(self.base.adjacency.nodes, self.adjacency.nodes)

    def rows_of(self, ids: Sequence[int | str]) -> NDArray[np.int64]:
        """The numbers of nodes by their ids: int64 (b,).

        Raises
        ------
        ArgumentError
            There is no such node; suggests similar ids.
        """
        rows = _find(self.base.node_ids, self.new_ids, ids)
        for row, wanted in zip(rows, ids, strict=True):
            if row < 0:
                raise_unknown(self.base.node_ids, wanted)
        return rows

    def ids_of(self, nodes: NDArray[np.integer[Any]]) -> list[Any]:
        """The ids of nodes by their numbers."""
        return list(self._chosen(self.base.node_ids, self.new_ids, nodes).tolist())

    def labels_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The labels of some nodes: int64 (b,), -1 where unknown."""
        return self._chosen(self.base.labels, self.new_labels, nodes)

    def features_of(self, nodes: NDArray[np.integer[Any]]) -> Features:
        """The features of some nodes: float32 (b, d), ndarray or scipy CSR."""
        found = np.searchsorted(self.remade, nodes)
        is_remade = self.remade[np.minimum(found, len(self.remade) - 1)] == nodes if len(self.remade) else nodes < 0
        parts = (
            (self.base.features, np.flatnonzero(~is_remade), nodes[~is_remade]),
            (self.remade_features, np.flatnonzero(is_remade), found[is_remade]),
        )
        if sp.issparse(self.base.features):
            return _gathered(parts, len(nodes))
        features = np.empty((len(nodes), self.base.features.shape[1]), np.float32)
        for source, places, rows in parts:
            features[places] = source[rows]
        return features

    def _chosen(self, old: NDArray[Any], new: NDArray[Any], nodes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Values of old and new nodes by their numbers."""
        chosen, is_new = np.empty(len(nodes), old.dtype), nodes >= len(old)
        chosen[~is_new], chosen[is_new] = old[nodes[~is_new]], new[nodes[is_new] - len(old)]
        return chosen


def _gathered(parts: Sequence[tuple[Any, NDArray[np.int64], NDArray[np.integer[Any]]]], count: int) -> Any:
    """A CSR matrix of so many rows: of each source, these of its rows in these places."""
    indptr = np.zeros(count + 1, np.int64)
    for source, places, rows in parts:
        indptr[places + 1] = source.indptr[rows + 1] - source.indptr[rows]
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    for source, places, rows in parts:
        stored = source.indptr.astype(np.int64, copy=False), source.indices.astype(np.int32, copy=False), source.data
        _copy_rows(*stored, rows.astype(np.int64, copy=False), indptr[places], indices, data)
    return csr_of(indptr, indices, data, parts[0][0].shape[1])


def grown_graph(
    base: Graph,
    nodes: Sequence[int | str] | NDArray[Any],
    edges: Sequence[Sequence[int | str]] | NDArray[Any],
    features: Features | None,
    labels: Sequence[str | None] | None,
    weights: ArrayLike | None,
) -> GrownGraph:
    """See `grandplus.graph.graph.Graph.grown`."""
    new_ids = _new_ids(base.node_ids, nodes)
    ends = _rows_of_ends(base.node_ids, new_ids, edges)

    def called(row: int) -> object:
        return base.node_ids[row] if row < len(base.node_ids) else new_ids[row - len(base.node_ids)]

    adjacency, facts = grow(base.adjacency, ends, len(base.node_ids) + len(new_ids), weights, called)
    if base.fitted.kind in RAW_ROWS:
        remade, made, unknown = _made_features(base.fitted, adjacency)
    else:
        remade, unknown = np.arange(base.adjacency.nodes, adjacency.nodes), 0
        made = _given_features(base, len(new_ids), features)
    made = sp.csr_array(made) if sp.issparse(base.features) else made.toarray() if sp.issparse(made) else made
    zeros = 0 if features is None else zero_rows(features)
    facts = {"nodes": len(new_ids), **facts, "zero_feature_rows": zeros, "unknown_degrees": unknown}
    return GrownGraph(base, adjacency, new_ids, _numbers(base.classes, labels, len(new_ids)), remade, made, facts)


def _new_ids(known: NDArray[Any], nodes: Sequence[int | str] | NDArray[Any]) -> NDArray[Any]:
    """The ids of new nodes, of the type of the known ones."""
    ids = _listed(nodes)
    integers = pa.types.is_integer(pa.array(known[:1]).type)
    found = find_rows(known, ids)
    if (found >= 0).any():
        node = ids[int(np.argmax(found >= 0))]
        raise ArgumentError(f"new node {node} is there already", expected="new nodes that the graph lacks")
    seen = set[str]()
    for node in map(str, ids):
        if integers and not (node.removeprefix("-").isdecimal() and -(2**63) <= int(node) < 2**63):
            raise ArgumentError(f"new node {node!r} is no whole number", expected="an id like those of the graph")
        if node in seen:
            raise ArgumentError(f"new node {node} is there twice", expected="each once")
        seen.add(node)
    return np.array([int(node) if integers else str(node) for node in ids], np.int64 if integers else object)


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _find(known: NDArray[Any], new: NDArray[Any], ids: Sequence[int | str]) -> NDArray[np.int64]:
    """The numbers of nodes, old or new; -1 where there is none."""
    rows = find_rows(known, ids)
    missing = np.flatnonzero(rows < 0)
    if len(missing) and len(new):
        found = find_rows(new, [ids[place] for place in missing.tolist()])
        rows[missing] = np.where(found >= 0, found + len(known), -1)
    return rows


def _rows_of_ends(known: NDArray[Any], new: NDArray[Any], edges: Any) -> NDArray[np.int64]:
    ends = [_listed(end) for end in edges]
    if len(ends) != 2 or len(ends[0]) != len(ends[1]):
        raise ArgumentError(f"edges have {' and '.join(str(len(end)) for end in ends)} ends", expected="two of each")
    rows = _find(known, new, ends[0] + ends[1]).reshape(2, -1)
    if (rows < 0).any():
        edge = int(np.argmax((rows < 0).any(axis=0)))
        end = ends[int(np.argmax(rows[:, edge] < 0))][edge]
        found = f"edge {edge + 1}, {ends[0][edge]} - {ends[1][edge]}, names node {end}"
        raise ArgumentError(
            found, expected="a node of the graph, or one that is added", fix=hint(pa.array(known), _like(end, known))
        )
    return rows


def _like(node: int | str, known: NDArray[Any]) -> int | str:
    return node if pa.types.is_integer(pa.array(known[:1]).type) else str(node)


def _given_features(base: Graph, nodes: int, raw: Features | None) -> Features:
    """The features of new nodes as preprocessing would have made them."""
    width = int(base.features.shape[1])
    if raw is None and nodes:
        raise ArgumentError("the new nodes have no features", expected=f"features ({nodes}, {width})")
    raw = np.empty((0, width), np.float32) if raw is None else raw
    if raw.shape != (nodes, width):
        raise ArgumentError(f"features of the new nodes have shape {raw.shape}", expected=f"({nodes}, {width})")
    return base.fitted.transform(raw)


def _made_features(fitted: FittedFeatures, adjacency: GrownAdjacency) -> tuple[NDArray[np.int64], Features, int]:
    """Features that are made from the graph, of all nodes with new edges; and how many have an unknown degree."""
    new = np.arange(adjacency.base.nodes, adjacency.nodes)
    nodes = np.union1d(adjacency.growth.nodes, new)
    if fitted.node_ids is not None:
        rows = [adjacency.neighbors_of(node) for node in nodes.tolist()]
        width = len(fitted.node_ids)  # of the first nodes, which were there when it was fitted
        rows = [row[row < width] for row in rows]
        indptr = np.cumsum([0, *map(len, rows)])
        indices = np.concatenate([np.empty(0, np.int64), *rows])
        marks = sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), (len(nodes), width))
        return nodes, fitted.transform(marks), 0
    degrees = adjacency.degrees_of(nodes)[:, None] - 1
    if fitted.degrees is None:
        return nodes, fitted.transform(degrees), 0
    known = np.isin(degrees, fitted.degrees)
    one_hot = fitted.transform(np.where(known, degrees, fitted.degrees[0]))
    one_hot.data *= known[:, 0]
    return nodes, one_hot, int((~known).sum())


def _numbers(classes: list[str], labels: Sequence[str | None] | None, nodes: int) -> NDArray[np.int64]:
    """The numbers of classes by their names."""
    if labels is None:
        return np.full(nodes, -1)
    if len(labels) != nodes:
        raise ArgumentError(f"there are {len(labels)} labels", expected=f"{nodes}, one for each new node")
    number_of: dict[str | None, int] = {name: number for number, name in enumerate(classes)} | {None: -1}
    for label in labels:
        if label not in number_of:
            expected = f"one of {', '.join(classes)}, which the models know"
            raise ArgumentError(f"a new node has the label {label!r}", expected=expected, fix="leave the label out")
    return np.array([number_of[label] for label in labels], np.int64)


@kernel(INT64, INT32, FLOAT32, INT64, INT64, writable(INT32), writable(FLOAT32))
def _copy_rows(indptr, indices, data, rows, starts, out_indices, out_data):
    """Copy rows of a CSR matrix, each to where it starts."""
    for i in range(len(rows)):
        to = starts[i]
        for j in range(indptr[rows[i]], indptr[rows[i] + 1]):
            out_indices[to], out_data[to] = indices[j], data[j]
            to += 1
