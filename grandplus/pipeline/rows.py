"""Rows of Π, by the settings: what the gfpush stage makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.pipeline.settings import Settings
from grandplus.propagation.shards import write_shards


def make_rows(settings: Settings, adjacency: Adjacency, nodes: NDArray[np.int64], folder: Path) -> Iterator[str]:
    """Push the rows of some nodes into shards.

    Parameters
    ----------
    settings : Settings
    adjacency : Adjacency
    nodes : int64 ndarray, shape (r,)
        Ascending.
    folder : Path
        Of the shards; it exists. Shards that it holds already are kept.

    Yields
    ------
    str
        The name of each shard, as soon as it is there.
    """
    matrix, push = settings.matrix, settings.gfpush
    of_matrix = {"weights": matrix.weights(), "matrix": matrix.name}
    return write_shards(adjacency, nodes, folder, rmax=push.rmax, top_k=push.top_k, **of_matrix)
