"""Quotation marks in tables of text: which of them enclose a cell, and which are part of it.

A cell that begins with a quotation mark and ends with another one on its line is quoted. One that no other mark ends on
its line may be a cell with a line break, or a text that begins with a quotation mark, as titles do. A parser of CSV
takes it for the former, and the lines below for part of it. Here such a mark is part of the text where tabs or spaces
separate cells, if its line and the next one are complete. Else the cell must end properly and must not hold complete
lines; if it does, it is refused with the line.
"""

from __future__ import annotations

import codecs
import itertools
import re
from pathlib import Path
from typing import Any

from grandplus.datasets.tables.furniture import is_footer
from grandplus.datasets.tables.text import Stream
from grandplus.runtime.errors import GrandPlusError

BLOCK = 2**24  # bytes of text read at a time
MAX_CELL = 2**26  # bytes
DOS_END = b"\x1a"
_SHOWN = 60  # characters of a line in an error
_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*"')
_END = re.compile(rb"\r\n?|\n")
_LINE = re.compile(rb"[^\r\n]+")
_SPACES = re.compile(rb'(?<![^ \t\f\v\r\n])"[^"\r\n]*(?:""[^"\r\n]*)*"(?![^ \t\f\v\r\n])|[ \t\f\v]+')


def tabbed(text: bytes) -> bytes:
    """Lines in which each run of spaces and tabs is one tab, but for those in quoted cells.

    Examples
    --------
    >>> tabbed(b'1  "a b" 2 '), tabbed(b' 1 "a b')
    (b'1\\t"a b"\\t2', b'1\\t"a\\tb')
    """
    text = re.sub(rb"\r\n?", b"\n", text)
    if b'"' in text:
        text = _SPACES.sub(lambda run: run[0] if run[0].startswith(b'"') else b"\t", text)
    else:
        text = re.sub(rb"[ \t\f\v]+", b"\t", text)
    return re.sub(rb"(?m)^\t|\t$", b"", text)


def literal(line: bytes, mark: bytes) -> bytes:
    """A line in which quotation marks that don't enclose a cell are written as part of it.

    Parameters
    ----------
    line : bytes
    mark : bytes
        What separates cells.

    Examples
    --------
    >>> print(literal(b'"a"|"b|c', b"|").decode())
    "a"|\"""b"|c
    """
    _, start = _cells(line, mark)
    while start is not None:
        stop = line.find(mark, start)
        stop = len(line) if stop < 0 else stop
        line = line[:start] + b'"' + line[start:stop].replace(b'"', b'""') + b'"' + line[stop:]
        _, start = _cells(line, mark)
    return line


class Quoted(Stream):
    """Lines of a table, of which a parser of CSV takes quotation marks as they are meant.

    Lines at the end that hold nothing but what separates cells, as spreadsheets write them, are left out, and so is the
    mark that ends files of DOS.

    Parameters
    ----------
    stream : binary stream
    file : Path
    delimiter : str
        A space stands for runs of spaces and tabs, of which each becomes a tab.
    width : int
        Number of cells of a complete line.
    head : int
        Lines at the top in which quotation marks don't matter.
    by_line : bool
        Whether lines of empty cells count, as each line is a node.

    Attributes
    ----------
    empty : int
        Lines of empty cells that were left out.
    footers : list of str
        Lines at the end that say how many rows there are, or are rulers; they were left out.
    """

    def __init__(self, stream: Any, file: Path, delimiter: str, width: int, head: int, *, by_line: bool) -> None:
        self._stream, self._file, self._width, self._head = stream, file, width, head
        self._spaced = delimiter == " "
        self._mark = b"\t" if self._spaced else delimiter.encode()
        mark = re.escape(self._mark)
        self._open = re.compile(rb'"(?<![^\r\n' + mark + rb']")[^"\r\n]*(?:""[^"\r\n]*)*(?=[\r\n]|\Z)')
        self._space = re.compile(rb"(?<=" + mark + rb') +(?="(?!")|""(?:[\r\n' + mark + rb"]|\Z))")
        self._nothing = b"\r\n" + DOS_END + (b"" if by_line else b" " + self._mark)
        self._rest, self._waiting_lines, self._ended = b"", b"", False
        self._lines = 0  # given so far
        self.empty = 0
        self.footers: list[str] = []

    def next_piece(self) -> bytes:
        while not self._ended:
            read = self._stream.read(BLOCK)
            self._ended = not read
            text = self._rest + read
            if not self._lines:
                text = text.removeprefix(codecs.BOM_UTF8)
            end = len(text) if self._ended else 1 + max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))  # CR before LF
            self._rest = text[end:]
            self._check_size(self._rest)
            text = self._waiting_lines + self._parted(text[:end])
            lines, at = self._checked(text)
            lines, empty = self._without_end(lines)
            self._waiting_lines = empty + text[at:]
            self._check_size(self._waiting_lines)
            self._lines += _breaks(lines)
            if lines:
                return lines
        return b""

    def _check_size(self, waiting: bytes) -> None:
        if len(waiting) > BLOCK + MAX_CELL:
            raise GrandPlusError(f"line {self._lines + 1} is too long", where=self._file, expected="lines of a table")

    def _parted(self, text: bytes) -> bytes:
        """Lines in which the mark separates cells, without spaces before those that are quoted."""
        if self._spaced:
            return tabbed(text)
        return self._space.sub(b"", text) if self._mark != b"\t" and b' "' in text else text

    def _without_end(self, text: bytes) -> tuple[bytes, bytes]:
        """Lines, and those after them that hold nothing: they wait for others, and are left out at the end."""
        filled, footers = self._filled(text)
        last = _END.search(text, filled) if filled else None
        stop = max(last.end() if last else len(text) if filled else 0, self._top(text))
        if not self._ended:
            return text[:stop], text[stop:]
        self.footers = footers
        self.empty = sum(bool(line.strip(b" " + DOS_END)) for line in _LINE.findall(text, stop)) - len(footers)
        return text[:stop].rstrip(DOS_END), b""

    def _filled(self, text: bytes) -> tuple[int, list[str]]:
        """Where the last line ends that holds data, and the footers below it."""
        footers: list[str] = []
        filled = len(text.rstrip(self._nothing))
        while filled:
            start = 1 + max(text.rfind(b"\n", 0, filled), text.rfind(b"\r", 0, filled))
            line = text[start:filled].decode(errors="replace")
            line = line.replace("\t", " ") if self._spaced else line
            if filled - start > _SHOWN or not is_footer(line):
                break
            footers.insert(0, line)
            filled = len(text[:start].rstrip(self._nothing))
        return filled, footers

    def _top(self, text: bytes) -> int:
        """Where the lines end that are not looked at."""
        breaks = itertools.islice(_END.finditer(text), max(self._head - self._lines, 0))
        return max((line.end() for line in breaks), default=0)

    def _checked(self, text: bytes) -> tuple[bytes, int]:
        """Lines as they are to be parsed, and up to where in the text; a cell that hasn't ended waits for more text."""
        if b'"' not in text:
            return text, len(text)
        at = self._top(text)
        parts = [text[:at]]
        whole = 1, at, at  # parts, and from where to where in the text, that end with a line
        while opened := self._open.search(text, at):
            first = 1 + max(text.rfind(b"\n", at, opened.start()), text.rfind(b"\r", at, opened.start()), at - 1)
            if first > at or text[at - 1 : at] in (b"", b"\r", b"\n"):
                whole = len(parts), at, first
            line = text[first : opened.end()]
            _, start = _cells(line, self._mark)
            next_line = _LINE.search(text, opened.end())
            if start is None:  # it is within a quoted cell
                stop = opened.end()
                parts.append(text[at:stop])
            elif next_line is None and not self._ended:
                return b"".join([*parts[: whole[0]], text[whole[1] : whole[2]]]), whole[2]
            elif self._is_text(line, next_line):
                stop = opened.end()
                parts += [text[at:first], literal(line, self._mark)]
            else:
                closed = _QUOTED.match(text, first + start)
                if closed is None and not self._ended:
                    return b"".join([*parts[: whole[0]], text[whole[1] : whole[2]]]), whole[2]
                self._check_cell(text, first, opened.end(), closed)
                assert closed is not None
                stop = closed.end()
                parts.append(text[at:stop])
            at = stop
        return b"".join([*parts, text[at:]]), len(text)

    def _is_text(self, line: bytes, next_line: re.Match[bytes] | None) -> bool:
        """Whether a mark that isn't closed on its line is part of the text."""
        complete = self._is_complete(line) and (next_line is None or self._is_complete(next_line[0]))
        return complete and self._mark == b"\t"

    def _is_complete(self, line: bytes) -> bool:
        cells, start = _cells(line, self._mark)
        return self._width == (cells if start is None else cells + 1 + line.count(self._mark, start))

    def _check_cell(self, text: bytes, first: int, stop: int, closed: re.Match[bytes] | None) -> None:
        """Check that a cell of several lines ends where it should, and is not made of complete lines."""
        found = "begins a cell with a quotation mark that "
        if closed is None:
            found += "nothing closes"
        elif text[closed.end() : closed.end() + 1] not in (b"", b"\r", b"\n", b" ", self._mark):
            found += "is closed on another line, within a cell"
        elif self._is_complete(text[first:stop]) and any(
            map(self._is_complete, _LINE.findall(text, stop, closed.end()))
        ):
            found += "is closed on another line, with complete lines between them"
        else:
            return
        number = self._lines + _breaks(text[:first]) + 1
        shown = text[first:stop].decode(errors="replace")[:_SHOWN]
        fix = "close it; if it is part of the text, double it and put the cell in quotation marks"
        raise GrandPlusError(f"line {number} {found}: {shown!r}", where=self._file, fix=fix)


def _cells(line: bytes, mark: bytes) -> tuple[int, int | None]:
    """The number of cells of a line, and None; or of those before a cell that isn't closed, and where that begins."""
    cells = at = 0
    while True:
        if line[at : at + 1] == b'"':
            closed = _QUOTED.match(line, at)
            if closed is None:
                return cells, at
            at = closed.end()
        cells += 1
        at = 1 + line.find(mark, at)
        if not at:
            return cells, None


def _breaks(text: bytes) -> int:
    return max(text.count(b"\n"), text.count(b"\r"))
