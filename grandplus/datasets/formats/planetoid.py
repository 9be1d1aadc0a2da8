"""Planetoid's files: ``ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}``.

The features and labels of nodes 0..m-1 are in allx and ally; those of the first of them, the labelled nodes, also in x
and y. Row i of tx and ty belongs to node test.index[i]; these ids have no order. A number between m and the largest id
that is not in test.index is a node without a row.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.labels import raise_multi_label
from grandplus.datasets.arrays.unpickle import load_pickle
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
VALIDATION = 500  # nodes; the standard split has them right after the labelled ones
_FILE = re.compile(rf"(ind\..+)\.({'|'.join(map(re.escape, PARTS))})")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the eight files; nodes without a row get zero features and label -1.

    See `grandplus.datasets.formats.Format`.
    """
    file = _parts(folder, files)
    seen, test_rows = _matrix(file["allx"]), _matrix(file["tx"])
    seen_labels, test_labels = _one_hot(file["ally"]), _one_hot(file["ty"])
    test = _test_index(file["test.index"], first=seen.shape[0])
    nodes = int(test.max()) + 1
    listed = _edges(file["graph"], nodes)
    edges = _once(listed)
    classes = seen_labels.shape[1]
    width = seen.shape[1]
    _check_shape(file["ally"], seen_labels.shape, (seen.shape[0], classes))
    _check_shape(file["tx"], test_rows.shape, (len(test), width))
    _check_shape(file["ty"], test_labels.shape, (len(test), classes))
    train = _labelled(file, seen, seen_labels)

    # The row of each node in [allx; tx; one empty row].
    row = np.full(nodes, seen.shape[0] + len(test))
    row[: seen.shape[0]] = np.arange(seen.shape[0])
    row[test] = seen.shape[0] + np.arange(len(test))
    features = sparse.vstack([seen, test_rows, sparse.csr_matrix((1, width), dtype=np.float32)], format="csr")[row]
    features.sort_indices()
    labels = np.concatenate([seen_labels.argmax(axis=1), test_labels.argmax(axis=1), [-1]])[row]
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels.astype(np.int64),
        classes=_class_names(source, classes, file["ally"]),
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[
            {
                "train": np.arange(train, dtype=np.int64),
                "val": np.arange(train, train + VALIDATION, dtype=np.int64),
                "test": np.sort(test),
            }
        ],
        undirected=edges.shape[1] < listed.shape[1],
        account=Account(
            files=(FileAccount(file["graph"].name, listed.shape[1], "edges"),),
            both_directions=edges.shape[1] < listed.shape[1],
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """All eight parts of one name.

    See `grandplus.datasets.formats.Format`.
    """
    parts = {match[2] for match in (_FILE.fullmatch(file.name) for file in files) if match}
    return asked if len(files) == len(parts) == len(PARTS) else None


def _parts(folder: Path, files: list[str]) -> dict[str, Path]:
    """{part: file}, of one dataset."""
    matches = [match for match in map(_FILE.fullmatch, files) if match]
    names = {match[1] for match in matches}
    parts = {match[2]: folder / match[0] for match in matches}
    if len(names) != 1 or set(parts) != set(PARTS):
        expected = f"ind.NAME.{{{','.join(PARTS)}}} of one NAME"
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=expected)
    return parts


def _matrix(file: Path) -> Any:
    """A CSR matrix of float32, without duplicates or explicit zeros."""
    matrix = load_pickle(file)
    if not isinstance(matrix, sparse.csr_matrix):
        raise GrandPlusError(f"holds a {type(matrix).__name__}", where=file, expected="a CSR matrix")
    return features_of(matrix, matrix.shape[0], file)


def _one_hot(file: Path) -> NDArray[Any]:
    """(rows, classes), with one 1 per row."""
    labels = load_pickle(file)
    if not isinstance(labels, np.ndarray) or labels.ndim != 2:
        raise GrandPlusError(f"holds a {type(labels).__name__}", where=file, expected="a matrix of labels")
    wrong = np.flatnonzero((labels == 1).sum(axis=1) + (labels != 0).sum(axis=1) != 2)
    if len(wrong):
        row = labels[wrong[0]].tolist()
        if row.count(0) + row.count(1) == len(row) and any(row):
            raise_multi_label(f"row {wrong[0]} has {row.count(1)} labels", file)
        raise GrandPlusError(f"row {wrong[0]} is {row}", where=file, expected="a single 1 among zeros")
    return labels


def _class_names(source: Source, count: int, where: object) -> list[str]:
    """The names of the classes in the card; else their numbers."""
    names = source.classes or [str(number) for number in range(count)]
    if len(names) != count:
        raise GrandPlusError(f"has {count} classes", where=where, expected=f"{len(names)}, as the card names them")
    return list(names)


def _test_index(file: Path, *, first: int) -> NDArray[np.int64]:
    """The test nodes' ids, in the order of tx's rows."""
    try:
        lines = file.read_bytes().split()
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    for number, line in enumerate(lines, start=1):
        if not line.isdigit() or not first <= int(line) < 2**31:
            raise GrandPlusError(
                f"line {number} is {line[:40].decode('latin1')!r}",
                where=file,
                expected=f"a node id of at least {first}, the number of rows in allx",
            )
    if not lines or len(set(map(int, lines))) != len(lines):
        raise GrandPlusError("is empty" if not lines else "names a node twice", where=file)
    return np.array([int(line) for line in lines], dtype=np.int64)


def _edges(file: Path, nodes: int) -> NDArray[np.int64]:
    """(2, E), the edges of {node: [neighbours]}."""
    graph = load_pickle(file)
    if not isinstance(graph, dict) or not all(isinstance(row, list) for row in graph.values()):
        raise GrandPlusError(f"holds a {type(graph).__name__}", where=file, expected="{node: [neighbours]}")
    for node in itertools.chain(graph, *graph.values()):
        if type(node) is not int or not 0 <= node < nodes:
            expected = f"0 to {nodes - 1}, the largest in test.index"
            raise GrandPlusError(f"names node {node!r}", where=file, expected=expected)
    if len(graph) != nodes:
        raise GrandPlusError(f"has {len(graph)} nodes", where=file, expected=f"{nodes}, as by test.index")
    degrees = [len(row) for row in graph.values()]
    start = np.repeat(np.fromiter(graph, np.int64), degrees)
    end = np.fromiter(itertools.chain.from_iterable(graph.values()), np.int64, sum(degrees))
    return np.stack([start, end])


def _once(listed: NDArray[np.int64]) -> NDArray[np.int64]:
    """One entry for each edge, if each is listed at both of its ends and a self-loop twice; else all entries."""
    forward, back = listed[:, listed[0] < listed[1]], listed[::-1, listed[0] > listed[1]]
    if sorted(zip(*forward.tolist(), strict=True)) != sorted(zip(*back.tolist(), strict=True)):
        return listed
    loops = listed[:, listed[0] == listed[1]][:, ::2]
    return np.concatenate([forward, loops], axis=1)


def _labelled(file: dict[str, Path], seen: Any, seen_labels: NDArray[Any]) -> int:
    """The number of labelled nodes, whose rows are in x and y again."""
    x, y = _matrix(file["x"]), _one_hot(file["y"])
    count = len(y)
    _check_shape(file["x"], x.shape, (count, seen.shape[1]))
    if count + VALIDATION > len(seen_labels):
        raise GrandPlusError(
            f"has {len(seen_labels)} rows",
            where=file["ally"],
            expected=f"at least {count} labelled and {VALIDATION} validation nodes",
        )
    if (x != seen[:count]).nnz:
        raise GrandPlusError("differs from the first rows of allx", where=file["x"])
    if not np.array_equal(y, seen_labels[:count]):
        raise GrandPlusError("differs from the first rows of ally", where=file["y"])
    return count


def _check_shape(file: Path, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if tuple(shape) != expected:
        shapes = [" x ".join(map(str, shape)) for shape in (shape, expected)]
        raise GrandPlusError(f"has shape {shapes[0]}", where=file, expected=f"{shapes[1]}, as by the other files")
