"""One ``.npz`` with a list of edges and masks: the heterophilous-graphs collection, and what ``save_dataset`` writes.

Keys: ``edges`` (E, 2), ``node_labels`` (n,), numbers or text, ``node_features`` (n, d), or as CSR
``node_features_data``, ...; ``feature_names`` (d,) of text; ``node_ids`` (n,), whole numbers or text;
``train_masks``, ``val_masks`` and ``test_masks`` (splits, n); ``edge_weights`` (E,). All but edges and labels are
optional.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_csr, read_npz
from grandplus.datasets.edge_weights import check_unnamed, weights_read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.runtime.errors import GrandPlusError

EDGES, FEATURES, LABELS, WEIGHTS = "edges", "node_features", "node_labels", "edge_weights"
FEATURE_NAMES, NODE_IDS = "feature_names", "node_ids"
_KEYS = {EDGES, FEATURES, LABELS, WEIGHTS, FEATURE_NAMES, NODE_IDS, "train_masks", "val_masks", "test_masks"}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, ".npz")
    check_npz(file, [EDGES, LABELS])
    held, stored_labels = keys_of(file), read_npz(file, LABELS)
    nodes = len(stored_labels) if stored_labels.ndim else 0
    where = f"{file}, {LABELS}"
    ids = _node_ids(file, nodes) if NODE_IDS in held else np.arange(nodes, dtype=np.int64)

    def name(row: int) -> str:
        return f"node {ids[row]}"

    if stored_labels.dtype.kind == "U" and stored_labels.ndim == 1:
        texts = pa.array(stored_labels, pa.large_string())
        labels, classes = class_numbers([texts], source, where, name)
    else:
        labels, classes = labels_of(stored_labels, nodes, source, where, name)
    features = None
    if FEATURES in held or f"{FEATURES}_indptr" in held:
        stored: Any = read_npz(file, FEATURES) if FEATURES in held else read_csr(file, f"{FEATURES}_")
        features = features_of(
            stored, nodes, f"{file}, {FEATURES}", lambda row, column: f"{name(row)}, column {column}"
        )
    masks = {part: read_npz(file, key) for part in ("train", "val", "test") if (key := f"{part}_masks") in held}
    edges = _edges(read_npz(file, EDGES), nodes, f"{file}, {EDGES}")
    weights = _weights(file, edges.shape[1], source.read) if WEIGHTS in held else None
    unused = [key for key in sorted(held) if not key.startswith(f"{FEATURES}_") and key not in _KEYS]
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=ids,
        splits=splits_of(masks, nodes, file),
        feature_names=_feature_names(file, features) if FEATURE_NAMES in held else None,
        weights=weights,
        account=Account(
            (
                FileAccount(f"{file.name}, {EDGES}", edges.shape[1], "edges"),
                FileAccount(f"{file.name}, {LABELS}", nodes, "labels"),
            ),
            unused=tuple(f"{file.name}, {key}" for key in unused),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One ``.npz`` with these keys.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if len(files) == 1 and {EDGES, LABELS} <= keys_of(files[0]) else None


def _weights(file: Path, edges: int, how: Reading) -> NDArray[np.float32] | None:
    values, where = read_npz(file, WEIGHTS), f"{file}, {WEIGHTS}"
    check_unnamed(how, where)
    if values.shape != (edges,) or values.dtype.kind not in "biuf":
        raise GrandPlusError(f"is {described(values)}", where=where, expected=f"{edges} numbers, one an edge")
    return weights_read(values, how, where)


def _node_ids(file: Path, nodes: int) -> NDArray[Any]:
    ids = read_npz(file, NODE_IDS)
    if ids.shape != (nodes,) or ids.dtype.kind not in "iuU" or len(np.unique(ids)) < nodes:
        expected = f"{nodes} different whole numbers or texts"
        raise GrandPlusError(f"is {described(ids)}", where=f"{file}, {NODE_IDS}", expected=expected)
    return ids.astype(object if ids.dtype.kind == "U" else np.int64)


def _feature_names(file: Path, features: Any) -> list[str]:
    names, width = read_npz(file, FEATURE_NAMES), 0 if features is None else features.shape[1]
    if names.shape != (width,) or names.dtype.kind != "U":
        expected = f"{width} texts, as there are {width} features"
        raise GrandPlusError(f"is {described(names)}", where=f"{file}, {FEATURE_NAMES}", expected=expected)
    return [str(name) for name in names]


def _edges(pairs: NDArray[Any], nodes: int, where: str) -> NDArray[np.int64]:
    """(2, E), from (E, 2)."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise GrandPlusError(f"is {described(pairs)}", where=where, expected="pairs of node numbers")
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= nodes)).any(axis=1))
    if len(wrong):
        row = wrong[0]
        expected = f"nodes from 0 to {nodes - 1}, as there are {nodes} labels"
        raise GrandPlusError(f"row {row} is {pairs[row].tolist()}", where=where, expected=expected)
    return np.ascontiguousarray(pairs.T.astype(np.int64, copy=False))
