"""A dataset as its files have it, before anything is merged, dropped or normalised."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.manifest import FILE, Manifest
from grandplus.errors import GrandPlusError
from grandplus.settings import Source

# A module here has ``read(folder, files, source, order) -> RawGraph``, where ``files`` are names
# in ``folder`` and ``order`` is a file of node order or None. Imported when it is needed.
READERS = {
    "content-cites": "grandplus.datasets.content_cites",
    "grand-npz": "grandplus.datasets.grand_npz",
    "grand-pickles": "grandplus.datasets.grand_pickles",
    "mag-npz": "grandplus.datasets.mag_npz",
    "planetoid": "grandplus.datasets.planetoid",
    "synthetic": "grandplus.datasets.synthetic_files",
}


@dataclass(frozen=True)
class RawGraph:
    """A graph with features and labels, node by node in the order of its files.

    Parameters
    ----------
    edges : (2, E) int32 or int64, as found: duplicates, both directions and self-loops are left in.
    nodes : number of nodes n.
    features : (n, d) float32 CSR matrix, or array; not normalised.
    labels : (n,) int64 class numbers; -1 where unknown.
    classes : names, by class number.
    node_ids : (n,) original ids.
    splits : int64 nodes of "train", "val" and "test", where the files come with a split; else empty.
    """

    edges: NDArray[Any]
    nodes: int
    features: Any  # scipy.sparse has no types
    labels: NDArray[np.int64]
    classes: list[str]
    node_ids: NDArray[Any]
    splits: dict[str, NDArray[np.int64]]


def read(folder: Path, source: Source, catalog: Path) -> RawGraph:
    """Read what ``fetch`` has put into ``folder``, in whichever format it came.

    Raises
    ------
    GrandPlusError : a file is missing or holds something else than its format says.
    """
    manifest = Manifest.load(folder)
    if manifest.format not in READERS:
        known = f"one of {', '.join(sorted(READERS))}"
        raise GrandPlusError(f"format is {manifest.format!r}", where=folder / FILE, expected=known)
    reader = importlib.import_module(READERS[manifest.format])
    order = catalog / manifest.order if manifest.order else None
    graph: RawGraph = reader.read(folder, sorted(manifest.files), source, order)
    return graph
