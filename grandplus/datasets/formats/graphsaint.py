"""Files of GraphSAINT: ``adj_full.npz``, ``feats.npy``, ``class_map.json`` and ``role.json``.

The first is a matrix as scipy saves it, the second has a row for each node, and both may have further matrices beside
them, of which only the adjacency of all nodes counts. ``class_map.json`` has the class of each node by its number, or
0 and 1 for each class. ``role.json`` lists the nodes to train on (tr), validate on (va) and test on (te). Features and
roles may be missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount, zero_weights
from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import by_role, read_npy
from grandplus.datasets.arrays.json_files import read_json_object
from grandplus.datasets.arrays.labels import labels_of, raise_multi_label
from grandplus.datasets.arrays.npz import read_scipy_npz
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.runtime.errors import GrandPlusError

ADJACENCY, FEATURES, CLASSES, ROLES = "adj_full.npz", "feats.npy", "class_map.json", "role.json"
PARTS = {"tr": "train", "va": "val", "te": "test"}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the files; nodes are numbered as in the adjacency.

    See `grandplus.datasets.formats.Format`.
    """
    held = by_role(folder, files, (ADJACENCY, FEATURES, CLASSES, ROLES))
    for role in (ADJACENCY, CLASSES):
        if role not in held:
            raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"a file {role}")
    matrix = read_scipy_npz(held[ADJACENCY])
    (edges, weights), nodes = edges_of(matrix, source, held[ADJACENCY]), matrix.shape[0]
    entries = matrix.nnz
    del matrix  # it may be large, and so may the next part
    labels, classes = _labels(held[CLASSES], nodes, source)
    features = features_of(read_npy(held[FEATURES]), nodes, held[FEATURES]) if FEATURES in held else None
    counts = {ADJACENCY: (entries, "edges"), FEATURES: (nodes, "nodes"), CLASSES: (nodes, "labels")}
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[_split(held[ROLES], nodes)] if ROLES in held else [],
        weights=weights,
        account=Account(
            files=tuple(FileAccount(role, *counts[role]) for role in counts if role in held),
            unused=tuple(name for name in files if folder / name not in held.values()),
            dropped=zero_weights(entries, edges.shape[1]),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """The adjacency and the classes, under GraphSAINT's names.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if {ADJACENCY, CLASSES} <= {file.name for file in files} else None


def _labels(file: Path, nodes: int, source: Source) -> tuple[NDArray[np.int64], list[str]]:
    """The labels; a node that is not named has none."""
    class_of = read_json_object(file)
    numbers = _numbers(list(class_of), nodes, file)
    values = list(class_of.values())
    if not any(isinstance(value, list) for value in values):
        wrong = next((position for position, value in enumerate(values) if not _is_class(value)), None)
        if wrong is not None:
            found = f"node {numbers[wrong]} has {values[wrong]!r:.40}"
            raise GrandPlusError(found, where=file, expected="a class: a whole number, text or null")
        texts: list[str | None] = [None] * nodes
        for number, value in zip(numbers, values, strict=True):
            texts[number] = None if value is None else str(value)
        return class_numbers([pa.array(texts, pa.large_string())], source, file, lambda row: f"node {row}")
    width = len(values[0]) if isinstance(values[0], list) else 0
    for number, value in zip(numbers, values, strict=True):
        if not isinstance(value, list) or len(value) != width or any(type(mark) is not int for mark in value):
            expected = f"{width} numbers, 0 or 1, as node {numbers[0]} has them"
            raise GrandPlusError(f"node {number} has {value!r:.40}", where=file, expected=expected)
        if sum(value) > 1:
            raise_multi_label(f"node {number} has {sum(value)} labels", file)
    rows = np.zeros((nodes, width), np.int64)
    rows[numbers] = values
    return labels_of(rows, nodes, source, file)


def _is_class(value: Any) -> bool:
    return value is None or (isinstance(value, int | str) and not isinstance(value, bool))


def _numbers(keys: list[Any], nodes: int, where: object) -> list[int]:
    """The numbers of nodes, of which none repeats."""
    numbers = []
    for key in keys:
        text = str(key)
        if isinstance(key, bool) or not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) >= nodes:
            expected = f"0 to {nodes - 1}, as {ADJACENCY} has {nodes} rows"
            raise GrandPlusError(f"names node {key!r:.40}", where=where, expected=expected)
        numbers.append(int(text))
    if len(set(numbers)) < len(numbers):
        raise GrandPlusError("names a node twice", where=where, expected="each node once")
    return numbers


def _split(file: Path, nodes: int) -> dict[str, NDArray[np.int64]]:
    role = read_json_object(file)
    unknown = sorted(set(role) - set(PARTS))
    if unknown or not {"tr", "va"} <= set(role) or not all(isinstance(listed, list) for listed in role.values()):
        found = f"holds {', '.join(role) or 'nothing'}"
        raise GrandPlusError(found, where=file, expected="lists of nodes called tr, va and te")
    return {
        part: np.sort(np.array(_numbers(role[key], nodes, f"{file}, {key}"), np.int64))
        for key, part in PARTS.items()
        if key in role
    }
