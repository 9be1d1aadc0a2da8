"""Power iteration in groups of columns, which do not depend on each other: on this machine, or each on a cluster."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features, blocks_of
from grandplus.graph.graph import Graph
from grandplus.kernels.prefetch import LINE
from grandplus.propagation.power import propagate
from grandplus.runtime import environment, tasks
from grandplus.runtime.storage import finished_whole


def propagate_columns(
    graph: Graph, features: Features, *, weights: tuple[float, ...], columns: int, out: NDArray[np.float32]
) -> None:
    """Compute ΠX as ``propagate`` does, on the cluster at ``GRANDPLUS_SCHEDULER`` if there is one; the same bytes.

    Parameters
    ----------
    graph : Graph
        A cluster can work only on a graph that was loaded from a folder.
    features : ndarray or scipy sparse matrix, shape (n, d)
        X: the features of the graph, or others.
    weights : tuple of float
        w_0..w_N.
    columns : int
        How many columns to propagate at a time, at most.
    out : ndarray of float32, shape (n, d)
        Where the result goes; may be ``features`` itself.

    Examples
    --------
    One step on the path 0 - 1 - 2:

    >>> path = Adjacency(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> x = np.array([[0, 2], [3, 2], [9, 2]], np.float32)
    >>> graph = Graph(path, x, np.zeros(3, np.int64), ["a"], np.arange(3))
    >>> propagate_columns(graph, x, weights=(0.0, 1.0), columns=1, out=x)
    >>> x.tolist()
    [[1.5, 2.0], [4.0, 2.0], [6.0, 2.0]]
    """
    folder = graph.adjacency.folder
    if environment.scheduler() is None or folder is None:
        propagate(graph, features, weights=weights, columns=columns, out=out)
        return
    step = min(columns, LINE)  # fewer columns would load the same cache lines
    starts = range(0, features.shape[1], step)
    ends = [min(start + step, features.shape[1]) for start in starts]
    with tempfile.TemporaryDirectory(prefix="columns-", dir=environment.scratch_folder()) as name:
        shared = Path(name)
        source = folder
        if features is not graph.features:
            source = shared / "features.npy"
            np.save(source, features)
        task = functools.partial(_propagate, graph.adjacency, source, weights)
        files = [shared / f"{start:07d}.npy" for start in starts]
        finished = tasks.map_tasks(task, starts, ends, files)
        for start, end, file, _ in zip(starts, ends, files, finished, strict=True):
            out[:, start:end] = np.load(file, mmap_mode="r")
            file.unlink()


def propagate_symmetric(
    graph: Graph, values: NDArray[np.float32], *, weights: tuple[float, ...], columns: int, on_cluster: bool = True
) -> NDArray[np.float32]:
    """Σ wₙÂⁿV with Â = D̃^-½(A + I)D̃^-½ in place of V, as D̃^½ΠD̃^-½V.

    Parameters
    ----------
    graph : Graph
    values : float32 ndarray, shape (n, d)
        V, which is overwritten.
    weights : tuple of float
        w_0..w_N.
    columns : int
        How many columns to propagate at a time, at most.
    on_cluster : bool
        Whether to use a cluster if there is one; what is a task of one already may not.

    Examples
    --------
    One step on two nodes with an edge, whose degrees with self-loops are 2:

    >>> pair = Adjacency(np.array([0, 1, 2]), np.array([1, 0], np.int32))
    >>> x = np.array([[0], [4]], np.float32)
    >>> graph = Graph(pair, x, np.zeros(2, np.int64), ["a"], np.arange(2))
    >>> propagate_symmetric(graph, x, weights=(0.0, 1.0), columns=1).round(3).tolist()
    [[2.0], [2.0]]
    """
    root = np.sqrt(graph.adjacency.strengths)[:, None].astype(np.float32)
    for rows in blocks_of(len(values)):
        values[rows] /= root[rows]
    (propagate_columns if on_cluster else propagate)(graph, values, weights=weights, columns=columns, out=values)
    for rows in blocks_of(len(values)):
        values[rows] *= root[rows]
    return values


def _propagate(
    adjacency: Adjacency, source: Path, weights: tuple[float, ...], start: int, end: int, file: Path
) -> None:
    """Columns ``start`` to ``end`` - 1 of the features in a graph's folder, or in an array's file, into a file."""
    features = Graph.load(source).features if source.is_dir() else np.load(source, mmap_mode="r")
    block = propagate(adjacency, features[:, start:end], weights=weights)
    with finished_whole(file) as partial, partial.open("wb") as out:
        np.save(out, block)
