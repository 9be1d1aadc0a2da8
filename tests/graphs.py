"""Graphs that tests share: edge cases by name, random ones, and dense float64 matrices to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import hypothesis
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from numpy.typing import NDArray

# The first call of a kernel may compile it, which no deadline of an example allows for.
hypothesis.settings.register_profile("grandplus", deadline=None)
hypothesis.settings.load_profile("grandplus")


@dataclass(frozen=True)
class Edges:
    """What a graph is made from: entries in one or both directions, with repetitions and self-loops."""

    nodes: int
    pairs: tuple[tuple[int, int], ...]

    @property
    def array(self) -> NDArray[np.int64]:
        return np.array(self.pairs, np.int64).reshape(-1, 2).T

    @property
    def matrix(self) -> sp.coo_array:
        ends = self.array
        return sp.coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(self.nodes, self.nodes))

    @property
    def neighborhoods(self) -> dict[int, list[int]]:
        """N_v of the self-loop augmented graph: v itself, then its other neighbours by number."""
        others: dict[int, set[int]] = {node: set() for node in range(self.nodes)}
        for u, v in self.pairs:
            others[u].add(v)
            others[v].add(u)
        return {node: [node, *sorted(neighbors - {node})] for node, neighbors in others.items()}

    @property
    def walk(self) -> NDArray[np.float64]:
        """P = D̃⁻¹Ã, dense."""
        p = np.zeros((self.nodes, self.nodes))
        for node, neighborhood in self.neighborhoods.items():
            p[node, neighborhood] = 1 / len(neighborhood)
        return p

    def pi(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Π = Σ wₙPⁿ, dense, by power iteration."""
        p, power = self.walk, np.eye(self.nodes)
        total = weights[0] * power
        for weight in weights[1:]:
            power = power @ p
            total += weight * power
        return total


@dataclass(frozen=True)
class WeightedEdges:
    """Entries (u, v, weight), with repetitions and self-loops."""

    nodes: int
    entries: tuple[tuple[int, int, float], ...]

    @property
    def array(self) -> NDArray[np.int64]:
        return np.array([entry[:2] for entry in self.entries], np.int64).reshape(-1, 2).T

    @property
    def weights(self) -> NDArray[np.float64]:
        return np.array([entry[2] for entry in self.entries], float)

    def dense(self, direction: str) -> NDArray[np.float64]:
        """W̃: the largest weight of each edge, with a self-loop of 1 where there is none."""
        w = np.zeros((self.nodes, self.nodes))
        for u, v, weight in self.entries:
            places = {"both": [(u, v), (v, u)], "out": [(u, v)], "in": [(v, u)]}[direction]
            for place in places:
                w[place] = max(w[place], weight)
        return w + np.diag(np.where(np.diag(w) == 0, 1.0, 0.0))

    def walk(self, direction: str) -> NDArray[np.float64]:
        """P = D̃⁻¹W̃, dense."""
        w = self.dense(direction)
        return w / w.sum(axis=1, keepdims=True)

    def pi(self, weights: NDArray[np.float64], direction: str) -> NDArray[np.float64]:
        """Π = Σ wₙPⁿ, dense, by power iteration."""
        return sum(w * np.linalg.matrix_power(self.walk(direction), n) for n, w in enumerate(weights))


DIRECTIONS = ("both", "out", "in")

EDGE_CASES = {
    "one node": Edges(1, ()),
    "one node with a self-loop": Edges(1, ((0, 0),)),
    "no edges": Edges(4, ()),
    "one edge": Edges(2, ((0, 1),)),
    "one edge, written four times": Edges(2, ((0, 1), (1, 0), (0, 1), (1, 0))),
    "self-loops beside edges": Edges(4, ((0, 0), (0, 1), (1, 1), (1, 1), (1, 2), (3, 3))),
    "path": Edges(6, tuple((i, i + 1) for i in range(5))),
    "star": Edges(9, tuple((0, i) for i in range(1, 9))),
    "star with its centre last": Edges(9, tuple((8, i) for i in range(8))),
    "complete": Edges(6, tuple((i, j) for i in range(6) for j in range(6))),
    "two parts and isolated nodes": Edges(9, ((1, 2), (2, 4), (4, 1), (5, 7))),
}

#     0 ─ 1
#     │ ╱
#     2 ─ 3        4      Degrees with the self-loop: 3, 3, 4, 2, 1.
FIVE = Edges(5, ((0, 1), (0, 2), (1, 2), (2, 3)))


def regular(nodes: int) -> Edges:
    """A ring with its diagonals: every degree is 4 with the self-loop, so all masses are exact in binary."""
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    return Edges(nodes, tuple(ring + [(i, i + nodes // 2) for i in range(nodes // 2)]))


def seeded(nodes: int, entries: int, seed: int = 0) -> Edges:
    """A larger graph with hubs, self-loops, repetitions and isolated nodes."""
    rng = np.random.default_rng(seed)
    ends = (nodes * rng.random((entries, 2)) ** 2).astype(int)
    return Edges(nodes, tuple(map(tuple, ends.tolist())))


@st.composite
def graphs(draw: st.DrawFn, most_nodes: int = 9) -> Edges:
    """Small graphs; sparse ones leave nodes isolated, dense ones hold repetitions and self-loops."""
    nodes = draw(st.integers(1, most_nodes))
    node = st.integers(0, nodes - 1)
    return Edges(nodes, tuple(draw(st.lists(st.tuples(node, node), max_size=3 * nodes))))


@st.composite
def growths(draw: st.DrawFn) -> tuple[Edges, Edges]:
    """A graph, and what it grows by: edges between old nodes, to new ones, repeated, self-loops; isolated new nodes."""
    before = draw(graphs())
    nodes = before.nodes + draw(st.integers(0, 5))
    node = st.integers(0, nodes - 1)
    further = draw(st.lists(st.tuples(node, node), max_size=30))
    repeated = draw(st.lists(st.sampled_from(before.pairs), max_size=5)) if before.pairs else []
    return before, Edges(nodes, (*further, *((v, u) for u, v in repeated)))


# Exact in float32 and of sums that are exact in float64; 0 is no edge.
EDGE_WEIGHTS = st.sampled_from([0.0, 0.125, 0.5, 1.0, 1.5, 2.0, 7.0, 1024.0])


@st.composite
def weighted_graphs(draw: st.DrawFn, most_nodes: int = 9) -> WeightedEdges:
    """Small graphs with weights; some with equal ones, some where all are 1."""
    edges = draw(graphs(most_nodes))
    weight = draw(st.sampled_from([EDGE_WEIGHTS, st.just(1.0)]))
    return WeightedEdges(edges.nodes, tuple((u, v, draw(weight)) for u, v in edges.pairs))


@st.composite
def mixtures(draw: st.DrawFn, longest: int = 6) -> NDArray[np.float64]:
    """w_0..w_N; some of them 0."""
    parts = draw(st.lists(st.integers(0, 4), min_size=1, max_size=longest + 1).filter(any))
    return np.array(parts) / sum(parts)
