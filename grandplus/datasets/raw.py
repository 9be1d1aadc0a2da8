"""A dataset as its files have it, before anything is merged, dropped or normalised."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.account import Account
from grandplus.datasets.edge_weights import check_has_weights
from grandplus.datasets.fetch.manifest import FILE, Manifest
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.split_lists import listed_split
from grandplus.runtime.errors import ArtifactError

FORMATS = "grandplus.datasets.formats"
# The module of each format, by the format's name in a card; imported when it is needed.
READERS = {
    module.name.replace("_", "-"): f"{FORMATS}.{module.name}"
    for module in pkgutil.iter_modules(importlib.import_module(FORMATS).__path__)
}


@dataclass(frozen=True)
class RawGraph:
    """A graph with features and labels, node by node in the order of its files.

    Attributes
    ----------
    edges : int32 or int64 (2, E)
        As the files have them: with duplicates, both directions and self-loops.
    nodes : int
        Number of nodes n.
    features : float32 (n, d) ndarray or scipy CSR, or None
        Not scaled; float64 where float32 would lose the variance of a column; None where the files have none.
    labels : int64 (n,)
        Class numbers; -1 where unknown.
    classes : list of str
        Names, by class number.
    node_ids : (n,)
        The ids of the files.
    splits : list of dict
        The splits that the files come with, each with the nodes, int64, of "train", "val" and, if it isn't just the
        others, "test".
    feature_names : list of str or None
        Of the columns of ``features``, where the files name them.
    weights : float32 (E,) or None
        Of the edges, where they are used; 0 is no edge.
    undirected : bool or bool (E,)
        Which edges have no direction, as the files say; elsewhere the first of the two ends is the start.
    account : Account
        What became of the lines, columns and values of the files.
    """

    edges: NDArray[Any]
    nodes: int
    features: Any  # scipy.sparse has no types
    labels: NDArray[np.int64]
    classes: list[str]
    node_ids: NDArray[Any]
    splits: list[dict[str, NDArray[np.int64]]]
    feature_names: list[str] | None = None
    weights: NDArray[np.float32] | None = None
    undirected: bool | NDArray[np.bool_] = False
    account: Account = field(default_factory=Account)


def read(folder: Path, source: Source, catalog: Path) -> RawGraph:
    """Read the files that ``fetch`` has put into a folder, in whichever format.

    Parameters
    ----------
    folder : Path
    source : Source
        What the card says of them.
    catalog : Path
        The folder of the cards.

    Returns
    -------
    RawGraph

    Raises
    ------
    ArtifactError
        The list of files is missing or damaged.
    GrandPlusError
        A file is missing, or holds something else than its format says.
    """
    manifest = Manifest.load(folder)
    if manifest.format not in READERS:
        known = f"one of {', '.join(sorted(READERS))}"
        raise ArtifactError(f"format is {manifest.format!r}", where=folder / FILE, expected=known)
    order = catalog / manifest.order if manifest.order else None
    return read_files(folder, manifest.format, sorted(manifest.files), source, order)


def read_files(folder: Path, file_format: str, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read files of a known format, and the lists of ids that make up a split.

    Parameters
    ----------
    folder : Path
    file_format : str
    files : list of str
        Names of all files in the folder, with the lists of ids.
    source : Source
        What the card says of them.
    order : Path, optional
        A file with the order of nodes.

    Returns
    -------
    RawGraph

    Raises
    ------
    GrandPlusError
        A file is missing, or holds something else than its format says.
    """
    lists = id_lists(source.read)
    reader = importlib.import_module(READERS[file_format])
    graph: RawGraph = reader.read(folder, [name for name in files if name not in lists.values()], source, order)
    check_has_weights(graph.weights, source.read, ", ".join(files))
    if not lists:
        return graph
    split, accounts = listed_split({part: folder / name for part, name in lists.items()}, graph.node_ids)
    account = replace(graph.account, files=(*graph.account.files, *accounts))
    return replace(graph, splits=[split], account=account)


def id_lists(read: Reading) -> dict[str, str]:
    """The names of the files that list the nodes of a split, by part.

    Parameters
    ----------
    read : Reading

    Returns
    -------
    dict of str
    """
    named = {"train": read.train, "val": read.val, "test": read.test}
    return {part: name for part, name in named.items() if name is not None}
