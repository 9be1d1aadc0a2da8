"""Tables of text (CSV, TSV, whitespace) or Parquet, read in pieces, a few columns at a time.

Text is UTF-8. Its first line tells what separates fields: tabs, commas, semicolons or runs of spaces. Lines at the top
that begin with # or % are comments. Errors name the line.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column

PARQUET = ".parquet"
SAMPLE = 200  # lines from which a table's columns are guessed
MAX_LINE = 2**26  # bytes
BLOCK = 2**24  # bytes of text read at a time
ROWS = 2**16  # of Parquet, likewise


@dataclass(frozen=True)
class Table:
    """A table of which the first lines were read.

    Attributes
    ----------
    file : Path
    names : list of str or None
        Of the columns; None if there is no header.
    sample : list of lists of str
        The fields of the first lines below the header, as text; None for a list.
    width : int
        Number of columns.
    delimiter : str
        Empty for Parquet; a space stands for runs of spaces and tabs.
    head : int
        Lines above the first row: comments and the header.
    """

    file: Path
    names: list[str] | None
    sample: list[list[str | None]]
    width: int
    delimiter: str = ""
    head: int = 0

    def column(self, wanted: Column) -> int:
        """The number of a column, from 0.

        Parameters
        ----------
        wanted : str or int
            Its name, or its number from 1 if there is no header.

        Raises
        ------
        GrandPlusError
            There is no such column.
        """
        if isinstance(wanted, str) and self.names and self.names.count(wanted) == 1:
            return self.names.index(wanted)
        if isinstance(wanted, int) and not self.names and wanted <= self.width:
            return wanted - 1
        held = ", ".join(self.names) if self.names else f"no header, so columns 1 to {self.width}"
        found = f"has no column {wanted}" if self.names is None or wanted not in self.names else f"has {wanted} twice"
        raise GrandPlusError(found, where=self.file, expected=held)

    def named(self, column: int) -> Column:
        """What a card calls a column: its name, or its number from 1 if there is no header."""
        return self.names[column] if self.names else column + 1

    def values(self, column: int) -> list[str]:
        """The fields of a column in the first lines."""
        return [row[column] or "" for row in self.sample]

    def pieces(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        """Read columns piece by piece.

        Parameters
        ----------
        columns : sequence of int
            Their numbers, from 0.

        Yields
        ------
        list of pyarrow arrays
            A piece of each column: strings if the file is text, else the types of the file.

        Raises
        ------
        GrandPlusError
            The file is damaged, or a line has another number of fields; with the line.
        """
        try:
            if self.delimiter:
                yield from self._text(columns)
            else:
                with pq.ParquetFile(self.file) as opened:
                    wanted = [opened.schema_arrow.names[column] for column in columns]
                    for batch in opened.iter_batches(ROWS, columns=wanted):
                        yield [batch.column(name) for name in wanted]
        except (pa.ArrowException, OSError) as error:
            self._raise_unreadable(str(error))

    def line(self, row: int) -> str:
        """What to call a row in an error.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        str
            The number of the line in the file, if it is text.
        """
        if not self.delimiter:
            return f"row {row}"
        with self.file.open(encoding="latin1") as stream:  # it takes any bytes, in lines that end with LF, CR or both
            full = (number for number, text in enumerate(stream, start=1) if number > self.head and text.strip())
            number = next(itertools.islice(full, row, None), None)
        return f"row {row}" if number is None else f"line {number}"

    def _text(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        wrong: list[Any] = []

        def note(row: Any) -> str:
            wrong.append(row)
            return "error"

        names = [str(column) for column in range(self.width)]
        wanted = [names[column] for column in columns]
        spaced = self.delimiter == " "
        source: Any = _Spaced(self.file) if spaced else str(self.file)
        try:
            reader = pacsv.open_csv(
                source,
                # One thread: rows are then counted for errors.
                pacsv.ReadOptions(column_names=names, skip_rows=self.head, block_size=BLOCK, use_threads=False),
                pacsv.ParseOptions(
                    delimiter="\t" if spaced else self.delimiter,
                    quote_char=False if spaced else '"',
                    invalid_row_handler=note,
                ),
                pacsv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.string()), include_columns=wanted, strings_can_be_null=False
                ),
            )
            for batch in reader:
                yield [pc.utf8_trim_whitespace(batch.column(name)) for name in wanted]
        except pa.ArrowInvalid:
            if not wrong:
                raise
            found = f"line {wrong[0].number} has {wrong[0].actual_columns} fields: {wrong[0].text[:60]!r}"
            raise GrandPlusError(found, where=self.file, expected=f"{self.width}, as in the first line") from None

    def _raise_unreadable(self, message: str) -> NoReturn:
        if "UTF8" in message:
            with self.file.open("rb") as stream:
                for number, text in enumerate(stream, start=1):
                    try:
                        text.decode()
                    except UnicodeDecodeError:
                        raise GrandPlusError(f"line {number} is not UTF-8", where=self.file) from None
        raise GrandPlusError(f"is no readable table: {message}", where=self.file, fix="write it again") from None


def look(file: Path, *, header: bool | None = None) -> Table:
    """Read the first lines of a table.

    Parameters
    ----------
    file : Path
    header : bool, optional
        Whether there is a header; by default, ``has_header`` guesses. A Parquet file always has one.

    Returns
    -------
    Table

    Raises
    ------
    GrandPlusError
        It is no table, or has no line.
    """
    if file.suffix == PARQUET:
        return _look_at_parquet(file)
    try:
        with file.open("rb") as stream:
            above, lines = _first_lines(stream, file)
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    if not lines:
        raise GrandPlusError("holds no line of data", where=file, expected="a table")
    delimiter = next((mark for mark in "\t,;" if mark in lines[0]), " ")
    rows = [_fields(line, delimiter, file) for line in lines]
    if header is None:
        header = has_header(rows)
    names = _unlike(rows[0]) if header else None
    below: list[list[str | None]] = [list(row) for row in rows[1 if header else 0 :] if len(row) == len(rows[0])]
    return Table(file, names, below, len(rows[0]), delimiter, above + bool(header))


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: it has a known name, or text above a column of numbers.

    Parameters
    ----------
    rows : list of lists of str

    Returns
    -------
    bool

    Examples
    --------
    >>> has_header([["from", "to"], ["a", "b"]]), has_header([["x", "y"], ["1", "2"]]), has_header([["a", "b"]] * 2)
    (True, True, False)
    """
    first, *rest = rows
    if {name.lower() for name in first} & KNOWN:
        return True
    if len(set(first)) < len(first):
        return False
    columns = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    return any(not is_number(name) and all(map(is_number, below)) for name, below in zip(first, columns, strict=False))


ENDS = (  # usual names for the two ends of an edge in a header
    ("source", "target"), ("from", "to"), ("src", "dst"), ("from_id", "to_id"), ("fromnodeid", "tonodeid"),
    ("id_1", "id_2"), ("node_1", "node_2"), ("node1", "node2"), ("u", "v"), ("start", "end"), ("cited", "citing"),
    ("node_id", "node_id"),
)  # fmt: skip
IDS = ("new_id", "node_id", "nodeid", "node", "id", "name")
LABELS = ("label", "labels", "class", "y", "category", "community", "mature", "page_type", "ml_target", "target")
WEIGHTS = ("weight", "weights", "w", "value")
KNOWN = {*(name for pair in ENDS for name in pair), *IDS, *LABELS, *WEIGHTS} - {"w", "y", "u", "v"} | {"feature"}


def is_number(text: str | None) -> bool:
    """Whether a field is a number, or true or false.

    Examples
    --------
    >>> [text for text in ("1.5", "true", "x", "1_000", None) if is_number(text)]
    ['1.5', 'true']
    """
    if text is None or text.lower() in ("true", "false"):
        return text is not None
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python allows it in numbers


def _first_lines(stream: Any, file: Path) -> tuple[int, list[str]]:
    """The number of comments and empty lines at the top, and the lines below them that aren't empty."""
    above, lines = 0, list[str]()
    while len(lines) < SAMPLE:
        line = stream.readline(MAX_LINE)
        if not line:
            break
        if b"\0" in line or len(line) == MAX_LINE:
            raise GrandPlusError("is no text", where=file, expected="a table in UTF-8, or a name with .parquet")
        if not lines and (line[:1] in (b"#", b"%") or not line.strip()):
            above += 1
            continue
        try:
            text = line.decode("utf-8-sig" if not lines else "utf-8").strip(" \r\n")
        except UnicodeDecodeError:
            found = f"line {above + len(lines) + 1} is not UTF-8"
            raise GrandPlusError(found, where=file, expected="a table of UTF-8 text") from None
        if text.strip():
            lines.append(text)
    return above, lines


def _unlike(names: list[str]) -> list[str]:
    """Different names: a column without a name is called by its number, and a repeated name gets the number, too."""
    filled = [name or f"column {number}" for number, name in enumerate(names, start=1)]
    return [f"{name} ({number + 1})" if name in filled[:number] else name for number, name in enumerate(filled)]


def _fields(line: str, delimiter: str, file: Path) -> list[str]:
    if delimiter == " ":
        return line.split()
    csv.field_size_limit(MAX_LINE)
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter), [""])]
    except csv.Error as error:
        raise GrandPlusError(f"has a line that can't be split: {error}", where=file) from None


def _look_at_parquet(file: Path) -> Table:
    try:
        with pq.ParquetFile(file) as opened:
            names, metadata = list(opened.schema_arrow.names), opened.metadata
            size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            if size > environment.memory():
                expected = f"at most {environment.memory():,}, the memory at hand"
                raise GrandPlusError(f"declares {size:,} bytes", where=file, expected=expected)
            rows = next(opened.iter_batches(SAMPLE), None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise GrandPlusError(f"is no readable Parquet file: {error}", where=file, fix="fetch it again") from None
    if rows is None or not names:
        raise GrandPlusError("holds no row", where=file, expected="a table")
    columns = [
        [None if isinstance(value, list | dict) else str(value) for value in column.to_pylist()]
        for column in rows.columns
    ]
    return Table(file, names, [list(row) for row in zip(*columns, strict=True)], len(names))


class _Spaced(io.RawIOBase):
    """A text file in which each run of spaces and tabs is read as one tab."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("rb")
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            lines = self._stream.read(BLOCK) + self._stream.readline(MAX_LINE)
            self._waiting = re.sub(rb"(?m)^\t|\t(?=\r?$)", b"", re.sub(rb"[ \t\f\v]+", b"\t", lines))
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size
