"""GRAND's pickles (AMiner-CS): ``NAME.adj.sp.pkl``, ``NAME.features.pkl`` and ``NAME.labels.pkl``.

A scipy sparse matrix; an array or a sparse matrix; one-hot rows or class numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.arrays import edges_of, features_of, labels_of, pick
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.unpickle import load_pickle
from grandplus.settings import Reading, Source

SUFFIXES = (".adj.sp.pkl", ".features.pkl", ".labels.pkl")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the three files; nodes are numbered as in them, and there is no split.

    Raises
    ------
    GrandPlusError : a file is missing, damaged, or disagrees with the others.
    """
    adjacency, features, labels = (pick(folder, files, suffix) for suffix in SUFFIXES)
    matrix: Any = load_pickle(adjacency)
    edges, nodes = edges_of(matrix, source, adjacency), matrix.shape[0]
    del matrix
    numbers, classes = labels_of(load_pickle(labels), nodes, source, labels)
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(load_pickle(features), nodes, features),
        labels=numbers,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file of each name's end."""
    ends = [suffix for file in files for suffix in SUFFIXES if file.name.endswith(suffix)]
    return asked if len(files) == len(ends) == len(set(ends)) == len(SUFFIXES) else None
