"""Columns that only count the lines of a table, whatever they are called: they hold no feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from grandplus.datasets.tables.names import counts
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

MIN_LINES = 10  # fewer numbers may rise by chance


def counters(table: Table, columns: Iterable[int]) -> set[int]:
    """The columns that hold 0, 1, 2, … or 1, 2, 3, … in the order of the lines, to the last one.

    Parameters
    ----------
    table : Table
    columns : iterable of int
        Those that are looked at, by their numbers from 0.

    Returns
    -------
    set of int

    Raises
    ------
    GrandPlusError
        One counts few lines, and has no name that tells whether it is a feature.
    """
    first = {column: float(values[0]) for column in columns if counts(values := table.values(column))}
    if not first:
        return set()
    lines, wrong = 0, set[int]()
    for pieces in table.pieces(list(first)):
        for (column, start), piece in zip(first.items(), pieces, strict=True):
            numbers = np.arange(lines + start, lines + start + len(piece))
            if column not in wrong and not np.array_equal(_numbers(piece), numbers):
                wrong.add(column)
        lines += len(pieces[0])
    counting = set(first) - wrong
    if counting and lines < MIN_LINES and not table.names:
        column = min(counting) + 1
        fix = f"leave it out with --ignore {column}, or give the columns names"
        found = f"counts the lines in column {column}, as an index does"
        raise GrandPlusError(found, where=table.file, expected="features", fix=fix)
    return counting if lines >= MIN_LINES else set()


def _numbers(piece: pa.Array) -> Any:
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    try:
        return piece.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        return None
