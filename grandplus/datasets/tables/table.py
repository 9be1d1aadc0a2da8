"""Tables of text (CSV, TSV, whitespace) or Parquet, read in pieces, a few columns at a time.

Text is UTF-8 or, as Excel writes it, UTF-16, and may be compressed. Tabs, semicolons, commas, bars or runs of spaces
separate fields, whichever splits all of the first lines alike. Lines at the top that begin with # or % are comments
(`grandplus.datasets.tables.roles` finds those that are data), and so are further such lines of another width than the
data. Errors name the line.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from grandplus.datasets.tables.names import HEADS, holds_index
from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.quotes import BLOCK, DOS_END, Quoted, literal, tabbed
from grandplus.datasets.tables.text import open_text
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column

PARQUET = ".parquet"
SAMPLE = 200  # lines from which a table's columns are guessed
MAX_LINE = 2**26  # bytes
ROWS = 2**16  # of Parquet, likewise
MARKS = ("#", "%")  # of comments
_SHOWN = 60  # characters of a line that isn't data
_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)  # the first line of some files for Excel


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
        Lines above the first row: comments, empty lines and the header.
    index : tuple of int
        Columns that pandas or R wrote as an index beside the others.
    comments : dict of str
        The comments at the top, by the number of the line.
    skipped : dict of int
        How many lines are no data, by the reason; complete after a reading of all pieces.
    by_line : bool
        Whether line i is node i, so that an empty line is a node without a label, and none may be skipped.
    """

    file: Path
    names: list[str] | None
    sample: list[list[str | None]]
    width: int
    delimiter: str = ""
    head: int = 0
    index: tuple[int, ...] = ()
    comments: dict[int, str] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    by_line: bool = False

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

    def is_empty(self, column: int) -> bool:
        """Whether the first lines have nothing in a column."""
        return bool(self.sample) and all(row[column] == "" for row in self.sample)

    def fields(self, line: str) -> list[str]:
        """The fields of a line of this table."""
        return _fields(line, self.delimiter, self.file)

    def skipped_lines(self) -> dict[str, int]:
        """How many lines are no data, by what they are; the first one of a kind is shown."""
        comments = self.skipped.get("comments", len(self.comments))
        shown = next((f" like {text[:_SHOWN]!r}" for text in self.comments.values()), "")
        lines = {f"comments{shown}": comments} if comments else {}
        if self.delimiter and self.names:
            mark = " " if self.delimiter == " " else self.delimiter
            lines[f"header {mark.join(self.names)[:_SHOWN]!r}"] = 1
        empty = self.skipped.get("empty", 0)
        return lines | ({"lines of empty cells at the end": empty} if empty else {})

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
        left = row
        with open_text(self.file) as stream:
            for number, text in enumerate(_lines(stream), start=1):
                if number > self.head and (text.strip() or self.by_line):
                    left -= not self._may_be_comment(text) or len(self.fields(text.strip(" \n"))) == self.width
                if left < 0:
                    return f"line {number}"
        return f"row {row}"

    def _may_be_comment(self, text: str) -> bool:
        """Whether a line that has another width than the data is one."""
        data = self.by_line or any((row[0] or "").startswith(MARKS) for row in self.sample)
        return text.lstrip().startswith(MARKS) and not data

    def _text(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        wrong: list[Any] = []
        comments = len(self.comments)

        def note(row: Any) -> str:
            nonlocal comments
            if (not row.text.strip() and not self.by_line) or self._may_be_comment(row.text):
                comments += bool(row.text.strip())
                return "skip"
            wrong.append(row)
            return "error"

        names = [str(column) for column in range(self.width)]
        wanted = [names[column] for column in columns]
        try:
            with open_text(self.file) as stream:
                source = Quoted(stream, self.file, self.delimiter, self.width, self.head, by_line=self.by_line)
                reader = pacsv.open_csv(
                    source,
                    # One thread: rows are then counted for errors.
                    pacsv.ReadOptions(column_names=names, skip_rows=self.head, block_size=BLOCK, use_threads=False),
                    pacsv.ParseOptions(
                        delimiter="\t" if self.delimiter == " " else self.delimiter,
                        ignore_empty_lines=not self.by_line,
                        invalid_row_handler=note,
                    ),
                    pacsv.ConvertOptions(
                        column_types=dict.fromkeys(wanted, pa.string()),
                        include_columns=wanted,
                        strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    yield [pc.utf8_trim_whitespace(batch.column(name)) for name in wanted]
        except pa.ArrowInvalid:
            if not wrong:
                raise
            found = f"line {wrong[0].number} has {wrong[0].actual_columns} fields: {wrong[0].text[:60]!r}"
            raise GrandPlusError(found, where=self.file, expected=f"{self.width}, as in the first line") from None
        counts = {"comments": comments, "empty": source.empty}
        self.skipped.update({what: count for what, count in counts.items() if count})

    def _raise_unreadable(self, message: str) -> NoReturn:
        if "UTF8" in message:
            with open_text(self.file) as stream:
                for number, text in enumerate(_lines(stream), start=1):
                    try:
                        text.encode("latin1").decode()
                    except UnicodeDecodeError:
                        raise GrandPlusError(f"line {number} is not UTF-8", where=self.file) from None
        raise GrandPlusError(f"is no readable table: {message}", where=self.file, fix="write it again") from None


def look(file: Path, *, header: bool | None = None, skip: int | None = None, by_line: bool = False) -> Table:
    """Read the first lines of a table.

    Parameters
    ----------
    file : Path
    header : bool, optional
        Whether there is a header; by default, ``has_header`` guesses. A Parquet file always has one.
    skip : int, optional
        Lines above the header or first row; by default, those at the top that begin with # or %, unless all do.
    by_line : bool
        Whether line i, below the header and comments at the top, is node i.

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
    with open_text(file) as stream:
        top = _first_lines(stream, file, skip)
    if by_line and header is False:
        top.above = len(top.comments)
    if not top.lines:
        raise GrandPlusError("holds no line of data", where=file, expected="a table")
    delimiter = top.delimiter or delimiter_of(top.lines)
    rows = [_fields(line, delimiter, file) for line in top.lines]
    if header is None:
        header = has_header(rows)
    names = _unlike(rows[0]) if header else None
    below: list[list[str | None]] = [list(row) for row in rows[1 if header else 0 :] if len(row) == len(rows[0])]
    columns = enumerate(rows[0]) if header else ()
    index = tuple(c for c, name in columns if holds_index(name, c, [row[c] or "" for row in below]))
    head = top.above + bool(header)
    return Table(file, names, below, len(rows[0]), delimiter, head, index, top.comments, by_line=by_line)


def unused_columns(table: Table, used: Collection[int]) -> list[str]:
    """The columns that are not used, each with the file's name and, where it is known, the reason.

    Parameters
    ----------
    table : Table
    used : collection of int

    Returns
    -------
    list of str
    """
    return [
        f"{table.file.name}: {_title(table, column)}{_reason(table, column)}"
        for column in range(table.width)
        if column not in used
    ]


def _title(table: Table, column: int) -> str:
    return table.names[column] if table.names else f"column {column + 1}"


def _reason(table: Table, column: int) -> str:
    values = table.values(column)
    if table.is_empty(column):
        return " (empty)"
    if column in table.index:
        return " (an index)"
    return "" if any(map(is_number, values)) else " (text)"


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
    if {name.lower() for name in first} & HEADS:
        return True
    if len(set(first)) < len(first):
        return False
    columns = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    return any(not is_number(name) and all(map(is_number, below)) for name, below in zip(first, columns, strict=False))


def delimiter_of(lines: list[str]) -> str:
    """What separates the fields of lines: the mark that splits all of them alike, else one that is in the first line.

    Parameters
    ----------
    lines : list of str
        Those that begin with # or % may be comments.

    Returns
    -------
    str
        A space stands for runs of spaces and tabs.

    Examples
    --------
    >>> delimiter_of(["0;a;0,5", "1;b;1,5"]), delimiter_of(["0,a;b", "1,c;d"]), delimiter_of(["0 1", "1 2"])
    (';', ',', ' ')
    """
    sure = [line for line in lines if not line.startswith(MARKS)] or lines
    alike = [mark for mark in "\t;,|" if mark in sure[0] and len({len(_split(line, mark)) for line in sure}) == 1]
    if alike[:2] == [";", ","] and not all(_commas_are_decimal(line) for line in sure):
        return ","
    return next(iter(alike), None) or next((mark for mark in "\t,;" if mark in sure[0]), " ")


def _commas_are_decimal(line: str) -> bool:
    return all("," not in text or is_number(text.strip()) for text in _split(line, ";"))


@dataclass
class _Top:
    """The first lines of a file: how many are above the data, which of them are comments, and those below."""

    above: int = 0
    comments: dict[int, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    delimiter: str | None = None


def _first_lines(stream: Any, file: Path, skip: int | None) -> _Top:
    top, number = _Top(), 0
    for number, line in enumerate(_lines(stream), start=1):
        if "\0" in line or len(line) >= MAX_LINE:
            raise GrandPlusError("is no text", where=file, expected="a table in UTF-8, or a name with .parquet")
        try:
            text = line.encode("latin1").decode().strip(" \n")
        except UnicodeDecodeError:
            found = f"line {number} is not UTF-8"
            raise GrandPlusError(found, where=file, expected="a table of UTF-8 text") from None
        text = text.rstrip(DOS_END.decode())
        separator = _SEPARATOR.fullmatch(text) if number == 1 else None
        if separator:
            top.delimiter = separator[1]
        if separator or (number <= skip if skip is not None else not top.lines and _is_no_data(text)):
            top.above += 1
            top.comments |= {number: text} if text else {}
        elif text.strip():
            top.lines.append(text)
        elif not top.lines:
            top.above += 1
        if len(top.lines) == SAMPLE:
            break
    if skip is None and not top.lines and len(top.comments) > 1 and not top.delimiter:  # all are alike, so all are data
        return _marked_data(top)
    return top


def _marked_data(top: _Top) -> _Top:
    """Lines that all begin with # or %: a space after it makes the first ones comments."""
    texts = dict(top.comments)
    comments = dict(itertools.takewhile(lambda item: re.match(r"[#%]+(\s|$)", item[1]), texts.items()))
    lines = [text for number, text in texts.items() if number not in comments]
    return _Top(min(texts.keys() - comments.keys(), default=1) - 1, comments, lines)


def _is_no_data(text: str) -> bool:
    return not text.strip() or text.startswith(MARKS)


def _lines(stream: Any) -> Iterator[str]:
    """Lines that end with LF, CR or both, as Latin-1, which takes any bytes; without the mark that begins UTF-8."""
    text = io.TextIOWrapper(stream, encoding="latin1", newline=None)
    line = text.readline(MAX_LINE).removeprefix(codecs.BOM_UTF8.decode("latin1"))
    while line:
        yield line
        line = text.readline(MAX_LINE)


def _unlike(names: list[str]) -> list[str]:
    """Different names: a column without a name is called by its number, and a repeated name gets the number, too."""
    filled = [name or f"column {number}" for number, name in enumerate(names, start=1)]
    return [f"{name} ({number + 1})" if name in filled[:number] else name for number, name in enumerate(filled)]


def _fields(line: str, delimiter: str, file: Path) -> list[str]:
    try:
        return _split(line, delimiter)
    except csv.Error as error:
        raise GrandPlusError(f"has a line that can't be split: {error}", where=file) from None


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line and delimiter == " ":
        return line.split()
    if '"' in line and delimiter in (" ", "\t"):
        text = line.encode()
        line, delimiter = literal(tabbed(text) if delimiter == " " else text, b"\t").decode(), "\t"
    csv.field_size_limit(MAX_LINE)
    cells = csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter != "\t")
    return [part.strip() for part in next(cells, [""])]


def _look_at_parquet(file: Path) -> Table:
    try:
        with pq.ParquetFile(file) as opened:
            names, metadata = list(opened.schema_arrow.names), opened.metadata
            size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            if size > environment.memory():
                expected = f"at most {environment.memory():,}, the memory at hand"
                raise GrandPlusError(f"declares {size:,} bytes", where=file, expected=expected)
            rows = next(opened.iter_batches(SAMPLE), None)
            indexes = _pandas_indexes(opened.schema_arrow.metadata)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise GrandPlusError(f"is no readable Parquet file: {error}", where=file, fix="fetch it again") from None
    if rows is None or not names:
        raise GrandPlusError("holds no row", where=file, expected="a table")
    columns = [
        [None if isinstance(value, list | dict) else str(value) for value in column.to_pylist()]
        for column in rows.columns
    ]
    index = tuple(
        c for c, name in enumerate(names) if name in indexes or holds_index(name, c, [v or "" for v in columns[c]])
    )
    return Table(file, names, [list(row) for row in zip(*columns, strict=True)], len(names), index=index)


def _pandas_indexes(metadata: dict[bytes, bytes] | None) -> set[str]:
    """The columns that pandas wrote as the index of a DataFrame."""
    try:
        said = json.loads((metadata or {}).get(b"pandas", b"{}"))
        return {name for name in said.get("index_columns", []) if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()
