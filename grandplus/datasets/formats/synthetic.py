"""The files of ``synthetic.generate``, memory-mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.arrays.files import read_npy
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source
from grandplus.graph.features import csr_of
from grandplus.runtime.errors import GrandPlusError


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Memory-map the arrays; they are read later.

    See `grandplus.datasets.formats.Format`.
    """
    recipe = source.synthetic
    if recipe is None:
        raise GrandPlusError("holds a synthetic graph, and the card has no source.synthetic", where=folder)
    held = {name: read_npy(folder / name) for name in files}
    features: Any = held.get("features.npy")
    if features is None:
        indptr, indices, data = (held[f"features.{part}.npy"] for part in ("indptr", "indices", "data"))
        features = csr_of(indptr, indices.ravel(), data, recipe.features)
    nodes = len(held["labels.npy"])
    classes = [str(number) for number in range(recipe.classes)]
    return RawGraph(held["edges.npy"], nodes, features, held["labels.npy"], classes, np.arange(nodes), [])
