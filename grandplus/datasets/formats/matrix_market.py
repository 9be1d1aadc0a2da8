"""MatrixMarket: an adjacency as ``.mtx``; labels and features are in files beside it.

Nodes are the rows of the matrix, which are counted from 1. So are the ids in a table beside it; a table without ids
(``--id none``) has a line for each row, and so has a file of features, ``.npy``, ``.npz`` or a second ``.mtx``. Of a
symmetric matrix, the file has one half, and that are its edges. The matrices may be compressed.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scipy import sparse

from grandplus.datasets.attributed.beside import reading_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.matrices import matrix_graph, read_matrix_beside
from grandplus.datasets.attributed.mtx import read_header, read_matrix
from grandplus.datasets.attributed.raw_graph import raw_graph
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import is_called
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".mtx"


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the matrix and the files beside it; nodes are in the order of the rows.

    See `grandplus.datasets.formats.Format`.
    """
    matrices = [folder / name for name in files if is_called(name, SUFFIX)]
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
    matrices = [file for file in files if is_called(file.name, SUFFIX)]
    if not matrices:
        return None
    adjacency, features = _roles(matrices, asked)
    others = {file.name: file for file in files if file not in matrices}
    if not others and features is None:
        return asked.model_copy(update={"edges": None})
    with _with_features(others, features) as named:
        return reading_beside(_graph(adjacency, asked), named, asked, tables)


def _roles(matrices: list[Path], how: Reading) -> tuple[Path, Path | None]:
    """The adjacency, which is the square matrix, and the features, if they are a matrix too."""
    headers = {file: read_header(file) for file in matrices}
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
    return matrix_graph(file, read_matrix(file), how, symmetric=read_header(file).symmetry != "general")


@contextlib.contextmanager
def _with_features(others: dict[str, Path], features: Path | None) -> Iterator[dict[str, Path]]:
    """The files beside the adjacency, where features are a ``.npz`` in place of a ``.mtx``."""
    if features is None:
        yield others
        return
    with tempfile.TemporaryDirectory() as folder:
        name = f"{features.name}.npz"
        sparse.save_npz(Path(folder) / name, sparse.csr_matrix(read_matrix(features)), compressed=False)
        yield {**others, name: Path(folder) / name}
