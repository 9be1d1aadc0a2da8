"""The raw layout of OGB's node property datasets, as text or, as papers100M-bin has it, as two ``.npz``.

Text: ``edge.csv.gz`` with two node numbers a line; ``node-label.csv.gz`` with a label a line and, if there are
features, ``node-feat.csv.gz`` with those of a node a line, both in the order of the nodes, which are numbered from 0;
and the counts in ``num-node-list.csv.gz`` and ``num-edge-list.csv.gz``. The text need not be compressed. Arrays:
``data.npz`` with ``edge_index`` (2, E) and ``node_feat`` (n, d), and ``node-label.npz`` with ``node_label``, which is
NaN where unknown. Either way ``split/NAME/train.csv.gz``, ``valid.csv.gz`` and ``test.csv.gz`` have the numbers of the
nodes of the split, one a line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import by_role
from grandplus.datasets.arrays.labels import labels_of, raise_multi_label
from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_npz
from grandplus.datasets.edge_weights import raise_several, raise_weighted, weights_read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.class_names import class_names
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.number_files import first_lines, read_columns, read_lines
from grandplus.datasets.tables.numbers import is_number
from grandplus.graph.adjacency import INT32_IDS
from grandplus.runtime.errors import GrandPlusError

EDGES, LABELS, FEATURES, EDGE_FEATURES = "edge.csv", "node-label.csv", "node-feat.csv", "edge-feat.csv"
COUNTS = ("num-node-list.csv", "num-edge-list.csv")
DATA, DATA_LABELS = "data.npz", "node-label.npz"
EDGE_ARRAY, FEATURE_ARRAY, LABEL_ARRAY, WEIGHT_ARRAY = "edge_index", "node_feat", "node_label", "edge_feat"
COUNT_ARRAYS = ("num_nodes_list", "num_edges_list")
PARTS = {"train.csv": "train", "valid.csv": "val", "test.csv": "test"}
SEVERAL_TYPES = ("num-node-dict.csv", "triplet-type-list.csv", "nodetype-has-feat.csv")  # of nodes or edges
PACKED = ".gz"  # text may be compressed
ROLES = {EDGES, LABELS, FEATURES, EDGE_FEATURES, *COUNTS, DATA, DATA_LABELS, *PARTS, *SEVERAL_TYPES}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the files; nodes are numbered as in them.

    See `grandplus.datasets.formats.Format`.
    """
    several = by_role(folder, files, SEVERAL_TYPES, packed=PACKED)
    if several:
        found = "is of a graph with several types of nodes or edges"
        expected = "one type of nodes and one of edges"
        raise GrandPlusError(found, where=next(iter(several.values())), expected=expected)
    held = by_role(folder, files, ROLES, packed=PACKED)
    if source.read.weights is None and EDGE_FEATURES in held:
        raise_weighted("has features of edges", held[EDGE_FEATURES])
    graph = _of_arrays(held, source) if DATA in held else _of_text(held, source)
    if EDGE_FEATURES in held and source.read.weights == "use":
        values = read_columns(held[EDGE_FEATURES], len(first_lines(held[EDGE_FEATURES])[0]), pa.float64())
        graph = replace(graph, weights=_weights(values, graph.edges.shape[1], source.read, held[EDGE_FEATURES]))
    split = {part: _listed(held[role], graph.nodes) for role, part in PARTS.items() if role in held}
    if split and not {"train", "val"} <= set(split):
        expected = f"{', '.join(PARTS)}, each perhaps with .gz"
        raise GrandPlusError(f"the split has {', '.join(split)} only", where=folder, expected=expected)
    lists = [FileAccount(held[role].name, len(split[part]), "nodes") for role, part in PARTS.items() if part in split]
    unused = [name for name in files if folder / name not in held.values()]
    account = Account((*graph.account.files, *lists), unused=(*graph.account.unused, *map(_why_unused, unused)))
    return replace(graph, splits=[split] if split else [], account=account)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """The files of edges and labels under OGB's names, and in OGB's form if they don't lie in OGB's folders.

    See `grandplus.datasets.formats.Format`.
    """
    held = {file.name.removesuffix(PACKED): file for file in files}
    if {DATA, DATA_LABELS} <= set(held):
        return asked if EDGE_ARRAY in keys_of(held[DATA]) else None
    if EDGES in held and LABELS not in held and set(COUNTS) <= set(held):
        fix = "put it beside the edges: a label a line, in the order of the nodes"
        raise GrandPlusError(f"has OGB's layout without {LABELS}.gz", where=held[EDGES].parent, fix=fix)
    if not {EDGES, LABELS} <= set(held):
        return None
    laid_out = {*COUNTS, *SEVERAL_TYPES} & set(held) or {held[EDGES].parent.name, held[LABELS].parent.name} == {"raw"}
    return asked if laid_out or _have_its_form(held[EDGES], held[LABELS]) else None


def _have_its_form(edges: Path, labels: Path) -> bool:
    """Whether files hold two whole numbers a line, and one number a line: no header, and no ids beside labels."""
    try:
        pairs, values = first_lines(edges), first_lines(labels)
    except GrandPlusError:
        return False
    return all(len(line) == 2 and "".join(line).isdecimal() for line in pairs) and all(
        len(line) == 1 and (is_number(line[0]) or not line[0]) for line in values
    )


def _why_unused(name: str) -> str:
    return f"{name} (a pickled split; --train and --val take lists)" if name.endswith("split_dict.pt") else name


def _of_text(held: dict[str, Path], source: Source) -> RawGraph:
    for role in (EDGES, LABELS):
        if role not in held:
            raise GrandPlusError(f"there is no {role}, or {role}.gz", where=next(iter(held.values())).parent)
    labels, classes = _labels(held[LABELS], source)
    nodes = len(labels)
    edges = read_columns(held[EDGES], _checked_width(held[EDGES], 2), pa.int64())
    counts = dict(zip(COUNTS, ((nodes, held[LABELS]), (len(edges), held[EDGES])), strict=True))
    for role, (count, file) in counts.items():
        if role in held:
            _check_count(held[role], count, file)
    features = None
    read_files = [FileAccount(held[EDGES].name, len(edges), "edges"), FileAccount(held[LABELS].name, nodes, "labels")]
    if FEATURES in held:
        width = len(first_lines(held[FEATURES])[0])
        features = features_of(read_columns(held[FEATURES], width, pa.float64(), rows=nodes), nodes, held[FEATURES])
        read_files.append(FileAccount(held[FEATURES].name, nodes, "nodes"))
    where = f"{held[EDGES]}, line"
    return _graph(_edges(edges.T, nodes, where, 1), nodes, features, labels, classes, Account(tuple(read_files)))


def _labels(file: Path, source: Source) -> tuple[NDArray[np.int64], list[str]]:
    if len(first_lines(file)[0]) > 1:
        raise_multi_label(f"has {len(first_lines(file)[0])} columns", file)
    lines = read_lines(file)
    for text, name in class_names(pc.unique(lines).to_pylist(), source.read.na).items():
        if name is not None and not is_number(text):
            found = f"line {pc.index(lines, text).as_py() + 1} is {text[:40]!r}"
            expected = "the number of a class, as OGB has them a line for each node, without a header and without ids"
            raise GrandPlusError(found, where=file, expected=expected)
    return class_numbers([lines], source, file, lambda row: f"line {row + 1}")


def _checked_width(file: Path, expected: int) -> int:
    width = len(first_lines(file)[0])
    if width != expected:
        raise GrandPlusError(f"has {width} columns", where=file, expected=f"{expected}, without a header")
    return width


def _check_count(file: Path, count: int, counted: Path) -> None:
    numbers = read_columns(file, _checked_width(file, 1), pa.int64())[:, 0]
    if len(numbers) != 1:
        raise GrandPlusError(f"has {len(numbers)} lines, so there are as many graphs", where=file, expected="one graph")
    if numbers[0] != count:
        raise GrandPlusError(f"says {numbers[0]:,}", where=file, expected=f"{count:,}, the lines of {counted.name}")


def _listed(file: Path, nodes: int) -> NDArray[np.int64]:
    """The nodes of a part of the split."""
    numbers: NDArray[np.int64] = read_columns(file, _checked_width(file, 1), pa.int64())[:, 0]
    wrong = np.flatnonzero((numbers < 0) | (numbers >= nodes))
    if len(wrong):
        found = f"line {wrong[0] + 1} names node {numbers[wrong[0]]}"
        raise GrandPlusError(found, where=file, expected=f"0 to {nodes - 1}, as there are {nodes} nodes")
    return np.sort(numbers)


def _of_arrays(held: dict[str, Path], source: Source) -> RawGraph:
    data, label_file = held[DATA], held.get(DATA_LABELS)
    if label_file is None:
        raise GrandPlusError(f"there is no {DATA_LABELS}", where=data.parent)
    check_npz(label_file, [LABEL_ARRAY])
    check_npz(data, [EDGE_ARRAY])
    stored = read_npz(label_file, LABEL_ARRAY)
    nodes = len(stored) if stored.ndim else 0
    labels, classes = labels_of(stored, nodes, source, f"{label_file}, {LABEL_ARRAY}")
    has_features = FEATURE_ARRAY in keys_of(data)
    features = None
    if has_features:
        features = features_of(read_npz(data, FEATURE_ARRAY), nodes, f"{data}, {FEATURE_ARRAY}")
    pairs, where = read_npz(data, EDGE_ARRAY), f"{data}, {EDGE_ARRAY}"
    if pairs.ndim != 2 or len(pairs) != 2 or pairs.dtype.kind not in "iu":
        raise GrandPlusError(f"is {described(pairs)}", where=where, expected="node numbers in two rows")
    others = sorted(keys_of(data) - {EDGE_ARRAY, FEATURE_ARRAY, *COUNT_ARRAYS})
    weights = [name for name in others if name.startswith("edge_")]
    if weights and source.read.weights is None:
        raise_weighted(f"has features of edges: {', '.join(weights)}", data)
    used = None
    if source.read.weights == "use" and WEIGHT_ARRAY in others:
        others.remove(WEIGHT_ARRAY)
        used = _weights(read_npz(data, WEIGHT_ARRAY), pairs.shape[1], source.read, f"{data}, {WEIGHT_ARRAY}")
    account = Account(
        (FileAccount(data.name, pairs.shape[1], "edges"), FileAccount(label_file.name, nodes, "labels")),
        unused=tuple(f"{data.name}, {name}" for name in others),
    )
    graph = _graph(_edges(pairs, nodes, f"{where}, column", 0), nodes, features, labels, classes, account)
    return replace(graph, weights=used)


def _weights(values: NDArray[Any], edges: int, how: Reading, where: object) -> NDArray[np.float32] | None:
    """The column of edge features that holds the weights: the one whose number, from 1, is given, or the only one."""
    if values.ndim != 2 or len(values) != edges:
        raise GrandPlusError(f"is {described(values)}", where=where, expected=f"{edges} rows, one an edge")
    numbers = range(1, values.shape[1] + 1)
    if how.weight is not None and how.weight not in numbers:
        raise GrandPlusError(f"has no column {how.weight}", where=where, expected=f"1 to {values.shape[1]}")
    if how.weight is None and len(numbers) != 1:
        raise_several(numbers, where)
    return weights_read(values[:, int(how.weight or 1) - 1], how, where)


def _edges(pairs: NDArray[Any], nodes: int, where: str, first: int) -> NDArray[Any]:
    """(2, E), of nodes that there are; the first edge stands at a place of this number."""
    for row in pairs:
        if len(row) and (row.min() < 0 or row.max() >= nodes):
            wrong = int(np.flatnonzero((row < 0) | (row >= nodes))[0])
            expected = f"0 to {nodes - 1}, as there are {nodes} labels, and nodes are numbered from 0"
            raise GrandPlusError(f"names node {row[wrong]}", where=f"{where} {wrong + first}", expected=expected)
    return np.ascontiguousarray(pairs, np.int32 if nodes <= INT32_IDS else np.int64)


def _graph(
    edges: NDArray[Any],
    nodes: int,
    features: Any,
    labels: NDArray[np.int64],
    classes: list[str],
    account: Account,
) -> RawGraph:
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[],
        account=account,
    )
