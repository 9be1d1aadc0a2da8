"""One ``.mat`` of MATLAB, version 5 to 7: adjacency, features and labels under usual names; and Facebook100's layout.

The adjacency is called A, adj or network, or is the only square matrix, or is named with ``--edges``; it may be field A
of the struct Problem, as in the SuiteSparse collection. Features are called X, attrb, Attributes or features; labels,
numbers or one-hot, Y, group, Class, labels or gnd, or as ``--label`` says. Nodes are called by the numbers of the rows,
from 1. Without labels in it, tables beside the file have them, as beside MatrixMarket.

Facebook100 has ``A`` and ``local_info``, with seven columns of numbers, 0 where unknown. One of them, which ``--label``
names, has the classes; the others are features, a column for each number that occurs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.arrays.mat import Variable, read_variable, variables_of
from grandplus.datasets.arrays.matrices import check_compressed, described
from grandplus.datasets.attributed.beside import reading_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.matrices import matrix_graph, read_matrix_beside
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".mat"
ADJACENCIES = ("a", "adj", "network", "net", "adjacency", "adj_matrix", "graph")
FEATURES = ("x", "attrb", "attributes", "features", "feature", "fea", "attr")
LABELS = ("y", "group", "class", "labels", "label", "gnd")
STRUCT, FIELD = "Problem", "Problem.A"
FACEBOOK = "local_info"
COLUMNS = ("status", "gender", "major", "minor", "dorm", "year", "school")  # of local_info
_NUMBERS = {"sparse", "double", "single", "logical", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))}
_LISTED = 20


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of the rows.

    See `grandplus.datasets.formats.Format`.
    """
    file = next((folder / name for name in files if name.lower().endswith(SUFFIX)), folder)
    others = {name: folder / name for name in files if folder / name != file}
    held = variables_of(file)
    adjacency = _adjacency(file, held, source.read.edges)
    if others:
        graph = _graph(file, adjacency, source.read)
        how = source.model_copy(update={"read": source.read.model_copy(update={"edges": file.name})})
        return read_matrix_beside(graph, others, how, tables)
    matrix = _checked(read_variable(file, adjacency), f"{file}, {adjacency}")
    (edges, weights), nodes = edges_of(matrix, source, f"{file}, {adjacency}"), matrix.shape[0]
    label = source.read.label
    if FACEBOOK in held and str(label) in COLUMNS:
        info = _local_info(file, nodes)
        labels, classes = labels_of(
            _with_unknown(info[:, COLUMNS.index(str(label))]), nodes, source, f"{file}, {label}"
        )
        features, names = _one_hot(info, COLUMNS.index(str(label)))
        used: set[str | None] = {adjacency, FACEBOOK}
    else:
        labels, classes = _labels(file, label, nodes, source)
        name = _one_of(FEATURES, held)
        features = None if name is None else _features(file, name, nodes)
        used, names = {adjacency, str(label), name}, None
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=np.arange(1, nodes + 1, dtype=np.int64),
        splits=[],
        feature_names=names,
        weights=weights,
        account=Account(
            (FileAccount(file.name, nodes, "nodes"), FileAccount(file.name, edges.shape[1], "edges")),
            unused=tuple(f"{file.name}: {name}" for name in held if name not in used and f"{name}.A" not in used),
            dropped={"entries of 0": zeros} if (zeros := _zeros(matrix)) else {},
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .mat, alone or, if it has no labels, beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    matching = [file for file in files if file.name.lower().endswith(SUFFIX)]
    if len(matching) != 1:
        return None
    file, held = matching[0], variables_of(matching[0])
    name = None if asked.edges == file.name else asked.edges
    adjacency = _adjacency(file, held, name)
    others = {other.name: other for other in files if other != file}
    if others:
        beside = reading_beside(_graph(file, adjacency, asked), others, asked, tables)
        return None if beside is None else beside.model_copy(update={"edges": adjacency})
    return asked.model_copy(update={"edges": adjacency, "label": _label(file, held, asked)})


def _adjacency(file: Path, held: dict[str, Variable], asked: str | None) -> str:
    """The name of the variable."""
    if asked is not None:
        if asked not in held and asked != FIELD:
            raise GrandPlusError(f"has no variable {asked}", where=file, expected=_listed(held))
        return asked
    square = [
        name
        for name, (shape, kind) in held.items()
        if kind in _NUMBERS and len(shape) == 2 and shape[0] == shape[1] > 1
    ]
    named = [name for name in square if name.lower() in ADJACENCIES]
    if STRUCT in held and not named:
        return FIELD
    likely = named or [name for name in square if held[name].kind == "sparse"] or square
    if len(likely) != 1:
        found = f"has the variables {_listed(held)}, of which {len(likely) or 'none'} may be the adjacency"
        raise GrandPlusError(found, where=file, expected="one", fix="name it with --edges")
    return likely[0]


def _label(file: Path, held: dict[str, Variable], asked: Reading) -> str:
    """The name of the variable, or of a column of Facebook100's."""
    if FACEBOOK in held:
        column = asked.label
        if isinstance(column, int) and 1 <= column <= len(COLUMNS):
            column = COLUMNS[column - 1]
        if column not in COLUMNS and column not in held:
            found = f"has {FACEBOOK} with columns {', '.join(COLUMNS)}"
            raise GrandPlusError(found, where=file, fix="name the one that is the class: --label gender")
        return str(column)
    if asked.label is not None:
        if str(asked.label) not in held:
            raise GrandPlusError(f"has no variable {asked.label}", where=file, expected=_listed(held))
        return str(asked.label)
    label = _one_of(LABELS, held, file, fix="name it with --label")
    if label is None:
        found = f"has the variables {_listed(held)}, none of which is called as labels are"
        raise GrandPlusError(found, where=file, fix="name the labels with --label, and the adjacency with --edges")
    return label


def _one_of(usual: tuple[str, ...], held: dict[str, Variable], file: Path | None = None, fix: str = "") -> str | None:
    named = [name for name in held if name.lower() in usual]
    if len(named) > 1:
        raise GrandPlusError(f"has {' and '.join(named)}", where=file or "", expected="one of them", fix=fix)
    return named[0] if named else None


def _graph(file: Path, adjacency: str, how: Reading) -> AttributedGraph:
    matrix = _checked(read_variable(file, adjacency), f"{file}, {adjacency}")
    if matrix.shape[0] != matrix.shape[1]:
        raise GrandPlusError(f"is {described(matrix)}", where=f"{file}, {adjacency}", expected="a square matrix")
    return matrix_graph(file, matrix, how)


def _checked(value: Any, where: str) -> Any:
    """A scipy sparse matrix of numbers, whose indices are checked."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiub":
        return sparse.csc_matrix(value)
    if not sparse.issparse(value) or value.format != "csc" or value.dtype.kind not in "fiub":
        raise GrandPlusError(
            f"holds {getattr(value, 'dtype', type(value))}", where=where, expected="a matrix of numbers"
        )
    check_compressed(value.indptr, value.indices, value.shape[0], where)
    return value


def _features(file: Path, name: str, nodes: int) -> Any:
    value, where = read_variable(file, name), f"{file}, {name}"
    return features_of(_checked(value, where) if sparse.issparse(value) else value, nodes, where)


def _labels(file: Path, name: object, nodes: int, source: Source) -> tuple[NDArray[np.int64], list[str]]:
    if name is None:
        return np.full(nodes, -1), []
    value, where = read_variable(file, str(name)), f"{file}, {name}"
    if sparse.issparse(value):
        value = _checked(value, where)
        if value.shape[0] * value.shape[1] * 8 > environment.memory():
            raise GrandPlusError(f"is {described(value)}", where=where, expected="labels that memory holds")
        value = value.toarray()
    if value.dtype.kind in "OU":
        return _of_text(value, nodes, source, where)
    if value.ndim == 2 and value.shape == (1, nodes):
        value = value[0]
    return labels_of(value, nodes, source, where)


def _of_text(value: NDArray[Any], nodes: int, source: Source, where: str) -> tuple[NDArray[np.int64], list[str]]:
    """Cells that hold a text each, or rows of letters."""
    texts = [
        cell.item() if isinstance(cell, np.ndarray) and cell.size == 1 else cell for cell in value.ravel().tolist()
    ]
    texts = ["" if isinstance(text, np.ndarray) and not text.size else text for text in texts]
    if len(texts) != nodes or not all(isinstance(text, str) for text in texts):
        raise GrandPlusError(f"is {described(value)}", where=where, expected=f"{nodes} texts or numbers")
    column = pa.array([text.strip() for text in texts], pa.large_string())
    return class_numbers([column], source, where, lambda row: f"row {row + 1}")


def _local_info(file: Path, nodes: int) -> NDArray[np.int64]:
    info, where = read_variable(file, FACEBOOK), f"{file}, {FACEBOOK}"
    right = isinstance(info, np.ndarray) and info.shape == (nodes, len(COLUMNS)) and info.dtype.kind in "fiu"
    if not right or not np.array_equal(info, np.floor(info)) or np.abs(info).max(initial=0) > 2**31:
        expected = f"whole numbers in {nodes} rows and {len(COLUMNS)} columns"
        raise GrandPlusError(f"is {described(info)}", where=where, expected=expected)
    return np.asarray(info, np.int64)


def _with_unknown(column: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(column == 0, -1, column)


def _one_hot(info: NDArray[np.int64], label: int) -> tuple[Any, list[str]]:
    """A column for each number in each column but that of the labels; none for 0, which is unknown."""
    blocks, names = [], list[str]()
    for column in range(info.shape[1]):
        if column == label:
            continue
        values, codes = np.unique(info[:, column], return_inverse=True)
        known = np.flatnonzero(info[:, column] != 0)
        shape = (len(info), len(values))
        block = sparse.csc_matrix((np.ones(len(known), np.float32), (known, codes[known])), shape=shape)
        blocks.append(block[:, np.flatnonzero(values != 0)])
        names += [f"{COLUMNS[column]} {value}" for value in values if value != 0]
    return sparse.hstack(blocks, format="csr"), names


def _zeros(matrix: Any) -> int:
    return int((matrix.data == 0).sum())


def _listed(held: dict[str, Variable]) -> str:
    listed = [f"{name} ({' x '.join(map(str, shape))})" for name, (shape, _) in list(held.items())[:_LISTED]]
    return ", ".join(listed) or "nothing"
