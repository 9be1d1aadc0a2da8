"""Lines of a table of text, and the fields of a line."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grandplus.datasets.tables.numbers import is_number
from grandplus.datasets.tables.quotes import literal, tabbed
from grandplus.runtime.errors import GrandPlusError

MAX_LINE = 2**26  # bytes
MARKS = ("#", "%")  # of comments


def lines_of(stream: Any) -> Iterator[str]:
    """Lines that end with LF, CR or both, as Latin-1, which takes any bytes; without the mark that begins UTF-8.

    Parameters
    ----------
    stream : binary stream

    Yields
    ------
    str
    """
    text = io.TextIOWrapper(stream, encoding="latin1", newline=None)
    line = text.readline(MAX_LINE).removeprefix(codecs.BOM_UTF8.decode("latin1"))
    while line:
        yield line
        line = text.readline(MAX_LINE)


def fields_of(line: str, delimiter: str, file: Path) -> list[str]:
    """The fields of a line, without white space around them.

    Parameters
    ----------
    line : str
    delimiter : str
        A space stands for runs of spaces and tabs.
    file : Path
        For errors.

    Returns
    -------
    list of str

    Raises
    ------
    GrandPlusError
        A field is too long.
    """
    try:
        return _split(line, delimiter)
    except csv.Error as error:
        raise GrandPlusError(f"has a line that can't be split: {error}", where=file) from None


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
    marks = _marks_of(sure)
    widths = {len(line.split()) for line in sure}
    if not marks and (len(widths) > 1 or widths == {1}):
        marks = _marks_of(sure[1:])  # the first line may be a title, or a header that lacks a name
    return next(iter(marks), None) or next((mark for mark in "\t,;" if mark in sure[0]), " ")


def _marks_of(lines: list[str]) -> list[str]:
    """The marks that split all lines alike, the likeliest first."""
    alike = [mark for mark in "\t;,|" if lines and mark in lines[0] and len({len(_split(x, mark)) for x in lines}) == 1]
    if alike[:2] == [";", ","] and not all(_commas_are_decimal(line) for line in lines):
        return [","]
    return alike


def _commas_are_decimal(line: str) -> bool:
    return all("," not in text or is_number(text.strip()) for text in _split(line, ";"))


def _split(line: str, delimiter: str) -> list[str]:
    if '"' not in line and delimiter == " ":
        return line.split()
    if '"' in line and delimiter in (" ", "\t"):
        text = line.encode()
        line, delimiter = literal(tabbed(text) if delimiter == " " else text, b"\t").decode(), "\t"
    csv.field_size_limit(MAX_LINE)
    cells = csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter != "\t")
    return [part.strip() for part in next(cells, [""])]
