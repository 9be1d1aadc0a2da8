"""What an edge table and a node table say of each other: which columns hold ids, and which lines are data.

Of the edge table, the first piece is looked at: 16 MiB of text, or 65,536 rows of Parquet. Of the node table, columns
whose first values all differ are read whole. So a large edge list is not read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.tables.ends import NO_IDS
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.names import ends_by_name, holds_index, is_id
from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.spellings import spelled_out, whole_numbers, whole_text
from grandplus.datasets.tables.table import Table

MAX_COLUMNS = 50  # of a table that are looked at as ends or ids
SHOWN = 60  # characters of a line in an error


class Side:
    """One of the two tables, and what its values are.

    Parameters
    ----------
    file : Path
    header : bool or None
        Whether there is a header, if the user says so.
    whole : bool
        Whether columns are read whole, and only those whose first values differ.

    Attributes
    ----------
    table : Table
        Read without a header.
    first : list of str or None
        The first line; None for Parquet, whose columns always have names.
    names : list of str
        What the columns are called if there is a header.
    below : list of lists of str
        The first lines below the first one.
    values : dict of pyarrow arrays
        The distinct values of columns below the first line, as text.
    repeats : set of int
        The columns in which a value comes twice.
    rows : int or None
        Lines below the first one, if all were read.
    """

    def __init__(self, file: Path, *, header: bool | None, whole: bool) -> None:
        self.header, self.whole = header, whole
        self.skip: int | None = None
        self.whole_floats = True
        self.table = look(file, header=False)
        self._read()

    def _read(self) -> None:
        table = self.table
        self.first = None if table.names else [text or "" for text in table.sample[0]]
        self.names = table.names or self.first or []
        self.below = [list(row) for row in (table.sample if self.first is None else table.sample[1:])]
        columns = range(min(table.width, MAX_COLUMNS))
        self.columns = [c for c in columns if not self.whole or self._differ(c)] or [0]
        self.values: dict[int, pa.Array] = {}  # distinct ones, as text, without the first line
        self.repeats: set[int] = set()
        self.written: dict[int, pa.Array] = {}  # as written, of columns of whole numbers that are written as floats
        self.rows: int | None = None  # below the first line, if all were read
        self._named = {column for pair in ends_by_name(self.names) for column in pair}
        self._named |= {column for column, name in enumerate(self.names) if is_id(name)}
        self._plain = self._plain_columns()
        self._read_values(self.columns)

    def _differ(self, column: int) -> bool:
        values = [row[column] for row in self.below]
        return None not in values and "" not in values and len(set(values)) == len(values)

    def _read_values(self, columns: Sequence[int]) -> None:
        reading = self.table.pieces(columns)
        pieces = list(reading) if self.whole else [piece for piece in [next(reading, None)] if piece]
        more = next(reading, None) is not None
        for position, column in enumerate(columns):
            read = [_as_text(piece[position]) for piece in pieces]
            every = pa.chunked_array(read, pa.large_string()).slice(0 if self.first is None else 1)
            self.rows = None if more else len(every)
            if not self.whole:  # lines without a node at an end are no edges
                every = every.filter(pc.invert(pc.is_in(every, value_set=pa.array(NO_IDS, pa.large_string()))))
            if self.whole_floats and self._may_be_whole(column):
                self._plain.add(column)
                written, every = every, spelled_out(whole_numbers(every).cast(pa.large_string()))
                if every is not written and not every.equals(written):
                    self.written[column] = pc.unique(written)
                for row in self.below:
                    row[column] = whole_text(row[column] or "")
                if self.first is not None:
                    self.first[column] = whole_text(self.first[column])
            self.values[column] = pc.unique(every.filter(pc.not_equal(every, "")))
            if len(self.values[column]) < len(every):
                self.repeats.add(column)

    def _may_be_whole(self, column: int) -> bool:
        """Whether floats of a column, if all are whole, may be ids: it has such a name, or no others are."""
        if column in self._named or (self._named and self.whole):
            return column in self._named
        return len(self._plain) < (1 if self.whole else 2)

    def _plain_columns(self) -> set[int]:
        """Columns of whole numbers, and of text in an edge table, by their first values."""
        texts = {column: self.filled(column)[:SHOWN] for column in range(self.table.width)}
        return {
            c for c, text in texts.items() if all(map(is_whole, text)) or not (self.whole or all(map(is_number, text)))
        }

    def doubtful(self) -> dict[int, list[str]]:
        """The lines above the data that begin as comments do, but are as wide as the data; by their number."""
        lines = {number: self.table.fields(text) for number, text in self.table.comments.items()}
        return {n: texts for n, texts in lines.items() if len(texts) == self.table.width and texts[0].strip("#% ")}

    def take_from(self, line: int) -> None:
        """Read the table again, with the lines from this one on as data."""
        self.skip = line - 1
        self.table = look(self.table.file, header=False, skip=self.skip)
        self._read()

    def read_as_written(self) -> None:
        """Read the values again, with floats as they are written, since the other table has ids of text."""
        self.whole_floats = False
        self._read()

    def need(self, columns: Sequence[int]) -> None:
        """Have the values of columns, though their first ones don't differ."""
        new = [column for column in columns if column not in self.columns]
        if new:
            self.columns += new
            self._read_values(new)

    def filled(self, column: int) -> list[str]:
        """The first values of a column; of an edge table, without those that are no ids."""
        values = [row[column] or "" for row in self.below]
        return values if self.whole else [value for value in values if value not in NO_IDS]

    def has_numbers(self, column: int) -> bool:
        """Whether a column has whole numbers only, in the first lines."""
        return all(is_whole(row[column] or "") for row in self.below)

    def is_index(self, column: int) -> bool:
        """Whether a column is an index that a program wrote, or is empty."""
        values = [row[column] or "" for row in self.below]
        named = self.first is not None and self.header is not False
        if column in self.table.index or (named and holds_index(self.names[column], column, values)):
            return True
        return bool(self.below) and not any(values)

    def read(self) -> Table:
        """The table with a header, or without, as is known by now."""
        return look(self.table.file, header=bool(self.header), skip=self.skip)

    def line(self) -> str:
        """The first line, for an error."""
        return repr(" ".join(self.first or [])[:SHOWN])


@dataclass(frozen=True)
class Overlap:
    """How many of the distinct values of an edge table's columns are in a column of the node table.

    Attributes
    ----------
    shares : dict of float
        By the number of the edge table's column.
    """

    shares: dict[int, float]

    def of(self, pair: Sequence[int]) -> float:
        """The share of the one of two columns that has the lesser one.

        Parameters
        ----------
        pair : pair of int

        Returns
        -------
        float
        """
        return min(self.shares.get(column, 0.0) for column in pair)


def overlap(edges: Side, nodes: Side, column: int) -> Overlap:
    """How far the columns of the edge table hold ids of a column of the node table.

    Parameters
    ----------
    edges, nodes : Side
    column : int
        Of the node table. Its first line counts, unless it is known to be a header.

    Returns
    -------
    Overlap
    """
    first = nodes.first[column : column + 1] if nodes.first and nodes.header is not True else []
    known = pa.concat_arrays([nodes.values[column], pa.array(first, pa.large_string())])
    shares = {
        end: float(np.mean(contains(known, values))) if len(values) else 0.0 for end, values in edges.values.items()
    }
    return Overlap(shares)


def has(known: pa.Array | pa.ChunkedArray, text: str) -> bool:
    """Whether a text is one of some ids."""
    return bool(pc.any(pc.equal(known, text)).as_py())


def contains(known: pa.Array | pa.ChunkedArray, wanted: Iterable[str] | pa.Array) -> NDArray[np.bool_]:
    """Which of the wanted texts are known ids."""
    if not isinstance(wanted, pa.Array):
        wanted = pa.array(list(wanted), pa.large_string())
    return np.asarray(pc.is_in(wanted, value_set=known).to_numpy(zero_copy_only=False), bool)


def _as_text(piece: pa.Array) -> pa.Array:
    """Values as ids are compared; null where they can't be ids."""
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type) or pa.types.is_integer(piece.type):
        return piece.cast(pa.large_string())
    if pa.types.is_floating(piece.type):
        numbers = whole_numbers(piece)
        return (
            numbers.cast(pa.large_string())
            if pa.types.is_int64(numbers.type)
            else pa.nulls(len(piece), pa.large_string())
        )
    return pa.nulls(len(piece), pa.large_string())


def is_whole(text: str) -> bool:
    """Whether a text is a whole number, as ids are written.

    Examples
    --------
    >>> [text for text in ("7", "-1", "1.0", "x") if is_whole(text)]
    ['7', '-1']
    """
    return text.removeprefix("-").isdecimal()
