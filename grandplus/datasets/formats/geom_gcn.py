"""Files of geom-gcn: ``*_graph_edges.txt``, ``*_graph_node_features_labels.txt`` and splits.

Both texts are separated by tabs and have a header: node_id, node_id; and node_id, feature, label, where the second may
be feature(feature_amount:931). Lines may have any order. A feature is a list of numbers between commas: values, or
the numbers of the features that the node has. A split is an ``.npz`` with train_mask, val_mask and test_mask, over
nodes in the order of their ids; each trial takes one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_npz
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.feature_files import of_lists
from grandplus.datasets.tables.ids import as_numpy, check_unique, ids_of, known_rows, order_of, same_type
from grandplus.datasets.tables.table import Table, look
from grandplus.runtime.errors import GrandPlusError

COLUMNS = ["node_id", "feature", "label"]
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
    return _graph(next(table for table in tables if table not in nodes), nodes[0], _splits(paths), source)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """A text with this header, one more, and any splits.

    See `grandplus.datasets.formats.Format`.
    """
    texts = [file for file in files if file.suffix == ".txt"]
    others = [file for file in files if file not in texts]
    if len(texts) != 2 or not all(set(MASKS.values()) <= keys_of(file) for file in others):
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
    return [name.partition("(")[0] for name in names or []] == COLUMNS


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
    return RawGraph(
        edges=np.stack([known_rows(end, ids, edges, nodes.file.name) for end in (starts, stops)]),
        nodes=len(ids),
        features=features,
        labels=numbers[order],
        classes=classes,
        node_ids=as_numpy(ids),
        splits=[split for file, parts in masks for split in splits_of(parts, len(ids), file)],
    )


def _features(lists: pa.Array, nodes: Table) -> Any:
    """From lists as text."""
    parts = pc.split_pattern(lists, ",")
    lengths = pc.list_value_length(parts).to_numpy(zero_copy_only=False).astype(np.int64)
    text = parts.flatten()
    for kind in (pa.int64(), pa.float64()):
        try:
            return of_lists(lengths, text.cast(kind).to_numpy(), nodes.line, nodes.file)
        except pa.ArrowInvalid as error:
            failed = error
    raise GrandPlusError(f"column feature can't be read: {failed}", where=nodes.file, expected="numbers between commas")
