"""Features in columns of a node table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.arrays.features import LARGEST_FEATURE
from grandplus.datasets.tables.label_column import may_hold_classes
from grandplus.datasets.tables.numbers import (
    COMMA,
    MISSING,
    Evidence,
    evidence_of,
    fraction_mark,
    is_number,
    like_numbers,
    parsed,
)
from grandplus.datasets.tables.table import Table
from grandplus.graph.features import Ranges
from grandplus.runtime.errors import GrandPlusError

NAMED_CELLS = 3  # at most, in an error
MAX_NUMBERS_IN_TEXT = 0.05  # share of the cells of a column of text that may be numbers, as a name may be a number


def read_columns(nodes: Table, columns: Sequence[int], ids: pa.Array, mark: str | None = None) -> NDArray[Any]:
    """Read columns of numbers, or of true and false.

    Parameters
    ----------
    nodes : Table
    columns : sequence of int
        Their numbers, from 0.
    ids : pyarrow array (n,)
        Of the nodes, in the order of the table, for errors.
    mark : {".", ","}, optional
        The mark with which fractions begin in text; by default, what the cells show, see
        `grandplus.datasets.tables.numbers`.

    Returns
    -------
    float32 (n, d) ndarray
        float64 if float32 would lose the variance of a column.

    Raises
    ------
    GrandPlusError
        Some cells are no numbers, with their lines, nodes and content; or they don't show what a mark means.
    """
    reader = _Reader(nodes, list(columns), ids)
    reader.read(reader.columns, {})
    marks = _marks(nodes, reader, mark)
    if marks:
        reader.read(list(marks), marks)
    reader.check()
    if reader.ranges.dtype != reader.features.dtype:
        reader.features = np.empty((0, 0))  # its memory is free before the next is taken
        reader.features = np.empty((len(ids), len(columns)), reader.ranges.dtype)
        reader.read(reader.columns, marks)
    return reader.features


def text_columns(nodes: Table, columns: Sequence[int]) -> dict[int, str]:
    """The columns that can't be features, as they hold text, dates or nothing.

    A column of numbers with some text among them is none of these, so that ``read_columns`` refuses it.

    Parameters
    ----------
    nodes : Table
    columns : sequence of int
        Their numbers, from 0.

    Returns
    -------
    dict of str
        What each of them holds.
    """
    held = {column: nodes.values(column) for column in columns}
    filled = {column: [text for text in texts if text not in MISSING] for column, texts in held.items()}
    doubtful = [column for column in columns if not filled[column] or not all(map(is_number, filled[column]))]
    counts = {column: np.zeros(2, np.int64) for column in doubtful}  # cells like numbers, and all that aren't empty
    kinds: dict[int, str] = {}
    for pieces in nodes.pieces(doubtful) if doubtful else ():
        for column, piece in zip(doubtful, pieces, strict=True):
            counts[column] += _counts(piece)
            if not is_text(piece.type) and not _is_numeric(piece.type):
                kinds[column] = str(piece.type)
    for column, (like, cells) in counts.items():
        if cells == 0:
            kinds[column] = "empty"
        elif like <= MAX_NUMBERS_IN_TEXT * cells:
            kinds.setdefault(column, "text")
    return kinds


@dataclass
class _Wrong:
    """Cells of a column that are no numbers: how many, and the row and content of the first ones."""

    count: int = 0
    first: list[tuple[int, object]] = field(default_factory=list)


class _Reader:
    """Reads columns piece by piece into an array, and notes what is no number.

    Attributes
    ----------
    features : float32 or float64 (n, d) ndarray
    ranges : Ranges
        Of the columns.
    texts, unusual : set of int
        Columns of text; and those in which something was met that pyarrow doesn't read as a number.
    wrong : dict of int to _Wrong
        By column.
    """

    def __init__(self, nodes: Table, columns: list[int], ids: pa.Array) -> None:
        self.nodes, self.columns, self.ids = nodes, columns, ids
        self.features: NDArray[Any] = np.empty((len(ids), len(columns)), np.float32)
        self.ranges = Ranges(len(columns))
        self.unusual: set[int] = set()
        self.texts: set[int] = set()
        self.wrong: dict[int, _Wrong] = {}

    def read(self, columns: list[int], marks: Mapping[int, str]) -> None:
        """Read some of the columns."""
        places = [self.columns.index(column) for column in columns] if columns != self.columns else slice(None)
        self.ranges.forget(places)
        for column in columns:
            self.wrong.pop(column, None)
        row = 0
        for pieces in self.nodes.pieces(columns):
            block = np.empty((len(pieces[0]), len(columns)), order="F")
            for position, column in enumerate(columns):
                block[:, position] = self._numbers(pieces[position], column, marks.get(column))
            right = np.abs(block) <= LARGEST_FEATURE
            if not right.all():
                self._note(~right, columns, pieces, row)
                block[~right] = 0
            self.ranges.add(block, places)
            self.features[row : row + len(block), places] = block
            row += len(block)

    def check(self) -> None:
        """Refuse cells that are no numbers."""
        for column in self.columns:
            if column in self.wrong:
                _raise_no_numbers(self.wrong[column], self.nodes, column, self.ids)

    def _numbers(self, piece: pa.Array, column: int, mark: str | None) -> Any:
        if is_text(piece.type):
            self.texts.add(column)
            if column in self.unusual and mark is None:
                return 0
            piece = decoded(piece)
            try:
                return piece.cast(pa.float64()) if mark is None else parsed(pc.utf8_trim_whitespace(piece), mark)
            except pa.ArrowInvalid:
                self.unusual.add(column)
                return 0
        try:
            return decoded(piece).cast(pa.float64(), safe=False)
        except pa.ArrowException:
            where = f"{self.nodes.file}, column {self.nodes.named(column)}"
            fix = "leave the column out: import with --ignore"
            raise GrandPlusError(f"holds {piece.type}", where=where, expected="numbers", fix=fix) from None

    def _note(self, wrong: NDArray[np.bool_], columns: list[int], pieces: list[pa.Array], row: int) -> None:
        for position in np.flatnonzero(wrong.any(axis=0)).tolist():
            cells = np.flatnonzero(wrong[:, position])
            noted = self.wrong.setdefault(columns[position], _Wrong())
            for cell in cells[: NAMED_CELLS - len(noted.first)].tolist():
                noted.first.append((row + cell, pieces[position][cell].as_py()))
            noted.count += len(cells)


def _marks(nodes: Table, reader: _Reader, asked: str | None) -> dict[int, str]:
    """The mark of a fraction in each column that has another form of numbers than Python's."""
    semicolons = nodes.delimiter == ";"
    if not (reader.unusual or semicolons or asked == COMMA):
        return {}
    texts = [column for column in reader.columns if column in reader.texts]
    found = dict.fromkeys(texts, Evidence())
    for pieces in nodes.pieces(texts) if texts else ():
        for column, piece in zip(texts, pieces, strict=True):
            found[column] = evidence_of(pc.utf8_trim_whitespace(decoded(piece)), found[column])
    every = Evidence()
    for evidence in found.values():
        every |= evidence
    marks = {}
    for column, evidence in found.items():
        where = f"{nodes.file}, column {nodes.named(column)}"
        mark = fraction_mark(evidence, every, where, semicolons=semicolons, asked=asked)
        if mark == COMMA or column in reader.unusual:
            marks[column] = mark
    return marks


def _raise_no_numbers(wrong: _Wrong, nodes: Table, column: int, ids: pa.Array) -> NoReturn:
    cells = [f"{nodes.line(row)}, node {ids[row]}, is {_shown(value)}" for row, value in wrong.first]
    more = f", and {wrong.count - len(cells):,} more are no numbers" if wrong.count > len(cells) else ""
    fix = "correct it, or leave the column out: import with --ignore"
    if may_hold_classes(nodes, column):
        fix = f"if it is the class, say --label {nodes.named(column)}; else {fix}"
    raise GrandPlusError(
        "; ".join(cells) + more,
        where=f"{nodes.file}, column {nodes.named(column)}",
        expected=f"a number from {-LARGEST_FEATURE:g} to {LARGEST_FEATURE:g}",
        fix=fix,
    )


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else "empty" if value is None else str(value)


def _counts(piece: pa.Array) -> tuple[int, int]:
    """How many cells are like numbers, and how many hold anything."""
    if not is_text(piece.type):
        filled = len(piece) - piece.null_count
        return filled * _is_numeric(piece.type), filled
    texts = pc.utf8_trim_whitespace(decoded(piece).drop_null())
    texts = texts.filter(pc.invert(pc.is_in(texts, value_set=pa.array(MISSING, texts.type))))
    return int(pc.sum(like_numbers(texts)).as_py() or 0), len(texts)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text.

    Examples
    --------
    >>> is_text(pa.string()), is_text(pa.int8())
    (True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_numeric(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def decoded(piece: pa.Array) -> pa.Array:
    """A column in plain form, where it is held in a dictionary or as views.

    Examples
    --------
    >>> decoded(pa.array(["a", "a"]).dictionary_encode()).to_pylist()
    ['a', 'a']
    """
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    return piece.cast(pa.large_string()) if pa.types.is_string_view(piece.type) else piece
