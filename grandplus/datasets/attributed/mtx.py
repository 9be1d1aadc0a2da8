"""Matrices of MatrixMarket. They are read here, as the reader of scipy ends Python itself on some damaged files."""

from __future__ import annotations

import codecs
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.memory import check_taken
from grandplus.datasets.tables.text import MAX_RATIO, compression_of, open_text
from grandplus.runtime.errors import GrandPlusError

_BANNER = re.compile(r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(\S+)\s+(\S+)\s*", re.IGNORECASE)
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_VALUES = {  # what a value is
    "pattern": "",
    "integer": "whole number, as declared",
    **dict.fromkeys(("real", "double", "unsigned-integer"), "number"),
}
_BYTES_OF_ENTRY = 64  # in memory, with the copies that are made
_BYTES_OF_ROW = 100
_SHORTEST_LINE = 4  # bytes of "1 1\n"
_LONGEST_LINE = 2**16


class Header(NamedTuple):
    """What the first lines declare.

    Attributes
    ----------
    rows, columns, entries : int
    sparse : bool
        Whether each entry has its place beside it; else all entries are listed, column by column.
    field, symmetry : str
        As MatrixMarket names them.
    above : int
        Lines above the entries.
    """

    rows: int
    columns: int
    entries: int
    sparse: bool
    field: str
    symmetry: str
    above: int


def read_header(file: Path) -> Header:
    """What the first lines of a file declare, which could be in a file of this size and fits into memory.

    Parameters
    ----------
    file : Path
        Perhaps compressed.

    Returns
    -------
    Header

    Raises
    ------
    GrandPlusError
        It is no MatrixMarket file, holds complex numbers, or declares too much.
    """
    with open_text(file) as stream:
        lines = _lines(stream)
        banner = _BANNER.fullmatch(next(lines, (0, ""))[1])
        size_at, size = next(((number, line) for number, line in lines if line and not line.startswith("%")), (0, ""))
    if banner is None:
        expected = "%%MatrixMarket matrix coordinate … in its first line"
        raise GrandPlusError("is no MatrixMarket file", where=file, expected=expected)
    form, field, symmetry = (word.lower() for word in banner.groups())
    if field == "complex" or symmetry == "hermitian":
        raise GrandPlusError("holds complex numbers", where=file, expected="a matrix of real numbers, or a pattern")
    if field not in _VALUES or symmetry not in _SYMMETRIES or (form, field) == ("array", "pattern"):
        expected = f"one of {', '.join(_VALUES)}, and of {', '.join(_SYMMETRIES)}"
        raise GrandPlusError(f"is declared as {form} {field} {symmetry}", where=file, expected=expected)
    counts = [int(word) if word.isdecimal() and len(word) < 19 else -1 for word in size.split()]
    if len(counts) != (3 if form == "coordinate" else 2) or min(counts) < 0:
        expected = "the numbers of rows, of columns and, of a sparse matrix, of entries"
        raise GrandPlusError(f"line {size_at} is {size[:40]!r}", where=file, expected=expected)
    rows, columns, *listed = counts
    entries = listed[0] if listed else _of_array(rows, columns, symmetry)
    header = Header(rows, columns, entries, form == "coordinate", field, symmetry, size_at)
    _check_size(header, file)
    return header


def read_matrix(file: Path) -> Any:
    """Read a matrix; of a symmetric one, the half that the file lacks is added.

    Parameters
    ----------
    file : Path
        Perhaps compressed.

    Returns
    -------
    scipy sparse matrix, float64
        Entries that repeat are kept apart.

    Raises
    ------
    GrandPlusError
        As of ``read_header``; or a line is no entry, or there are fewer or more than declared.
    """
    header = read_header(file)
    numbers = _numbers(header, file)
    shape = header.rows, header.columns
    if header.sparse:
        row, column = (numbers[:, end].astype(np.int64) - 1 for end in (0, 1))
        values = numbers[:, 2] if numbers.shape[1] > 2 else np.ones(len(numbers))
    else:
        places = np.ones(shape, bool)
        if header.symmetry != "general":
            places = np.tril(places, -1 if header.symmetry == "skew-symmetric" else 0)
        column, row = np.nonzero(places.T)
        values = numbers[:, 0]
    if header.symmetry != "general":
        other = row != column
        sign = -1 if header.symmetry == "skew-symmetric" else 1
        row, column = np.concatenate([row, column[other]]), np.concatenate([column, row[other]])
        values = np.concatenate([values, sign * values[other]])
    return sparse.coo_array((values, (row, column)), shape=shape)


def _of_array(rows: int, columns: int, symmetry: str) -> int:
    if symmetry == "general":
        return rows * columns
    return rows * (rows + (1 if symmetry == "symmetric" else -1)) // 2


def _check_size(header: Header, file: Path) -> None:
    size = file.stat().st_size
    most = size * (MAX_RATIO if compression_of(file) else 1)
    shortest = _SHORTEST_LINE if header.sparse else 2
    if header.entries * shortest > most + shortest:
        found = f"declares {header.entries:,} entries in {size:,} bytes"
        raise GrandPlusError(found, where=file, expected="a line for each")
    if header.symmetry != "general" and header.rows != header.columns:
        found = f"is declared as {header.symmetry}, and as {header.rows} x {header.columns}"
        raise GrandPlusError(found, where=file, expected="a square matrix")
    check_taken(header.entries * _BYTES_OF_ENTRY + (header.rows + header.columns) * _BYTES_OF_ROW, file)


def _numbers(header: Header, file: Path) -> NDArray[np.float64]:
    """The lines of entries: (entries, numbers a line)."""
    width = 1 if not header.sparse else 2 if header.field == "pattern" else 3
    if not header.entries:
        _check_lines(header, width, file)
        return np.empty((0, width))
    try:
        with open_text(file) as stream, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Input line|loadtxt: input contained no data", UserWarning)
            for _ in range(header.above):
                stream.readline()
            text = io.TextIOWrapper(stream, encoding="latin1")
            numbers: NDArray[np.float64] = np.loadtxt(text, comments="%", ndmin=2, max_rows=header.entries + 1)
    except ValueError as error:
        _check_lines(header, width, file)
        raise GrandPlusError(f"is no readable MatrixMarket file: {error}", where=file) from None
    if numbers.shape != (header.entries, width) or not _fit(numbers, header):
        _check_lines(header, width, file)
        raise GrandPlusError("is no readable MatrixMarket file", where=file, expected="entries as declared")
    return numbers


def _fit(numbers: NDArray[np.float64], header: Header) -> bool:
    """Whether all numbers of rows and columns, and whole numbers, are such."""
    if header.field.endswith("integer") and not np.array_equal(numbers, np.floor(numbers)):
        return False
    places = numbers[:, :2]
    most = np.array([header.rows, header.columns])
    return not header.sparse or bool(((places >= 1) & (places <= most) & (places == np.floor(places))).all())


def _check_lines(header: Header, width: int, file: Path) -> None:
    """Name the first line that is no entry."""
    count = 0
    expected = " and a ".join(["two numbers of nodes"] * header.sparse + [_VALUES[header.field]] * (width != 2))
    with open_text(file) as stream:
        for number, line in _lines(stream):
            words = line.partition("%")[0].split()
            if number <= header.above or not words:
                continue
            count += 1
            right = len(words) == width and all(_is_place(word) for word in words[:2] if header.sparse)
            if not right or not (width == 2 or _is_value(words[-1], header.field)):
                found = f"line {number} is {line[:40]!r}"
                if header.field == "pattern":
                    expected += ", as it is declared to be a pattern"
                raise GrandPlusError(found, where=file, expected=expected.removeprefix(" and a "))
            if header.sparse and (int(words[0]) > header.rows or int(words[1]) > header.columns):
                most = f"at most {header.rows} and {header.columns}, as declared"
                raise GrandPlusError(f"line {number} is {line[:40]!r}", where=file, expected=most)
    if count != header.entries:
        found = f"is truncated: it has {count:,} entries" if count < header.entries else f"has {count:,} entries"
        raise GrandPlusError(found, where=file, expected=f"{header.entries:,}, as it declares")


def _is_place(word: str) -> bool:
    return word.isascii() and word.isdecimal() and int(word[:19]) > 0


def _is_value(word: str, field: str) -> bool:
    if field.endswith("integer"):
        return word.lstrip("+-").isdecimal()
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def _lines(stream: Any) -> Iterator[tuple[int, str]]:
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        yield number, line.removeprefix(codecs.BOM_UTF8).decode("latin1").strip()
