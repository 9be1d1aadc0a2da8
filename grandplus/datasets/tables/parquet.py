"""Tables of Parquet. An index that pandas has not written as a column, as it only counts, is the last column."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.datasets.arrays.memory import check_declared
from grandplus.runtime.errors import GrandPlusError

SUFFIXES = (".parquet", ".pq", ".parq")
_MARK = b"PAR1"  # at both ends
_ROWS = 2**16  # read at a time


def is_parquet(file: Path) -> bool:
    """Whether a file is Parquet, by its name or by what it begins and ends with.

    Parameters
    ----------
    file : Path

    Returns
    -------
    bool
    """
    if file.suffix.lower() in SUFFIXES:
        return True
    with file.open("rb") as stream:
        if stream.read(len(_MARK)) != _MARK:
            return False
        stream.seek(-len(_MARK), os.SEEK_END)
        return stream.read() == _MARK


class Columns(NamedTuple):
    """The columns of a file.

    Attributes
    ----------
    names : list of str
    indexes : set of str
        Those that pandas wrote as the index of a DataFrame.
    counted : range or None
        The values of the last one, if the file has it only in what it says of pandas.
    """

    names: list[str]
    indexes: set[str]
    counted: range | None


def first_rows(file: Path, count: int) -> tuple[Columns, list[list[str | None]]]:
    """The columns of a file that fits into memory, and its first rows.

    Parameters
    ----------
    file : Path
    count : int
        Of rows.

    Returns
    -------
    columns : Columns
    rows : list of lists of str
        None for a list.

    Raises
    ------
    GrandPlusError
        It can't be read, or holds no row.
    """
    try:
        with pq.ParquetFile(file) as opened:
            columns, metadata = _columns(opened), opened.metadata
            size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            check_declared(size, file)
            rows = next(opened.iter_batches(count), None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise GrandPlusError(f"is no readable Parquet file: {error}", where=file, fix="fetch it again") from None
    if rows is None or not rows.num_columns:
        raise GrandPlusError("holds no row", where=file, expected="a table")
    values = [
        [None if isinstance(value, list | dict) else str(value) for value in column.to_pylist()]
        for column in rows.columns
    ]
    if columns.counted is not None:
        values.append([str(value) for value in columns.counted[: rows.num_rows]])
    return columns, [list(row) for row in zip(*values, strict=True)]


def pieces_of(file: Path, wanted: Sequence[int]) -> Iterator[list[pa.Array]]:
    """Read columns piece by piece.

    Parameters
    ----------
    file : Path
    wanted : sequence of int
        Their numbers.

    Yields
    ------
    list of pyarrow arrays
        A piece of each column.
    """
    with pq.ParquetFile(file) as opened:
        names, _, counted = _columns(opened)
        stored = opened.schema_arrow.names
        named = [names[column] for column in wanted]
        read, at = [name for name in named if name in stored] or stored[:1], 0
        for batch in opened.iter_batches(_ROWS, columns=read):
            rows = counted[at : at + batch.num_rows] if counted is not None else range(0)
            yield [_plain(batch.column(name)) if name in stored else pa.array(rows, pa.int64()) for name in named]
            at += batch.num_rows


def _plain(column: pa.Array) -> pa.Array:
    """With float32 in place of float16, with which pyarrow does not compute."""
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def _columns(opened: pq.ParquetFile) -> Columns:
    names = list(opened.schema_arrow.names)
    said = _said_of_indexes(opened.schema_arrow.metadata)
    indexes = {index for index in said if isinstance(index, str)}
    counted = next((index for index in said if isinstance(index, dict) and isinstance(index.get("name"), str)), None)
    if counted is None or counted["name"] in names:
        return Columns(names, indexes, None)
    try:
        values = range(counted["start"], counted["stop"], counted["step"])
        whole = len(values) == opened.metadata.num_rows > 0 and all(abs(values[end]) < 2**63 for end in (0, -1))
    except (LookupError, TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        return Columns(names, indexes, None)
    return Columns([*names, counted["name"]], {*indexes, counted["name"]}, values)


def _said_of_indexes(metadata: dict[bytes, bytes] | None) -> list[Any]:
    """What pandas says of the index of a DataFrame."""
    try:
        said = json.loads((metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return said if isinstance(said, list) else []
    except (ValueError, AttributeError, RecursionError):
        return []
