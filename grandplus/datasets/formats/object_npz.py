"""One ``.npz`` with pickled scipy matrices in it: the GraphData collection.

Keys: ``adj_matrix``, ``node_attr`` (which may lack) and ``node_label``. Only what ``load_pickle`` allows is unpickled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.arrays import edges_of, features_of, labels_of, pick
from grandplus.datasets.npz import check_npz, keys_of, read_npz_object
from grandplus.datasets.raw import RawGraph
from grandplus.settings import Reading, Source

EDGES, FEATURES, LABELS = "adj_matrix", "node_attr", "node_label"


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it, and there is no split.

    Raises
    ------
    GrandPlusError : the file is missing or damaged, wants more than data unpickled, or a part disagrees.
    """
    file = pick(folder, files, ".npz")
    check_npz(file, [EDGES, LABELS], objects=True)
    adjacency: Any = read_npz_object(file, EDGES)
    edges, nodes = edges_of(adjacency, source, f"{file}, {EDGES}"), adjacency.shape[0]
    labels, classes = labels_of(read_npz_object(file, LABELS), nodes, source, f"{file}, {LABELS}")
    features = None
    if FEATURES in keys_of(file):
        features = features_of(read_npz_object(file, FEATURES), nodes, f"{file}, {FEATURES}")
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One ``.npz`` with these keys."""
    return asked if len(files) == 1 and {EDGES, LABELS} <= keys_of(files[0]) else None
