"""LINQS files: ``NAME.content`` (id, a 0 or 1 per word, class) and ``NAME.cites`` (cited id, citing id).

Both are lines of fields between tabs, which end with LF or CRLF. A file of node order is a ``.npy`` with the row in
NAME.content of each node in Planetoid's order. With it, nodes have Planetoid's ids (0..n-1) and its split. Without it,
they have the ids of the file and are in their order, and there is no split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.files import pick
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.ids import as_numpy, order_of, same_type
from grandplus.datasets.tables.known_ids import named_ids
from grandplus.runtime.errors import GrandPlusError

# Planetoid's public split of Cora, in Planetoid's node order: 20 a class, then 500; the last 1,000.
TRAIN, VALIDATION, TEST = 140, 500, 1000


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read both files.

    See `grandplus.datasets.formats.Format`.
    """
    content, cites = pick(folder, files, ".content"), pick(folder, files, ".cites")
    ids, features, names = _content(content)
    names_of_nodes = same_type([pa.array(list(ids), pa.large_string())])[0]
    rows = order_of(names_of_nodes) if order is None else _order(order, len(ids))
    node_of_row = np.empty(len(ids), dtype=np.int64)
    node_of_row[rows] = np.arange(len(ids))
    labels, classes = class_numbers(
        [pa.array(names, pa.large_string())], source, content, lambda row: f"line {row + 1}"
    )
    edges = node_of_row[_cites(cites, ids)]
    return RawGraph(
        edges=edges,
        nodes=len(ids),
        features=sparse.csr_matrix(features[rows]),
        labels=labels[rows],
        classes=classes,
        node_ids=as_numpy(names_of_nodes.take(pa.array(rows))) if order is None else np.arange(len(ids)),
        splits=[] if order is None else [_planetoid_split(len(ids), order)],
        account=Account(
            (FileAccount(cites.name, edges.shape[1], "edges"), FileAccount(content.name, len(ids), "nodes")),
            ids=named_ids(list(edges), len(ids)),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file of each kind.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if sorted(file.suffix for file in files) == [".cites", ".content"] else None


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None


def _content(file: Path) -> tuple[dict[str, int], NDArray[np.float32], list[str]]:
    """{id: row}, (n, d) features and the class name of each row."""
    lines = _lines(file)
    if not lines or lines[0].count(b"\t") < 2:
        raise GrandPlusError("line 1 has fewer than 3 fields", where=file, expected="id, words and class between tabs")
    width = lines[0].count(b"\t") - 1
    ids: dict[str, int] = {}
    names, words = [], []
    for number, line in enumerate(lines, start=1):
        ident, _, rest = line.partition(b"\t")
        middle, _, name = rest.rpartition(b"\t")
        # Each word is one character, with a tab between two words: the length tells how many there are.
        if len(middle) != 2 * width - 1 or not ident or not name:
            expected = f"an id, {width} words of 0 or 1, and a class, as by line 1"
            raise GrandPlusError(f"line {number} has other fields", where=file, expected=expected)
        text = _text(ident, file, number)
        if text in ids:
            raise GrandPlusError(f"line {number} has the id {text} of line {ids[text] + 1}", where=file)
        ids[text] = number - 1
        names.append(_text(name, file, number))
        words.append(middle)
    return ids, _words(file, words, width), names


def _words(file: Path, lines: list[bytes], width: int) -> NDArray[np.float32]:
    characters = np.frombuffer(b"\t".join([*lines, b""]), np.uint8).reshape(len(lines), 2 * width)
    words, tabs = characters[:, ::2] - ord("0"), characters[:, 1::2]
    wrong = np.argwhere((words > 1) | (tabs != ord("\t")))
    if len(wrong):
        line, word = wrong[0] + 1
        raise GrandPlusError(f"line {line}, word {word} is something else", where=file, expected="0 or 1")
    return words.astype(np.float32)


def _cites(file: Path, ids: dict[str, int]) -> NDArray[np.int64]:
    """(2, E): rows of the cited and the citing paper."""
    edges = []
    for number, line in enumerate(_lines(file), start=1):
        pair = _text(line, file, number).split("\t")
        if len(pair) != 2:
            raise GrandPlusError(f"line {number} has {len(pair)} fields", where=file, expected="2 ids")
        for ident in pair:
            if ident not in ids:
                expected = "an id that the .content file has"
                raise GrandPlusError(f"line {number} cites unknown paper {ident!r}", where=file, expected=expected)
        edges.append((ids[pair[0]], ids[pair[1]]))
    return np.array(edges, dtype=np.int64).reshape(-1, 2).T


def _text(field: bytes, file: Path, line: int) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError:
        raise GrandPlusError(f"line {line} is not UTF-8", where=file) from None


def _order(file: Path, nodes: int) -> NDArray[np.int64]:
    try:
        rows: NDArray[Any] = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise GrandPlusError(f"can't be read: {error}", where=file) from None
    if not isinstance(rows, np.ndarray) or not np.array_equal(np.sort(rows, axis=None), np.arange(nodes)):
        raise GrandPlusError("is no order", where=file, expected=f"each of the rows 0 to {nodes - 1} once")
    return rows.astype(np.int64)


def _planetoid_split(nodes: int, order: Path) -> dict[str, NDArray[np.int64]]:
    if nodes < TRAIN + VALIDATION + TEST:
        expected = f"at least {TRAIN + VALIDATION + TEST}, for Planetoid's split of Cora"
        raise GrandPlusError(f"orders {nodes} nodes", where=order, expected=expected)
    every = np.arange(nodes, dtype=np.int64)
    return {"train": every[:TRAIN], "val": every[TRAIN : TRAIN + VALIDATION], "test": every[-TEST:]}
