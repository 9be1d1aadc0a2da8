"""MatrixMarket: an adjacency as ``.mtx``, read by scipy; labels and features are in files beside it.

Nodes are the rows of the matrix, which are counted from 1. So are the ids in a table beside it; a table without ids
(``--id none``) has a line for each row, and so has a file of features, ``.npy``, ``.npz`` or a second ``.mtx``. Of a
symmetric matrix, the file has one half, and that are its edges. Any file may be compressed by gzip.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from grandplus.datasets.attributed.beside import read_beside, reading_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.raw_graph import raw_graph
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import NO_IDS, Reading, Source
from grandplus.datasets.tables.ids import ids_of
from grandplus.datasets.tables.table import look
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text

SUFFIXES = (".mtx", ".mtx.gz")
_BY_ROW = (".npy", ".npz")
_BYTES_OF_ENTRY = 64  # in memory, with the copies that are made
_BYTES_OF_ROW = 100
_SHORTEST_LINE = 4  # bytes of "1 1\n"
_MAX_COMPRESSION = 1032  # times smaller that gzip can make a file


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the matrix and the files beside it; nodes are in the order of the rows.

    See `grandplus.datasets.formats.Format`.
    """
    how = source.read
    matrices = [folder / name for name in files if name.lower().endswith(SUFFIXES)]
    adjacency, features = _roles(matrices, how)
    without_ids = how.id == NO_IDS
    graph = _graph(adjacency, first=0 if without_ids else 1)
    others = {name: folder / name for name in files if folder / name not in matrices}
    if not others and features is None:
        return raw_graph(graph, source)
    _check_order(folder, how, len(graph.ids))
    with _with_features(others, features) as named:
        raw = read_beside(graph, named, source, tables)
    if without_ids and raw.account.ids is not None and raw.account.ids.only_edges:
        lines = len(graph.ids) - raw.account.ids.only_edges
        expected = f"{len(graph.ids)}, as {adjacency.name} has rows"
        raise GrandPlusError(f"has {lines} lines of data", where=folder / (how.nodes or ""), expected=expected)
    return replace(raw, node_ids=raw.node_ids + 1) if without_ids else raw


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
        return reading_beside(_graph(adjacency, first=0 if asked.id == NO_IDS else 1), named, asked, tables)


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
    most = size * (_MAX_COMPRESSION if file.suffix == ".gz" else 1)
    shortest = _SHORTEST_LINE if form == "coordinate" else 2
    taken = entries * _BYTES_OF_ENTRY + rows * _BYTES_OF_ROW
    if symmetry == "general" and entries * shortest > most + shortest:
        raise GrandPlusError(f"declares {entries:,} entries in {size:,} bytes", where=file, expected="a line for each")
    if taken > environment.memory():
        expected = f"at most {size_text(environment.memory())}, the memory at hand"
        raise GrandPlusError(f"takes {size_text(taken)} to read", where=file, expected=expected)
    return _Header(rows, columns, entries, form == "coordinate", symmetry != "general")


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


def _graph(file: Path, first: int) -> AttributedGraph:
    """Nodes are called by the numbers of the rows, which begin with ``first``."""
    header = _header(file)
    matrix = _matrix(file).tocoo()
    stored = matrix.row >= matrix.col if header.symmetric else np.ones(matrix.nnz, bool)
    edge = stored & (matrix.data != 0)
    values = matrix.data[edge]
    zeros = int(stored.sum() - edge.sum()) if header.sparse else 0
    return AttributedGraph(
        file,
        [str(row) for row in range(first, header.rows + first)],
        {},
        np.stack([matrix.row[edge], matrix.col[edge]]).astype(np.int64),
        {} if (values == 1).all() else {"weight": values},
        dropped={"entries of 0": zeros} if zeros else {},
    )


def _matrix(file: Path) -> Any:
    """A scipy sparse matrix, of a dense one too."""
    from scipy.io import mmread

    try:
        return sparse.csr_array(mmread(file)) if not _header(file).sparse else mmread(file)
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
        sparse.save_npz(Path(folder) / name, sparse.csr_matrix(_matrix(features)), compressed=False)
        yield {**others, name: Path(folder) / name}


def _check_order(folder: Path, how: Reading, rows: int) -> None:
    """Where features have a row for each row of the matrix, a table of labels with ids has the same order."""
    if how.features is None or not how.features.endswith(_BY_ROW) or how.nodes is None or how.id in (None, NO_IDS):
        return
    table = look(folder / how.nodes, header=isinstance(how.id, str), skip=how.skip.get(how.nodes))
    (pieces,) = ids_of(table, [table.column(how.id)])
    ids = [str(name) for piece in pieces for name in piece.to_pylist()]
    if ids != [str(row) for row in range(1, rows + 1)]:
        expected = f"1 to {rows} in this order, as {how.features} has a row for each row of the matrix"
        raise GrandPlusError("has the nodes in another order", where=folder / how.nodes, expected=expected)
