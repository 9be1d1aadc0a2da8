"""MAG-Scholar's file: one ``.npz`` with two CSR matrices, taken apart, and class numbers.

Keys: ``adj_matrix.*`` and ``attr_matrix.*``, each with data, indices, indptr and shape, and ``labels``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from grandplus.datasets.arrays import check_compressed, class_names, described, edges_of, features_of, labels_of, pick
from grandplus.datasets.npz import check_npz, read_npz
from grandplus.datasets.raw import RawGraph
from grandplus.errors import GrandPlusError
from grandplus.settings import Source

_PARTS = ("data", "indices", "indptr", "shape")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it, and there is no split.

    Raises
    ------
    GrandPlusError : the file is missing or damaged, or a part of it disagrees with the others; with its key.
    """
    file = pick(folder, files, ".npz")
    check_npz(file, [*(f"{name}.{part}" for name in ("adj_matrix", "attr_matrix") for part in _PARTS), "labels"])
    adjacency = _matrix(file, "adj_matrix")
    edges, nodes = edges_of(adjacency, f"{file}, adj_matrix"), adjacency.shape[0]
    del adjacency
    numbers, classes = labels_of(read_npz(file, "labels"), nodes, f"{file}, labels")
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(_matrix(file, "attr_matrix"), nodes, f"{file}, attr_matrix"),
        labels=numbers,
        classes=class_names(source, classes, f"{file}, labels"),
        node_ids=np.arange(nodes, dtype=np.int64),
        splits={},
    )


def _matrix(file: Path, name: str) -> Any:
    """A CSR matrix whose parts fit each other."""
    data, indices, indptr, shape = (read_npz(file, f"{name}.{part}") for part in _PARTS)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise GrandPlusError(f"{name}.shape is {shape.tolist()}", where=file, expected="rows and columns")
    rows, columns = map(int, shape)
    if indptr.shape != (rows + 1,):
        found = f"{name}.indptr is {described(indptr)}"
        raise GrandPlusError(found, where=file, expected=f"{rows + 1} integers, as by {name}.shape")
    if data.shape != indices.shape or data.dtype.kind not in "fiub":
        found = f"{name}.data is {described(data)}"
        raise GrandPlusError(found, where=file, expected=f"numbers of shape {indices.shape}, as {name}.indices")
    check_compressed(indptr, indices, columns, file, prefix=f"{name}.")
    return sparse.csr_matrix((data, indices, indptr), shape=(rows, columns))
