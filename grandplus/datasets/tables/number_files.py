"""Text of numbers between commas, without a header, as OGB has it: read in pieces, compressed or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text

BLOCK = 2**24  # bytes of text read at a time
SAMPLE = 200  # lines from which it is guessed what a file holds
_LINE = re.compile(r"Row #(\d+): (.*)", re.DOTALL)


def first_lines(file: Path) -> list[list[str]]:
    """The fields of the first lines, for a guess of what the file holds.

    Parameters
    ----------
    file : Path
        Its name ends with .gz if it is compressed by gzip.

    Returns
    -------
    list of lists of str
        Of one line at least.

    Raises
    ------
    GrandPlusError
        The file can't be read, is empty, or has a line without an end.
    """
    try:
        with pa.input_stream(str(file), compression="detect") as stream:
            head = bytes(stream.read(BLOCK))
    except (pa.ArrowException, OSError) as error:
        _raise_unreadable(str(error), file)
    lines = head.split(b"\n", SAMPLE)
    whole = lines[: len(lines) - (len(head) == BLOCK)]  # the last of a full block is cut
    if not head or not whole:
        raise GrandPlusError("holds no line of numbers", where=file, expected="numbers between commas")
    filled = whole if whole[-1] else whole[:-1]
    return [[field.strip(' "\r') for field in line.decode("latin1").split(",")] for line in filled[:SAMPLE]]


def read_columns(file: Path, width: int, kind: pa.DataType, *, rows: int | None = None) -> NDArray[Any]:
    """All numbers of a file.

    Parameters
    ----------
    file : Path
        Its name ends with .gz if it is compressed by gzip.
    width : int
        Number of columns.
    kind : pyarrow type
        Of the numbers.
    rows : int, optional
        How many there must be.

    Returns
    -------
    (rows, width) ndarray

    Raises
    ------
    GrandPlusError
        A line is something else, or there is another number of lines, or they exceed the memory at hand; with the line.
    """
    parts, rows_read, held = list[NDArray[Any]](), 0, 0
    for batch in _batches(file, width, kind):
        part = np.empty((batch.num_rows, width), kind.to_pandas_dtype())
        for column in range(width):
            values = batch.column(column)
            if values.null_count and pa.types.is_integer(kind):
                line = rows_read + int(np.argmax(np.asarray(values.is_null()))) + 1
                raise GrandPlusError(f"line {line} lacks a number", where=file, expected=f"{width} whole numbers")
            part[:, column] = values.to_numpy(zero_copy_only=False)
        parts.append(part)
        rows_read += len(part)
        held += part.nbytes
        if 2 * held > environment.memory():  # the parts, and then all in one array
            found = f"takes more than {size_text(2 * held)} to read"
            expected = f"at most {size_text(environment.memory())}, the memory at hand"
            raise GrandPlusError(found, where=file, expected=expected)
    array = np.concatenate(parts)
    if rows is not None and len(array) != rows:
        raise GrandPlusError(f"has {len(array):,} lines", where=file, expected=f"{rows:,}, a line a node")
    return array


def read_lines(file: Path) -> pa.Array:
    """The text of each line, without quotes. Empty lines count, but for those at the end that have no quotes either.

    Parameters
    ----------
    file : Path

    Returns
    -------
    pyarrow array of strings

    Raises
    ------
    GrandPlusError
        The file is empty or damaged, or a line has several fields; with the line.
    """
    parts = [batch.column(0) for batch in _batches(file, 1, pa.string())]
    lines = pa.chunked_array(parts, pa.string()).combine_chunks()
    filled = np.flatnonzero(np.asarray(pc.not_equal(lines, "")))
    return pc.utf8_trim(lines[: int(filled[-1]) + 1 if len(filled) else 0], ' \t\r"')


def _batches(file: Path, width: int, kind: pa.DataType) -> Iterator[pa.RecordBatch]:
    names = [str(column) for column in range(width)]
    text = pa.types.is_string(kind)
    try:
        with pa.input_stream(str(file), compression="detect") as stream:
            yield from pacsv.open_csv(
                stream,
                # One thread: lines are then counted for errors.
                pacsv.ReadOptions(column_names=names, block_size=BLOCK, use_threads=False),
                pacsv.ParseOptions(ignore_empty_lines=width > 1, quote_char=False if text else '"'),
                pacsv.ConvertOptions(column_types=dict.fromkeys(names, kind), strings_can_be_null=not text),
            )
    except (pa.ArrowException, OSError) as error:
        _raise_unreadable(str(error), file)


def _raise_unreadable(message: str, file: Path) -> NoReturn:
    at_line = _LINE.search(message)
    if at_line:
        raise GrandPlusError(f"line {at_line[1]}: {at_line[2][:100]}", where=file, expected="numbers alone") from None
    raise GrandPlusError(f"can't be read: {message}", where=file, fix="fetch it again") from None
