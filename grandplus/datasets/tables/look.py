"""The first lines of a table, which tell what separates its fields and what its columns are called."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grandplus.datasets.tables.furniture import completed_header, is_footer, is_ruler, lines_of_titles
from grandplus.datasets.tables.lines import MARKS, MAX_LINE, delimiter_of, fields_of, lines_of
from grandplus.datasets.tables.names import HEADS, holds_index
from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.parquet import first_rows, is_parquet
from grandplus.datasets.tables.quotes import DOS_END
from grandplus.datasets.tables.table import Table
from grandplus.datasets.tables.text import open_text, raise_no_utf8
from grandplus.runtime.errors import GrandPlusError

SAMPLE = 200  # lines from which a table's columns are guessed
_MATRIX_MARKET = "%%MatrixMarket"
_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)  # the first line of some files for Excel


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
    if is_parquet(file):
        return _look_at_parquet(file)
    with open_text(file) as stream:
        top = _first_lines(stream, file, skip)
    if by_line and header is False:
        top.above = len(top.comments)
    if not top.lines:
        raise GrandPlusError("holds no line of data", where=file, expected="a table")
    delimiter = top.delimiter or delimiter_of(top.lines)
    if not by_line:
        top.leave_titles(delimiter, file)
    rows = [fields_of(line, delimiter, file) for line in top.lines]
    first = rows[0]
    narrow = len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) + 1}
    if narrow:
        rows[0] = completed_header(top.lines, rows, file)
    if narrow or top.ruled:
        header = True
    if header is None:
        header = has_header(rows)
    names = _unlike(rows[0]) if header else None
    below: list[list[str | None]] = [list(row) for row in rows[1 if header else 0 :] if len(row) == len(rows[0])]
    columns = enumerate(rows[0]) if header else ()
    index = tuple(c for c, name in columns if holds_index(name, c, [row[c] or "" for row in below]))
    head = top.above + bool(header) + top.ruled
    table = Table(file, names, below, len(rows[0]), delimiter, head, index, top.comments, top.rulers)
    return replace(table, by_line=by_line, header=first if header else [])


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


@dataclass
class _Top:
    """The first lines of a file: how many are above the data, which of them are comments, and those below.

    A header is ruled if a ruler is the next line.
    """

    above: int = 0
    ruled: bool = False
    rulers: list[str] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the lines, in the file
    delimiter: str | None = None

    def leave_titles(self, delimiter: str, file: Path) -> None:
        """Take lines above the table, of which a line of empty cells parts them, for comments."""
        titles = lines_of_titles([fields_of(line, delimiter, file) for line in self.lines], self.numbers)
        if titles:
            self.comments |= dict(zip(self.numbers[:titles], self.lines[:titles], strict=True))
            self.above = self.numbers[titles] - 1
            self.lines, self.numbers = self.lines[titles:], self.numbers[titles:]


def _first_lines(stream: Any, file: Path, skip: int | None) -> _Top:
    top, number = _Top(), 0
    for number, line in enumerate(lines_of(stream), start=1):
        if "\0" in line or len(line) >= MAX_LINE:
            raise GrandPlusError("is no text", where=file, expected="a table in UTF-8, or of Parquet")
        try:
            text = line.encode("latin1").decode().strip(" \n")
        except UnicodeDecodeError:
            raise_no_utf8(line.encode("latin1"), number, file)
        text = text.rstrip(DOS_END.decode())
        if text.startswith(_MATRIX_MARKET):
            raise GrandPlusError("is a matrix of MatrixMarket", where=file, fix="give it a name that ends with .mtx")
        separator = _SEPARATOR.fullmatch(text) if number == 1 else None
        if separator:
            top.delimiter = separator[1]
        if separator or (number <= skip if skip is not None else not top.lines and _is_no_data(text)):
            top.above += 1
            top.comments |= {number: text} if text else {}
        elif is_ruler(text) and len(top.lines) < 2 and not top.ruled:
            top.rulers.append(text)
            top.above += not top.lines
            top.ruled = bool(top.lines)
        elif text.strip() and not is_footer(text):
            top.lines.append(text)
            top.numbers.append(number)
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
    numbers = sorted(texts.keys() - comments.keys())
    return _Top(min(numbers, default=1) - 1, comments=comments, lines=lines, numbers=numbers)


def _is_no_data(text: str) -> bool:
    return not text.strip() or text.startswith(MARKS)


def _unlike(names: list[str]) -> list[str]:
    """Different names: a column without a name is called by its number, and a repeated name gets the number, too."""
    filled = [name or f"column {number}" for number, name in enumerate(names, start=1)]
    return [f"{name} ({number + 1})" if name in filled[:number] else name for number, name in enumerate(filled)]


def _look_at_parquet(file: Path) -> Table:
    (names, indexes, _), rows = first_rows(file, SAMPLE)
    index = tuple(
        c for c, name in enumerate(names) if name in indexes or holds_index(name, c, [row[c] or "" for row in rows])
    )
    return Table(file, names, rows, len(names), index=index)
