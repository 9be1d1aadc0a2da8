"""MatrixMarket: an adjacency as ``.mtx``, read by scipy; labels and features are in files beside it.

Nodes are the rows of the matrix, which are counted from 1. So are the ids in a table beside it; a table without ids
(``--id none``) has a line for each row, and so has a file of features, ``.npy``, ``.npz`` or a second ``.mtx``. Of a
symmetric matrix, the file has one half, and that are its edges. Any file may be compressed by gzip.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scipy import sparse

from grandplus.datasets.arrays.memory import check_taken
from grandplus.datasets.arrays.npz import MAX_COMPRESSION
from grandplus.datasets.attributed.beside import reading_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.matrices import matrix_graph, read_matrix_beside
from grandplus.datasets.attributed.raw_graph import raw_graph
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

SUFFIXES = (".mtx", ".mtx.gz")
_BYTES_OF_ENTRY = 64  # in memory, with the copies that are made
_BYTES_OF_ROW = 100
_SHORTEST_LINE = 4  # bytes of "1 1\n"
_SAMPLE = 1000  # lines that are looked at
_LINES = {
    "pattern": (re.compile(r"\d+\s+\d+"), "two numbers of nodes, as it is declared to be a pattern"),
    "integer": (re.compile(r"\d+\s+\d+\s+[-+]?\d+"), "two numbers of nodes and a whole number, as declared"),
}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the matrix and the files beside it; nodes are in the order of the rows.

    See `grandplus.datasets.formats.Format`.
    """
    matrices = [folder / name for name in files if name.lower().endswith(SUFFIXES)]
    adjacency, features = _roles(matrices, source.read)
    graph = _graph(adjacency, source.read)
    others = {name: folder / name for name in files if folder / name not in matrices}
    if not others and features is None:
        return raw_graph(graph, source)
    with _with_features(others, features) as named:
        return read_matrix_beside(graph, named, source, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """A square matrix whose name ends with .mtx, alone or beside tables and features.

    See `grandplus.datasets.formats.Format`.
    """
    matrices = [file for file in files if file.name.lower().endswith(SUFFIXES)]
    if not matrices:
        return None
    adjacency, features = _roles(matrices, asked)
    others = {file.name: file for file in files if file not in matrices}
    if not others and features is None:
        return asked.model_copy(update={"edges": None})
    with _with_features(others, features) as named:
        return reading_beside(_graph(adjacency, asked), named, asked, tables)


@dataclass(frozen=True)
class _Header:
    rows: int
    columns: int
    entries: int
    sparse: bool
    symmetric: bool


def _header(file: Path) -> _Header:
    """What the first lines declare, which could be in a file of this size and fits into memory."""
    from scipy.io import mminfo

    try:
        rows, columns, entries, form, field, symmetry = mminfo(file)
        size = file.stat().st_size
    except (ValueError, OSError, OverflowError, EOFError, TypeError) as error:
        _raise_unreadable(error, file)
    if field == "complex" or symmetry == "hermitian":
        raise GrandPlusError("holds complex numbers", where=file, expected="a matrix of real numbers, or a pattern")
    most = size * (MAX_COMPRESSION if file.suffix == ".gz" else 1)
    shortest = _SHORTEST_LINE if form == "coordinate" else 2
    taken = entries * _BYTES_OF_ENTRY + rows * _BYTES_OF_ROW
    if symmetry == "general" and entries * shortest > most + shortest:
        raise GrandPlusError(f"declares {entries:,} entries in {size:,} bytes", where=file, expected="a line for each")
    check_taken(taken, file)
    if form == "coordinate":
        _check_lines(file, field)
    return _Header(rows, columns, entries, form == "coordinate", symmetry != "general")


def _check_lines(file: Path, field: str) -> None:
    """The first lines have as many numbers as declared, and whole ones; scipy would leave out what doesn't fit."""
    wanted = _LINES.get(field)
    if wanted is None:
        return
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            lines = [line.strip().decode("latin1") for line in itertools.islice(stream, _SAMPLE)]
    except (OSError, EOFError, zlib.error) as error:
        _raise_unreadable(error, file)
    data = [number for number, line in enumerate(lines, start=1) if line and not line.startswith("%")]
    for number in data[1:]:  # the first is the size
        if not wanted[0].fullmatch(lines[number - 1]):
            raise GrandPlusError(f"line {number} is {lines[number - 1][:40]!r}", where=file, expected=wanted[1])


def _roles(matrices: list[Path], how: Reading) -> tuple[Path, Path | None]:
    """The adjacency, which is the square matrix, and the features, if they are a matrix too."""
    headers = {file: _header(file) for file in matrices}
    square = [file for file, header in headers.items() if header.rows == header.columns]
    named = [file for file in matrices if file.name == how.edges]
    chosen = named or square
    if len(chosen) != 1 or len(matrices) > 2:
        sizes = ", ".join(f"{file.name} is {head.rows} x {head.columns}" for file, head in headers.items())
        fix = "name the file of the adjacency with --edges"
        raise GrandPlusError(sizes, expected="one square matrix, and at most one other, of features", fix=fix)
    header = headers[chosen[0]]
    if header.rows != header.columns:
        raise GrandPlusError(f"is {header.rows} x {header.columns}", where=chosen[0], expected="a square matrix")
    features = next((file for file in matrices if file != chosen[0]), None)
    if features is not None and headers[features].rows != header.rows:
        expected = f"{header.rows}, as {chosen[0].name}"
        raise GrandPlusError(f"has {headers[features].rows} rows", where=features, expected=expected)
    return chosen[0], features


def _graph(file: Path, how: Reading) -> AttributedGraph:
    header = _header(file)
    return matrix_graph(file, _matrix(file, header), how, symmetric=header.symmetric)


def _matrix(file: Path, header: _Header) -> Any:
    """A scipy sparse matrix, of a dense one too."""
    from scipy.io import mmread

    try:
        return mmread(file) if header.sparse else sparse.csr_array(mmread(file))
    except (ValueError, OSError, OverflowError, EOFError, TypeError) as error:
        _raise_unreadable(error, file)


def _raise_unreadable(error: Exception, file: Path) -> NoReturn:
    raise GrandPlusError(f"is no readable MatrixMarket file: {error}", where=file) from None


@contextlib.contextmanager
def _with_features(others: dict[str, Path], features: Path | None) -> Iterator[dict[str, Path]]:
    """The files beside the adjacency, where features are a ``.npz`` in place of a ``.mtx``."""
    if features is None:
        yield others
        return
    with tempfile.TemporaryDirectory() as folder:
        name = f"{features.name}.npz"
        sparse.save_npz(Path(folder) / name, sparse.csr_matrix(_matrix(features, _header(features))), compressed=False)
        yield {**others, name: Path(folder) / name}
