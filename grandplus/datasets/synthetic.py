"""Synthetic graphs of any size: homophilous, with power-law degrees and features that tell a little of the class.

They come from a degree-corrected block model. Each class is split into communities; both ends of an edge are drawn
within a community by a power law of rank, and most edges stay in a community, or at least in a class. Each number
follows from the seed and a counter alone, so the bytes depend neither on the size of the pieces that are made at a time
nor on threads, and only the pieces that are being written are in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from grandplus.datasets.source import Recipe
from grandplus.kernels.compiled import FLOAT32, INT32, INT64, jitable, kernel, matrix, writable
from grandplus.kernels.random import SPREAD, mix, uniform
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole, reserve

PIECE = 2**20  # edges, or rows of features, made at a time
COMMUNITY = 4096  # approximate number of nodes
NEARBY = 0.75  # share of a class's inner edges that are drawn within a community
HUBS = 0.03  # the largest degree in a community is about 1 / (3 HUBS²) = 370 times the mean
SIGNAL = 1.0  # length of a class's mean in dense features, whose noise has deviation 1 in each direction
OWN_WORDS = 0.1  # share of sparse features that are typical of the class
VOCABULARY = 2000  # how many features are typical of a class


def generate(recipe: Recipe, scale: float, folder: Path) -> list[str]:
    """Write the files of a graph; files that are there already are kept.

    Parameters
    ----------
    recipe : Recipe
    scale : float
        Nodes and edges are multiplied by it.
    folder : Path
        An existing folder.

    Returns
    -------
    list of str
        Names of the files: edges.npy (2, E), labels.npy (n,), and features.npy float32 (n, d) or the arrays of a CSR
        matrix, features.indptr.npy, features.indices.npy and features.data.npy.

    Raises
    ------
    GrandPlusError
        There are so few nodes that a class would have none.
    """
    nodes, edges = round(recipe.nodes * scale), round(recipe.edges * scale)
    if nodes < 2 * recipe.classes:
        raise GrandPlusError(
            f"synthetic.scale = {scale:g} leaves {nodes} nodes for {recipe.classes} classes",
            fix="raise synthetic.scale",
        )
    labels, members, first = _classes(recipe, nodes)
    ids = np.int32 if nodes <= 2**31 else np.int64
    inside = _share_drawn_inside(recipe, first)
    tasks: dict[str, tuple[tuple[int, ...], Any, Callable[[Any, int, int], None]]] = {
        "labels.npy": ((nodes,), np.int64, lambda out, a, b: _copy(labels[a:b], out[a:b])),
        "edges.npy": ((2, edges), ids, lambda out, a, b: _edges(recipe.seed, members, first, inside, out, a, b)),
    }
    if recipe.stored is None:
        means = np.random.default_rng([recipe.seed, 1]).standard_normal((recipe.classes, recipe.features))
        means = (means * SIGNAL / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        shape = nodes, recipe.features
        tasks["features.npy"] = shape, np.float32, lambda out, a, b: _dense(recipe.seed, labels, means, out, a, b)
    else:
        stored = recipe.stored
        tasks["features.indptr.npy"] = (nodes + 1,), np.int64, lambda out, a, b: _count(stored, out, a, b)
        tasks["features.indices.npy"] = (nodes, stored), np.int32, lambda out, a, b: _words(recipe, labels, out, a, b)
        tasks["features.data.npy"] = (nodes * stored,), np.float32, lambda out, a, b: out[a:b].fill(1)
    for name, (size, kind, fill) in tasks.items():
        if not (folder / name).exists():
            _write(folder / name, size, kind, fill)
    return sorted(tasks)


def _write(file: Path, shape: tuple[int, ...], kind: Any, fill: Callable[[Any, int, int], None]) -> None:
    """Write an array piece by piece, along the axis of edges, nodes or entries."""
    with finished_whole(file) as partial:
        out = open_memmap(partial, mode="w+", dtype=kind, shape=shape)
        with open(partial, "r+b") as handle:
            reserve(handle.fileno(), partial.stat().st_size)
        length = shape[1] if file.name == "edges.npy" else shape[0]
        starts = range(0, length, PIECE)
        for _ in pools.map_threads(lambda start: fill(out, start, min(start + PIECE, length)), starts):
            pass
        out.flush()


def _classes(recipe: Recipe, nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The label of each node, all nodes class by class in random order, and where each class begins in that order.

    The largest class has a fifth more nodes than the smallest, so that each has enough nodes even at a scale of 1 %.
    """
    rng = np.random.default_rng([recipe.seed, 0])
    shares = np.linspace(1, 1.2, recipe.classes)
    first = np.round(np.concatenate([[0], np.cumsum(shares / shares.sum())]) * nodes).astype(np.int64)
    members = rng.permutation(nodes)
    labels = np.empty(nodes, np.int64)
    labels[members] = np.repeat(rng.permutation(recipe.classes), np.diff(first))
    return labels, members, first


def _share_drawn_inside(recipe: Recipe, first: NDArray[np.int64]) -> float:
    """The share of edges to draw within a class; some of the others are within a class by chance."""
    by_chance = float(((np.diff(first) / first[-1]) ** 2).sum())
    return max(0.0, (recipe.homophily - by_chance) / (1 - by_chance))


def _copy(values: NDArray[Any], out: NDArray[Any]) -> None:
    out[:] = values


def _count(stored: int, out: NDArray[np.int64], start: int, end: int) -> None:
    out[start:end] = stored * np.arange(start, end)


def _edges(seed: int, members: Any, first: Any, inside: float, out: Any, start: int, end: int) -> None:
    sources, targets = np.empty(end - start, np.int64), np.empty(end - start, np.int64)
    _draw_edges(seed, start, members, first, inside, NEARBY * inside, sources, targets)
    out[0, start:end], out[1, start:end] = sources, targets


def _dense(seed: int, labels: Any, means: Any, out: Any, start: int, end: int) -> None:
    values = np.empty((end - start, means.shape[1]), np.float32)
    _draw_dense(seed, start, labels[start:end], means, values)
    out[start:end] = values


def _words(recipe: Recipe, labels: Any, out: Any, start: int, end: int) -> None:
    columns = np.empty((end - start, out.shape[1]), np.int32)
    _draw_words(recipe.seed, start, labels[start:end], recipe.classes, recipe.features, columns)
    out[start:end] = columns


@kernel(types.int64, types.int64, INT64, INT64, types.float64, types.float64, writable(INT64), writable(INT64))
def _draw_edges(seed, start, members, first, inside, nearby, sources, targets):
    """Edges from number ``start`` on: a source from all nodes, and a target from its community, its class or all."""
    nodes = len(members)
    for i in range(len(sources)):
        state = _state(seed, 2, start + i)
        state, number = uniform(state)
        place = np.int64(number * nodes)
        state, number = uniform(state)
        sources[i] = members[_by_rank(place, number, first)]
        state, kind = uniform(state)
        state, number = uniform(state)
        if kind >= inside:
            place = np.int64(number * nodes)
        elif kind >= nearby:
            group = np.searchsorted(first, place, "right") - 1
            place = first[group] + np.int64(number * (first[group + 1] - first[group]))
        state, number = uniform(state)
        targets[i] = members[_by_rank(place, number, first)]


@jitable
def _by_rank(place, number, first):
    """Another place in the same community, drawn by rank.

    Of m places the r-th is drawn about (r / m)^(-2/3) times as often as the last, so degrees have a power law with
    exponent 2.5.
    """
    group = np.searchsorted(first, place, "right") - 1
    size = first[group + 1] - first[group]
    communities = max(1, size // COMMUNITY)
    community = (place - first[group]) * communities // size
    begin, end = -(-community * size // communities), -(-(community + 1) * size // communities)
    rank = ((HUBS + (1 - HUBS) * number) ** 3 - HUBS**3) / (1 - HUBS**3)
    return first[group] + min(begin + np.int64(rank * (end - begin)), end - 1)


@kernel(types.int64, types.int64, INT64, matrix(FLOAT32), writable(matrix(FLOAT32)))
def _draw_dense(seed, start, labels, means, out):
    """Normal numbers around the mean of the class, two at a time (Box and Muller, 1958)."""
    width = out.shape[1]
    for i in range(len(labels)):
        state = _state(seed, 3, start + i)
        for column in range(0, width, 2):
            state, number = uniform(state)
            state, angle = uniform(state)
            length = np.sqrt(-2.0 * np.log(1.0 - number))
            out[i, column] = means[labels[i], column] + np.float32(length * np.cos(2 * np.pi * angle))
            if column + 1 < width:
                out[i, column + 1] = means[labels[i], column + 1] + np.float32(length * np.sin(2 * np.pi * angle))


@kernel(types.int64, types.int64, INT64, types.int64, types.int64, writable(matrix(INT32)))
def _draw_words(seed, start, labels, classes, width, out):
    """Different words for each node, sorted, by Zipf's law as in text: the r-th most frequent is drawn 1 / r times as
    often as the first. The words of a class follow it, too."""
    vocabulary = max(1, min(VOCABULARY, width // (2 * classes)))
    for i in range(len(labels)):
        state = _state(seed, 4, start + i)
        for j in range(out.shape[1]):
            known = True
            while known:
                state, kind = uniform(state)
                state, number = uniform(state)
                own = kind < OWN_WORDS
                word = _zipf(number, vocabulary) * classes + labels[i] if own else _zipf(number, width)
                # A bijection of 0..width-1, so that frequent words are not those with low numbers.
                column = (word * MULTIPLIER + 7) % width
                known = False
                for k in range(j):
                    known = known or out[i, k] == column
            position = j
            while position > 0 and out[i, position - 1] > column:
                out[i, position] = out[i, position - 1]
                position -= 1
            out[i, position] = column


MULTIPLIER = 2_147_483_647  # a prime, so that a multiple of it is a bijection for any width below


@jitable
def _zipf(number, count):
    return min(count - 1, np.int64(np.exp(number * np.log(count + 1.0)) - 1.0))


@jitable
def _state(seed, purpose, index):
    """The first state of an edge's or a row's random numbers."""
    return mix(mix(np.uint64(seed) * SPREAD + np.uint64(purpose)) + np.uint64(index) * SPREAD)
