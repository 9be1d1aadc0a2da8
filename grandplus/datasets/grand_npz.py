"""GRAND+'s arrays (Reddit, Amazon2M): ``NAME_adj.npz``, ``NAME_feat.npy`` and ``NAME_labels.npy``.

A matrix as ``scipy.sparse.save_npz`` writes it; an array; one-hot rows or class numbers.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from grandplus.datasets.arrays import class_names, edges_of, features_of, labels_of, pick, read_npy
from grandplus.datasets.npz import check_npz
from grandplus.datasets.raw import RawGraph
from grandplus.errors import GrandPlusError
from grandplus.settings import Source

# What reading a damaged or another matrix can raise.
_DAMAGE = (zipfile.BadZipFile, zlib.error, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the three files, the features memory-mapped; nodes are numbered as in them, and there is no split.

    Raises
    ------
    GrandPlusError : a file is missing, damaged, or disagrees with the others.
    """
    adjacency, features, labels = (pick(folder, files, suffix) for suffix in ("_adj.npz", "_feat.npy", "_labels.npy"))
    matrix = _matrix(adjacency)
    edges, nodes = edges_of(matrix, adjacency), matrix.shape[0]
    del matrix
    numbers, classes = labels_of(read_npy(labels), nodes, labels)
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(read_npy(features), nodes, features),
        labels=numbers,
        classes=class_names(source, classes, labels),
        node_ids=np.arange(nodes, dtype=np.int64),
        splits={},
    )


def _matrix(file: Path) -> Any:
    check_npz(file, ["format", "shape", "data"])
    try:
        return sparse.load_npz(file)
    except _DAMAGE as error:
        raise GrandPlusError(f"is no sparse matrix: {error}", where=file) from None
