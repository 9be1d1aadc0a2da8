"""An adjacency whose rows are the nodes, beside tables with labels and features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.attributed.beside import Tables, read_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import NO_IDS, Reading, Source
from grandplus.datasets.tables.ids import ids_of
from grandplus.datasets.tables.look import look
from grandplus.runtime.errors import GrandPlusError

_BY_ROW = (".npy", ".npz")


def matrix_graph(file: Path, matrix: Any, how: Reading, *, symmetric: bool = False) -> AttributedGraph:
    """The entries of a square matrix that are not 0, as edges of nodes that are called 1, 2, ….

    Parameters
    ----------
    file : Path
    matrix : (n, n) scipy sparse
        Its indices are checked.
    how : Reading
        If the table beside it has no ids, nodes are called 0, 1, … until it is read.
    symmetric : bool
        Whether the file has one half of the matrix.

    Returns
    -------
    AttributedGraph
    """
    matrix = matrix.tocoo()
    stored = matrix.row >= matrix.col if symmetric else np.ones(matrix.nnz, bool)
    edge = stored & (matrix.data != 0)
    values, zeros = matrix.data[edge], int(stored.sum() - edge.sum())
    first = 0 if how.id == NO_IDS else 1
    return AttributedGraph(
        file,
        [str(row) for row in range(first, matrix.shape[0] + first)],
        {},
        np.stack([matrix.row[edge], matrix.col[edge]]).astype(np.int64),
        {} if (values == 1).all() else {"weight": values},
        undirected=symmetric,
        dropped={"entries of 0": zeros} if zeros else {},
    )


def read_matrix_beside(graph: AttributedGraph, others: dict[str, Path], source: Source, tables: Tables) -> RawGraph:
    """Read a matrix and the files beside it.

    Parameters
    ----------
    graph : AttributedGraph
        As ``matrix_graph`` gives it.
    others : dict of Path
        The tables, and files of features, by what the card calls them.
    source : Source
    tables : module
        The format of tables.

    Returns
    -------
    RawGraph

    Raises
    ------
    GrandPlusError
        A table without ids has another number of lines than the matrix has rows; or features have a row for each row
        of the matrix, and the table has the nodes in another order. See also ``read_beside``.
    """
    how, rows = source.read, len(graph.ids)
    table = others.get(how.nodes or "", graph.where)
    if how.id == NO_IDS:
        _check_lines(table, how, rows, graph.where.name)
    if how.id not in (None, NO_IDS) and (how.features or "").endswith(_BY_ROW):
        _check_order(table, how, rows)
    raw = read_beside(graph, others, source, tables)
    return raw if how.id != NO_IDS else replace(raw, node_ids=raw.node_ids + 1)


def _check_lines(file: Path, how: Reading, rows: int, matrix: str) -> None:
    table = look(file, header=isinstance(how.label, str), skip=how.skip.get(how.nodes or ""))
    lines = sum(len(piece) for (piece,) in table.pieces([0]))
    if lines < rows:
        raise GrandPlusError(f"has {lines} lines of data", where=file, expected=f"{rows}, as {matrix} has rows")


def _check_order(file: Path, how: Reading, rows: int) -> None:
    table = look(file, header=isinstance(how.id, str), skip=how.skip.get(how.nodes or ""))
    (pieces,) = ids_of(table, [table.column(how.id)])  # type: ignore[arg-type] # not None: checked
    ids = [str(name) for piece in pieces for name in piece.to_pylist()]
    if ids != [str(row) for row in range(1, rows + 1)]:
        expected = f"1 to {rows} in this order, as {how.features} has a row for each row of the matrix"
        raise GrandPlusError("has the nodes in another order", where=file, expected=expected)
