"""Files of geom-gcn: ``*_graph_edges.txt``, ``*_graph_node_features_labels.txt`` and splits.

Both texts are separated by tabs and have a header: node_id, node_id; and node_id, feature, label, where the second may
be feature(feature_amount:931). Lines may have any order. A feature is a list of numbers between commas: values, or
the numbers of the features that the node has. A split is an ``.npz`` with train_mask, val_mask and test_mask, over
nodes in the order of their ids; each trial takes one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_npz
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.feature_files import have_repeats, positions_of, vectors_of
from grandplus.datasets.tables.ids import as_numpy, check_unique, ids_of, order_of, same_type
from grandplus.datasets.tables.known_ids import known_rows, named_ids
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

COLUMNS = ["node_id", "feature", "label"]
_AMOUNT = re.compile(r"feature_amount:\s*([0-9]{1,10})\s*\)")  # in the header of the features
MASKS = {"train": "train_mask", "val": "val_mask", "test": "test_mask"}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the files; nodes are in the order of their ids, splits in that of their files' names.

    See `grandplus.datasets.formats.Format`.
    """
    paths = [folder / name for name in files]
    tables = [look(file, header=True) for file in paths if file.suffix == ".txt"]
    nodes = [table for table in tables if _is_header(table.names)]
    if len(tables) != 2 or len(nodes) != 1:
        expected = f"a file of edges, and one with the header {' '.join(COLUMNS)}"
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=expected)
    graph = _graph(next(table for table in tables if table not in nodes), nodes[0], _splits(paths), source)
    unused = [name for name, path in zip(files, paths, strict=True) if path.suffix not in (".txt", ".npz")]
    return replace(graph, account=replace(graph.account, unused=tuple(unused)))


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """A text with this header, one more, and any splits; and files of other kinds, which are not used.

    See `grandplus.datasets.formats.Format`.
    """
    texts = [file for file in files if file.suffix == ".txt"]
    splits = [file for file in files if file.suffix == ".npz"]
    if len(texts) != 2 or not all(set(MASKS.values()) <= keys_of(file) for file in splits):
        return None
    return asked if sum(_is_node_file(file) for file in texts) == 1 else None


def _is_node_file(file: Path) -> bool:
    with file.open("rb") as stream:
        return _is_header(stream.readline(100).decode("latin1").split())


def _is_header(names: list[str] | None) -> bool:
    """Whether the columns are those of nodes; that of features may say how many there are.

    >>> _is_header(["node_id", "feature(feature_amount:931)", "label"])
    True
    """
    return [name.partition("(")[0].strip() for name in names or []] == COLUMNS


def _splits(paths: list[Path]) -> list[tuple[Path, dict[str, Any]]]:
    """The masks of each split."""
    splits = []
    for file in sorted(path for path in paths if path.suffix == ".npz"):
        check_npz(file, MASKS.values())
        splits.append((file, {part: read_npz(file, key) for part, key in MASKS.items()}))
    return splits


def _graph(edges: Table, nodes: Table, masks: list[tuple[Path, dict[str, Any]]], source: Source) -> RawGraph:
    starts, stops, ids = same_type(*ids_of(edges, [0, 1]), *ids_of(nodes, [0]))
    check_unique(ids, nodes)
    order = order_of(ids)
    lists, labels = zip(*nodes.pieces([1, 2]), strict=True)
    numbers, classes = class_numbers(list(labels), source, f"{nodes.file}, column label", nodes.line)
    features = _features(pa.chunked_array(lists).combine_chunks(), nodes)[order]
    ids = ids.take(pa.array(order))
    if edges.names and pc.index(ids.cast(pa.large_string()), edges.names[0]).as_py() >= 0:
        found = f"begins with {' '.join(edges.names)}, of which the first is a node"
        raise GrandPlusError(found, where=edges.file, expected="a header above the edges: node_id, node_id")
    rows = [known_rows(end, ids, edges, nodes.file.name) for end in (starts, stops)]
    return RawGraph(
        edges=np.stack(rows),
        nodes=len(ids),
        features=features,
        labels=numbers[order],
        classes=classes,
        node_ids=as_numpy(ids),
        splits=[split for file, parts in masks for split in splits_of(parts, len(ids), file)],
        account=Account(
            (
                FileAccount(edges.file.name, len(starts), "edges", edges.skipped_lines()),
                FileAccount(nodes.file.name, len(ids), "nodes", nodes.skipped_lines()),
            ),
            ids=named_ids(rows, len(ids)),
        ),
    )


def _features(lists: pa.Array, nodes: Table) -> Any:
    """From lists as text: the numbers of features if the header says how many there are, else values.

    Without this header, lists of different lengths without repeated numbers are numbers of features, too.
    """
    where = f"{nodes.file}, column feature"
    lengths, values = _numbers(lists, where)
    amount = _AMOUNT.search(nodes.names[1] if nodes.names else "")
    if amount is not None:
        right = (values >= 0) & (values == np.floor(values)) & (values <= int(amount[1]))
        if not right.all():
            wrong = int(right.argmin())
            found = f"{nodes.line(int(np.repeat(np.arange(len(lengths)), lengths)[wrong]))} has {values[wrong]}"
            raise GrandPlusError(
                found, where=where, expected=f"numbers of features up to {amount[1]}, as by the header"
            )
        return positions_of(lengths, values.astype(np.int64), nodes.line, where)
    whole = values.dtype.kind == "i" and values.min(initial=0) >= 0
    equal = not np.any(lengths != lengths[:1])
    if whole and values.max(initial=0) > 1 and not have_repeats(lengths, values):
        if not equal:
            return positions_of(lengths, values, nodes.line, where)
        found = "may hold values or numbers of features: all lists are as long, and none has a number twice"
        fix = "for numbers of features, write feature(feature_amount:N) into the header; else write values as 1.0"
        raise GrandPlusError(found, where=where, expected="either", fix=fix)
    return vectors_of(lengths, values, nodes.line, where)


def _numbers(lists: pa.Array, where: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Lengths of lists, and their numbers one after the other: int64 if all are written as whole numbers."""
    parts = pc.split_pattern(lists, ",")
    filled = pc.not_equal(lists, "")
    lengths = np.where(np.asarray(filled), np.asarray(pc.list_value_length(parts)), 0).astype(np.int64)
    text = pc.utf8_trim_whitespace(parts.filter(filled).flatten())
    for kind in (pa.int64(), pa.float64()):
        try:
            return lengths, np.asarray(text.cast(kind))
        except pa.ArrowInvalid as error:
            failed = error
    raise GrandPlusError(f"can't be read: {failed}", where=where, expected="numbers between commas")
