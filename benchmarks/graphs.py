"""Synthetic graphs to measure on: degree-corrected block models, made in seconds, the same ones for the same seed.

Degrees follow a power law, most edges stay within a community, and node numbers depend on neither.
"""

from __future__ import annotations

import numba
import numpy as np

from grandplus.graph.adjacency import Adjacency

INSIDE = 0.7  # share of the edges that stay within a community
COMMUNITY = 4096  # nodes, about
TAIL = 2.5  # exponent of the power law of degrees
HUB_SHARE = 0.002  # of the nodes that are neighbours of the largest hub, about


def degree_corrected(nodes: int, edges: int, seed: int) -> Adjacency:
    """A graph with about this number of edges: a few are drawn twice and count once."""
    rng = np.random.default_rng(seed)
    weight = (1 - rng.random(nodes)) ** (-1 / (TAIL - 1))
    np.minimum(weight, weight.mean() * HUB_SHARE * nodes * nodes / (2 * edges), out=weight)
    copies = np.floor(weight * (2 * edges / weight.sum()) + rng.random(nodes)).astype(np.int64)
    # A node has as many places as edges; communities are runs of places.
    places = np.repeat(rng.permutation(nodes).astype(np.int32), copies)
    community = max(2, len(places) * COMMUNITY // nodes)
    # Arrays are made by numpy rather than in the kernels, since numpy asks the system for huge pages.
    pairs = np.empty((edges, 2), np.int32)
    _draw(places, community, seed, pairs)
    first = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(pairs.ravel(), minlength=nodes), out=first[1:])
    unsorted, indices = (np.empty(2 * edges, np.int32) for _ in range(2))
    kept = _sort(pairs, first, unsorted, indices, first[:-1].copy(), first[:-1].copy())
    return Adjacency(first, indices[:kept].copy())


@numba.njit
def _draw(places, community, seed, pairs):
    np.random.seed(seed)
    for i in range(len(pairs)):
        place = np.random.randint(0, len(places))
        start, size = 0, len(places)
        if np.random.random() < INSIDE:
            start = place - place % community
            size = min(community, len(places) - start)
        pairs[i, 0], pairs[i, 1] = places[place], places[start + np.random.randint(0, size)]


@numba.njit
def _sort(pairs, first, unsorted, ordered, free, transposed_free):
    """Pairs to symmetric rows, sorted, without duplicates and self-loops; ``first`` becomes their indptr."""
    for i in range(len(pairs)):
        u, v = pairs[i]
        unsorted[free[u]] = v
        free[u] += 1
        unsorted[free[v]] = u
        free[v] += 1
    for u in range(len(free)):  # the transpose, which is the same graph: filled row by row, its rows are sorted
        for j in range(first[u], first[u + 1]):
            v = unsorted[j]
            ordered[transposed_free[v]] = u
            transposed_free[v] += 1
    kept = end = 0
    for u in range(len(free)):
        start, end, before = end, first[u + 1], -1
        for j in range(start, end):
            v = ordered[j]
            if v != before and v != u:
                ordered[kept] = v
                kept += 1
            before = v
        first[u + 1] = kept
    return kept
