"""GRAND+'s arrays (Reddit, Amazon2M): ``NAME_adj.npz``, ``NAME_feat.npy`` and ``NAME_labels.npy``.

A matrix as ``scipy.sparse.save_npz`` writes it; an array; one-hot rows or class numbers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from grandplus.datasets.arrays import edges_of, features_of, labels_of, pick, read_npy
from grandplus.datasets.npz import read_scipy_npz
from grandplus.datasets.raw import RawGraph
from grandplus.settings import Reading, Source

SUFFIXES = ("_adj.npz", "_feat.npy", "_labels.npy")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the three files, the features memory-mapped; nodes are numbered as in them, and there is no split.

    Raises
    ------
    GrandPlusError : a file is missing, damaged, or disagrees with the others.
    """
    adjacency, features, labels = (pick(folder, files, suffix) for suffix in SUFFIXES)
    matrix = read_scipy_npz(adjacency)
    edges, nodes = edges_of(matrix, source, adjacency), matrix.shape[0]
    del matrix
    numbers, classes = labels_of(read_npy(labels), nodes, source, labels)
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(read_npy(features), nodes, features),
        labels=numbers,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file of each name's end."""
    ends = [suffix for file in files for suffix in SUFFIXES if file.name.endswith(suffix)]
    return asked if len(files) == len(ends) == len(set(ends)) == len(SUFFIXES) else None
