"""Entries of a graph whose edges have weights, or count in one direction -> CSR.

Those without weights that count in both directions, which are most, have a faster way: `grandplus.graph.symmetrize`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.edge_weights import EdgeWeights, checked_edge_weights, row_sums
from grandplus.runtime.errors import ArgumentError

Direction: TypeAlias = Literal["both", "out", "in"]


class Merged(NamedTuple):
    """The CSR of a graph, and what was merged and dropped.

    Attributes
    ----------
    indptr : int64 (n + 1,)
    indices : int64 (stored entries,)
    weights : EdgeWeights or None
        None if all are 1.
    facts : dict of int
        ``edges`` (pairs of nodes, whatever the direction), ``merged_duplicates`` and ``dropped_self_loops``. If there
        are any, ``zero_weights`` (entries, which are no edges). Of a graph with weights also ``differing_weights``
        (edges whose entries have several weights) and ``weighted_self_loops`` (nodes that have one).
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    weights: EdgeWeights | None
    facts: dict[str, int]


def merge(edges: NDArray[Any], nodes: int, weights: Any, direction: Direction) -> Merged:
    """Sort entries into rows, each once; of several weights of an edge the largest counts.

    Parameters
    ----------
    edges : int (2, E)
        Row numbers from 0 to n - 1.
    nodes : int
        n.
    weights : array_like (E,), optional
        None: 1 each.
    direction : {"both", "out", "in"}
        Which edges of a node are in its row: all, those that start at it, or those that end at it.

    Raises
    ------
    ArgumentError
        An edge names a node that is not there, or a weight is negative or no number.

    Examples
    --------
    >>> edges = np.array([[0, 1, 1], [1, 0, 1]])
    >>> merged = merge(edges, 2, [2, 3, 5], "both")
    >>> merged.indices.tolist(), merged.weights.entries.tolist(), merged.weights.strengths.tolist()
    ([1, 0], [3.0, 3.0], [4.0, 8.0])
    >>> merge(edges, 2, [2, 3, 5], "out").weights.strengths.tolist()
    [3.0, 8.0]
    """
    check_rows(edges, nodes)
    given = np.ones(edges.shape[1], np.float32) if weights is None else checked_edge_weights(weights, edges.shape[1])
    kept = given > 0
    starts, ends, given = (np.asarray(part)[kept] for part in (edges[0], edges[1], given))
    loops, (looped, of_loops) = np.ones(nodes, np.float32), largest_loops(starts, ends, given)
    loops[looped] = of_loops
    listed = directed_entries(starts, ends, given, direction)
    rows, indices, entries, differing = unique_entries(*listed)
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    edges_kept = len(indices) // 2 if direction == "both" else pairs_of(rows, indices)
    at_itself = int((starts == ends).sum())
    facts = {
        "edges": edges_kept,
        "merged_duplicates": len(starts) - at_itself - edges_kept,
        "dropped_self_loops": at_itself,
    }
    if not kept.all():
        facts["zero_weights"] = int((~kept).sum())
    if (entries == 1).all() and (loops == 1).all():
        return Merged(indptr, indices, None, facts)
    facts |= {
        "dropped_self_loops": 0,
        "differing_weights": differing // 2 if direction == "both" else differing,
        "weighted_self_loops": len(looped),
    }
    return Merged(indptr, indices, EdgeWeights(entries, loops, row_sums(indptr, entries, loops)), facts)


def directed_edges(
    edges: NDArray[Any], weights: Any, undirected: bool | NDArray[np.bool_], direction: Direction
) -> tuple[NDArray[Any], Any]:
    """Edges as `merge` takes them: where a direction is chosen, those that have none are listed in both.

    Parameters
    ----------
    edges : int (2, E)
    weights : array_like (E,) or None
    undirected : bool or bool (E,)
        Which edges have no direction.
    direction : {"both", "out", "in"}

    Returns
    -------
    edges : int (2, E')
    weights : array_like (E',) or None

    Raises
    ------
    ArgumentError
        A direction is chosen, and no edge has one.

    Examples
    --------
    >>> directed_edges(np.array([[0, 1], [1, 2]]), [5, 6], np.array([True, False]), "out")
    (array([[0, 1, 1],
           [1, 2, 0]]), array([5, 6, 5]))
    """
    both = np.broadcast_to(undirected, edges.shape[1:])
    if direction != "both" and both.size and both.all():
        found = f"direction is {direction}, and the graph says that none of its edges has one"
        raise ArgumentError(found, expected="direction: both")
    return listed_both_ways(edges, weights, undirected, direction)


def listed_both_ways(
    edges: NDArray[Any], weights: Any, undirected: bool | NDArray[np.bool_], direction: Direction
) -> tuple[NDArray[Any], Any]:
    """The same, where it is known that edges may have a direction.

    Examples
    --------
    >>> listed_both_ways(np.array([[0], [1]]), None, True, "out")[0].tolist()
    [[0, 1], [1, 0]]
    """
    both = np.broadcast_to(undirected, edges.shape[1:])
    if direction == "both" or not both.any():
        return edges, weights
    listed = np.concatenate([edges, edges[::-1, both]], axis=1)
    return listed, None if weights is None else np.concatenate([weights, np.asarray(weights)[both]])


def pairs_of(rows: NDArray[Any], columns: NDArray[Any]) -> int:
    """How many pairs of nodes have an entry, in whichever direction.

    Examples
    --------
    >>> pairs_of(np.array([0, 1, 1]), np.array([1, 0, 2]))
    2
    """
    lower, upper = np.minimum(rows, columns), np.maximum(rows, columns)
    return len(unique_entries(lower, upper, np.ones(len(rows), np.float32))[0])


def check_rows(edges: NDArray[Any], nodes: int) -> None:
    """Check that edges join nodes of a graph.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> check_rows(np.array([[0], [1]]), 2)
    """
    for bad in (edges.min(initial=0), edges.max(initial=0)):
        if not 0 <= bad < max(nodes, 1):
            raise ArgumentError(f"an edge names node {bad}", expected=f"ids from 0 to {nodes - 1}")


def directed_entries(
    starts: NDArray[Any], ends: NDArray[Any], values: NDArray[np.float32], direction: Direction
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Rows and columns of the entries that edges make, without self-loops, and their values.

    Raises
    ------
    ArgumentError
        There is no such direction.

    Examples
    --------
    >>> one = np.array([0]), np.array([1]), np.array([5], np.float32)
    >>> [tuple(part.tolist() for part in directed_entries(*one, how)) for how in ("both", "out", "in")]
    [([0, 1], [1, 0], [5.0, 5.0]), ([0], [1], [5.0]), ([1], [0], [5.0])]
    """
    apart = starts != ends
    starts, ends, values = starts[apart], ends[apart], values[apart]
    if direction == "both":
        return np.concatenate([starts, ends]), np.concatenate([ends, starts]), np.tile(values, 2)
    if direction == "out":
        return starts, ends, values
    if direction == "in":
        return ends, starts, values
    raise ArgumentError(f"direction is {direction!r}", expected="both, out or in")


def largest_loops(
    starts: NDArray[Any], ends: NDArray[Any], values: NDArray[np.float32]
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """The nodes that have an edge to themselves, ascending, and the largest weight of each.

    Examples
    --------
    >>> largest_loops(np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([5, 6, 2], np.float32))
    (array([1]), array([6.], dtype=float32))
    """
    at = starts == ends
    rows, _, largest, _ = unique_entries(starts[at], ends[at], values[at])
    return rows, largest


def unique_entries(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float32]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32], int]:
    """Entries by row and column, each once with its largest value; and how many have several values.

    Examples
    --------
    >>> unique_entries(np.array([1, 0, 1]), np.array([0, 1, 0]), np.array([5, 3, 6], np.float32))
    (array([0, 1]), array([1, 0]), array([3., 6.], dtype=float32), 1)
    """
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    begins = np.flatnonzero(first)
    if not len(begins):
        return rows, columns, values, 0
    largest = np.maximum.reduceat(values, begins)
    differing = int((largest != np.minimum.reduceat(values, begins)).sum())
    return rows[begins], columns[begins], largest, differing
