"""Tables of text (CSV, TSV, whitespace) or Parquet, read in pieces, a few columns at a time.

Text is UTF-8 or, as Excel writes it, UTF-16, and may be compressed. Tabs, semicolons, commas, bars or runs of spaces
separate fields, whichever splits all of the first lines alike. Lines at the top that begin with # or % are comments
(`grandplus.datasets.tables.roles` finds those that are data), and so are further such lines of another width than the
data. Errors name the line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from grandplus.datasets.tables.lines import MARKS, fields_of, lines_of
from grandplus.datasets.tables.names import counts
from grandplus.datasets.tables.numbers import are_dates, is_number
from grandplus.datasets.tables.parquet import pieces_of
from grandplus.datasets.tables.quotes import BLOCK, Quoted
from grandplus.datasets.tables.text import open_text, raise_no_utf8
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress, Silent
from grandplus.runtime.validation import Column, did_you_mean

_NEAR_TOP = 20  # lines
_SHOWN = 60  # characters of a line that isn't data
_WITH_BAR = 2**26  # bytes; a smaller file is read within a second or two


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
    rulers, footers : list of str
        Lines around the data that a program printed for readers; footers are known after a reading of all pieces.
    left_out : list of int
        Rows that hold nothing to be read, ascending from 0; ``line`` counts the others.
    skipped : dict of int
        How many lines are no data, by the reason; complete after a reading of all pieces.
    by_line : bool
        Whether line i is node i, so that an empty line is a node without a label, and none may be skipped.
    header : list of str
        The fields of the header as they are in the file, where ``names`` has one for each column; of text.
    """

    file: Path
    names: list[str] | None
    sample: list[list[str | None]]
    width: int
    delimiter: str = ""
    head: int = 0
    index: tuple[int, ...] = ()
    comments: dict[int, str] = field(default_factory=dict)
    rulers: list[str] = field(default_factory=list)
    footers: list[str] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    by_line: bool = False
    header: list[str] = field(default_factory=list)

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
        raise GrandPlusError(found, where=self.file, expected=held, fix=did_you_mean(wanted, self.names or []))

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
        return fields_of(line, self.delimiter, self.file)

    def skipped_lines(self) -> dict[str, int]:
        """How many lines are no data, by what they are; the first one of a kind is shown."""
        comments = self.skipped.get("comments", len(self.comments))
        shown = next((f" like {text[:_SHOWN]!r}" for text in self.comments.values()), "")
        lines = {f"comments{shown}": comments} if comments else {}
        if self.header:
            lines[f"header {self.delimiter.join(self.header)[:_SHOWN]!r}"] = 1
        printed = [*self.rulers, *self.footers]
        if printed:
            lines[f"rulers and footers like {printed[-1][:_SHOWN]!r}"] = len(printed)
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
                yield from pieces_of(self.file, columns)
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
        for gap in self.left_out:
            row += gap <= row
        if not self.delimiter:
            return f"row {row}"
        left = row
        with open_text(self.file) as stream:
            for number, text in enumerate(lines_of(stream), start=1):
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
                with self._progress() as bar:
                    for batch in reader:
                        yield [pc.utf8_trim_whitespace(batch.column(name)) for name in wanted]
                        bar.update(len(batch))
        except pa.ArrowInvalid:
            if not wrong:
                raise
            found = f"line {wrong[0].number} has {wrong[0].actual_columns} fields: {wrong[0].text[:_SHOWN]!r}"
            expected = f"{self.width}, as in the first line"
            fix = "take out what is no line of the table, as a title above it" if wrong[0].number < _NEAR_TOP else ""
            raise GrandPlusError(found, where=self.file, expected=expected, fix=fix) from None
        self.footers[:] = source.footers
        counts = {"comments": comments, "empty": source.empty}
        self.skipped.update({what: count for what, count in counts.items() if count})

    def _progress(self) -> Progress | Silent:
        if self.file.stat().st_size < _WITH_BAR:
            return Silent()
        return Progress(f"reading {self.file.name}", None, "line", scaled=True)

    def _raise_unreadable(self, message: str) -> NoReturn:
        if "UTF8" in message:
            with open_text(self.file) as stream:
                for number, text in enumerate(lines_of(stream), start=1):
                    try:
                        text.encode("latin1").decode()
                    except UnicodeDecodeError:
                        raise_no_utf8(text.encode("latin1"), number, self.file)
        raise GrandPlusError(f"is no readable table: {message}", where=self.file, fix="write it again") from None


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
    if column in table.index or counts(values):
        return " (an index)"
    if any(map(is_number, values)):
        return ""
    return " (dates)" if are_dates(values) else " (text)"
