"""DGL's Reddit: ``reddit_data.npz`` and ``reddit_graph.npz``.

The first has ``feature`` (n, d), ``label`` (n,), and ``node_types`` (n,), which is 1 for nodes to train on, 2 for those
to validate on, and 3 for those to test on. The second is the adjacency as scipy saves it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount, zero_weights
from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_npz, read_scipy_npz
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

FEATURES, LABELS, ROLES = "feature", "label", "node_types"
PARTS = {1: "train", 2: "val", 3: "test"}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the files; nodes are numbered as in them.

    See `grandplus.datasets.formats.Format`.
    """
    data, adjacency = _pair([folder / name for name in files]) or _raise_others(folder, files)
    check_npz(data, [FEATURES, LABELS, ROLES])
    matrix = read_scipy_npz(adjacency)
    (edges, weights), nodes = edges_of(matrix, source, adjacency), matrix.shape[0]
    entries = matrix.nnz
    del matrix  # it may be large, and so may the next part
    labels, classes = labels_of(read_npz(data, LABELS), nodes, source, f"{data}, {LABELS}")
    others = sorted(keys_of(data) - {FEATURES, LABELS, ROLES})
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(read_npz(data, FEATURES), nodes, f"{data}, {FEATURES}"),
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=[_split(read_npz(data, ROLES), nodes, f"{data}, {ROLES}")],
        weights=weights,
        account=Account(
            (FileAccount(adjacency.name, entries, "edges"), FileAccount(data.name, nodes, "nodes")),
            unused=tuple(f"{data.name}, {key}" for key in others),
            dropped=zero_weights(entries, edges.shape[1]),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """Two ``.npz``, of which one has these keys, and one is a matrix.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if _pair(files) else None


def _pair(files: list[Path]) -> tuple[Path, Path] | None:
    """The file of nodes, and that of edges; None if the files are others."""
    if len(files) != 2:
        return None
    data = [file for file in files if {FEATURES, LABELS, ROLES} <= keys_of(file)]
    matrices = [file for file in files if {"format", "shape", "data"} <= keys_of(file)]
    return (data[0], matrices[0]) if len(data) == len(matrices) == 1 and data != matrices else None


def _raise_others(folder: Path, files: list[str]) -> tuple[Path, Path]:
    expected = f"a file with {FEATURES}, {LABELS} and {ROLES}, and one with a sparse matrix"
    raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=expected)


def _split(roles: NDArray[np.int64], nodes: int, where: str) -> dict[str, NDArray[np.int64]]:
    if roles.shape != (nodes,) or roles.dtype.kind not in "iu":
        raise GrandPlusError(f"is {described(roles)}", where=where, expected=f"{nodes} whole numbers")
    wrong = np.flatnonzero(~np.isin(roles, (0, *PARTS)))
    if len(wrong):
        expected = "1 to train, 2 to validate, 3 to test, or 0 for none of it"
        raise GrandPlusError(f"row {wrong[0]} is {roles[wrong[0]]}", where=where, expected=expected)
    return {part: np.flatnonzero(roles == number) for number, part in PARTS.items()}
