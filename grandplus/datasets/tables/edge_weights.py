"""The column of an edge table that holds the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.edge_weights import raise_further_columns, raise_several, raise_without_weights, weights_read
from grandplus.datasets.source import Reading
from grandplus.datasets.tables.features import decoded, is_text
from grandplus.datasets.tables.names import is_weight
from grandplus.datasets.tables.numbers import evidence_of, fraction_mark, parsed
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

NAMED_COLUMNS = 10  # at most, in an error
_NAME = "name the column that holds the weights with --weight (source.read.weight in the card)"


def weight_column(edges: Table, ends: Sequence[int], how: Reading) -> int:
    """Which column holds the weights of edges: the one that is named, called so, or the only further one.

    Parameters
    ----------
    edges : Table
    ends : sequence of int
        The columns of ids.
    how : Reading

    Returns
    -------
    int
        From 0.

    Raises
    ------
    GrandPlusError
        None or several may be the weights, or the one that is named holds ids.
    """
    if how.weight is not None:
        named = edges.column(how.weight)
        if named in ends:
            found = f"column {how.weight} holds an end of edges, and is named as their weights"
            raise GrandPlusError(found, where=edges.file, expected="another one", fix=_NAME)
        return named
    others = further_columns(edges, ends)
    called = [column for column in others if edges.names and is_weight(edges.names[column])] or others
    if len(called) > 1:
        raise_several(map(edges.named, called[:NAMED_COLUMNS]), edges.file)
    if not called:
        raise_without_weights(edges.file)
    return called[0]


def further_columns(edges: Table, ends: Sequence[int]) -> list[int]:
    """The columns beside the ends that hold anything and are no index."""
    others = [column for column in range(edges.width) if column not in (*ends, *edges.index)]
    return [column for column in others if not edges.is_empty(column)]


def used_weight_column(edges: Table, ends: Sequence[int], how: Reading) -> int | None:
    """The column of weights if they are used; None if not.

    Raises
    ------
    GrandPlusError
        There are further columns, and nothing says what becomes of them; see also `weight_column`.
    """
    if how.weights == "use":
        return weight_column(edges, ends, how)
    others = further_columns(edges, ends)
    if others and how.weights is None:
        raise_further_columns(map(edges.named, others[:NAMED_COLUMNS]), edges.file)
    return None


def read_weights(edges: Table, column: int | None, how: Reading) -> NDArray[np.float32] | None:
    """The weights of the edges, without lines that are none.

    Parameters
    ----------
    edges : Table
        It knows which rows are left out.
    column : int or None
        As `used_weight_column` gives it.
    how : Reading
        ``decimal`` says how fractions are written.

    Returns
    -------
    float32 (E,) or None

    Raises
    ------
    GrandPlusError
        A cell is no number of at least 0; with its line.
    """
    if column is None:
        return None
    where = f"{edges.file}, column {edges.named(column)}"
    cells = pa.chunked_array([decoded(piece) for (piece,) in edges.pieces([column])])
    kept = np.ones(len(cells), bool)
    kept[list(edges.left_out)] = False
    cells = cells.filter(pa.array(kept)).combine_chunks()
    numbers = _numbers(cells, edges, how, where)
    wrong = np.flatnonzero(~(numbers >= 0))
    if len(wrong):
        row = int(wrong[0])
        found = f"{edges.line(row)} is {cells[row].as_py()!r}"
        fix = f"correct it, or {_NAME}"
        raise GrandPlusError(found, where=where, expected="a number of at least 0", fix=fix)
    return weights_read(numbers, how, where)


def _numbers(cells: pa.Array, edges: Table, how: Reading, where: str) -> NDArray[np.float64]:
    """NaN where a cell is none."""
    if is_text(cells.type):
        texts = pc.utf8_trim_whitespace(cells)
        evidence = evidence_of(texts)
        mark = fraction_mark(evidence, evidence, where, semicolons=edges.delimiter == ";", asked=how.decimal)
        cells = parsed(texts, mark)
    try:
        return np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    except pa.ArrowException:
        raise GrandPlusError(f"holds {cells.type}", where=where, expected="numbers") from None
