"""Which column of a node table holds the classes, by its name and its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.tables.class_names import WHOLE, class_names
from grandplus.datasets.tables.names import LABELS
from grandplus.datasets.tables.numbers import are_dates, has_fraction, is_number
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

MAX_NUMBERED = 30  # classes that numbers beside empty cells may stand for
_FIX = "name the column of classes with --label"


def label_column(
    nodes: Table, ident: int | None, of_split: set[int], ignored: set[int]
) -> tuple[int | None, list[int]]:
    """The column that has a usual name for classes; else the only column, or the only one of text that is no date.

    Parameters
    ----------
    nodes : Table
    ident : int or None
        The column of ids.
    of_split : set of int
        The columns that hold a split.
    ignored : set of int
        Those that the user leaves out; of several with usual names, they are none.

    Returns
    -------
    column : int or None
        None if there is no column.
    same : list of int
        Further columns with a usual name, which only rename the classes.

    Raises
    ------
    GrandPlusError
        Several columns may be meant, or none; with their names.
    """
    rest = [column for column in range(nodes.width) if column not in (ident, *nodes.index, *of_split)]
    rest = [column for column in rest if not nodes.is_empty(column)] or rest
    text = [column for column in rest if _holds_words(nodes.values(column))]
    usual = _usual(nodes, rest, text, ignored)
    if usual:
        return usual[0], usual[1:]
    if len(rest) <= 1:
        return rest[0] if rest else None, []
    if len(text) == 1:
        return text[0], []
    held = _listed(nodes, rest)
    fix = "name the column with --label: by its header or, without one, its number"
    of_text = f"{len(text)} of them are of text: {_listed(nodes, text)}" if text else "none of them are of text"
    raise GrandPlusError(f"has columns {held}, none is called label, and {of_text}", where=nodes.file, fix=fix)


def may_hold_classes(nodes: Table, column: int) -> bool:
    """Whether a column has few whole numbers, each more than once, beside cells for unknown labels.

    Parameters
    ----------
    nodes : Table
    column : int

    Returns
    -------
    bool
        False, too, if a column has a usual name for classes.
    """
    if any(name.lower() in LABELS for name in nodes.names or []):
        return False
    texts = {entry["values"]: entry["counts"] for entry in pc.value_counts(_texts(nodes, column)).to_pylist()}
    nodes_of: Counter[str] = Counter()
    for text, name in class_names(text or "" for text in texts).items():
        if name is not None:
            nodes_of[name] += texts[text]
    few = 2 <= len(nodes_of) <= MAX_NUMBERED and min(nodes_of.values()) > 1
    return few and all(map(WHOLE.fullmatch, nodes_of))


def mostly_numbers(values: Sequence[str]) -> bool:
    """Whether a column holds numbers, so that any text in it is a mistake.

    Examples
    --------
    >>> mostly_numbers(["1", "2", "x", ""]), mostly_numbers(["1", "x"])
    (True, False)
    """
    filled = [value for value in values if value]
    return sum(map(is_number, filled)) * 2 > len(filled)


def _holds_words(values: Sequence[str]) -> bool:
    """Whether a column holds text, but neither numbers nor dates.

    >>> [_holds_words(values) for values in (["a", ""], ["1", ""], ["2024-01-31", ""], [""])]
    [True, False, False, False]
    """
    return any(values) and not mostly_numbers(values) and not are_dates(values)


def _listed(nodes: Table, columns: list[int]) -> str:
    return ", ".join(str(nodes.named(column)) for column in columns[:20])


def _usual(nodes: Table, rest: list[int], text: list[int], ignored: set[int]) -> list[int]:
    """Those with a usual name, the most usual one first; the others rename its classes."""
    names = {name.lower(): column for column, name in enumerate(nodes.names or []) if column in rest}
    usual = [name for name in LABELS if name in names]
    if "y" in usual and ("x" in names or has_fraction(nodes.values(names["y"]))):  # it may be a coordinate
        others = [column for column in text if len(set(nodes.values(column))) < len(nodes.values(column))]
        if usual == ["y"] and others and not has_fraction(nodes.values(names["y"])):
            classes = ", ".join(str(nodes.named(column)) for column in (names["y"], *others))
            found = f"has x and y, so y may be a coordinate; classes may be in {classes}"
            raise GrandPlusError(found, where=nodes.file, fix=_FIX)
        if usual != ["y"] or has_fraction(nodes.values(names["y"])):
            usual.remove("y")
    columns = [names[name] for name in usual]
    columns = [column for column in columns if column not in ignored] or columns
    if len(columns) < 2:
        return columns
    codes = {column: _codes(nodes, column) for column in columns}
    columns = [column for column in columns if 1 < len(np.unique(codes[column])) < len(codes[column])] or columns
    first, *others = columns
    if not all(_is_renamed(codes[first], codes[column]) for column in others):
        listed = " or ".join(str(nodes.named(column)) for column in columns)
        raise GrandPlusError(f"may have the classes in column {listed}", where=nodes.file, expected="one", fix=_FIX)
    return columns


def _codes(nodes: Table, column: int) -> NDArray[np.int64]:
    """A number for each different value."""
    return np.asarray(pc.fill_null(_texts(nodes, column).dictionary_encode().indices, -1), np.int64)


def _texts(nodes: Table, column: int) -> pa.Array:
    pieces = [piece.cast(pa.large_string()) for (piece,) in nodes.pieces([column])]
    return pa.chunked_array(pieces, pa.large_string()).combine_chunks()


def _is_renamed(codes: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Whether each value of a column goes with one value of the other, and the other way round."""
    pairs = int(np.unique(np.stack([codes, others]), axis=1).shape[1])
    return pairs == len(np.unique(codes)) == len(np.unique(others))
