"""Power iteration by columns of the features, which exchange nothing: here, or each task on a cluster."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.kernels.prefetch import LINE
from grandplus.propagation.power import propagate
from grandplus.runtime import environment, tasks
from grandplus.runtime.storage import finished_whole


def propagate_columns(
    graph: Graph, features: Features, *, weights: tuple[float, ...], columns: int, out: NDArray[np.float32]
) -> None:
    """``propagate``, by the cluster at ``GRANDPLUS_SCHEDULER`` if there is one; the same bytes.

    Parameters
    ----------
    graph : loaded from a folder, if a cluster is to work on it
    features : (n, d), those of the graph or others
    columns : of them at a time, at most
    out : float32 (n, d) for the result; may be ``features`` itself
    """
    folder = graph.adjacency.folder
    if environment.scheduler() is None or folder is None:
        propagate(graph, features, weights=weights, columns=columns, out=out)
        return
    step = min(columns, LINE)  # narrower ones would fetch the same cache lines
    starts = range(0, features.shape[1], step)
    ends = [min(start + step, features.shape[1]) for start in starts]
    with tempfile.TemporaryDirectory(prefix="columns-", dir=environment.scratch_folder()) as name:
        shared = Path(name)
        given = folder
        if features is not graph.features:
            given = shared / "features.npy"
            np.save(given, features)
        task = functools.partial(_propagate, graph.adjacency, given, weights)
        files = [shared / f"{start:07d}.npy" for start in starts]
        done = tasks.map_tasks(task, starts, ends, files)
        for start, end, file, _ in zip(starts, ends, files, done, strict=True):
            out[:, start:end] = np.load(file, mmap_mode="r")
            file.unlink()


def _propagate(adjacency: Adjacency, given: Path, weights: tuple[float, ...], start: int, end: int, file: Path) -> None:
    """Columns ``start`` to ``end`` of the features of a graph's folder, or of an array's file, into a file."""
    features = Graph.load(given).features if given.is_dir() else np.load(given, mmap_mode="r")
    block = propagate(adjacency, features[:, start:end], weights=weights)
    with finished_whole(file) as partial, partial.open("wb") as out:
        np.save(out, block)
