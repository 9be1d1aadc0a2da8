"""Which neighbours of a batch FastGCN takes, and the part of Â that they make up."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.kernels.compiled import FLOAT64, IDS, INT64, kernel, writable
from grandplus.propagation.power import propagate

Nodes = NDArray[np.int64]


class Neighbourhoods:
    """Parts of Â = D̃^-½(A + I)D̃^-½.

    Parameters
    ----------
    adjacency : Adjacency

    Examples
    --------
    On the path 0 - 1 - 2:

    >>> path = Neighbourhoods(Adjacency(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)))
    >>> path.of(np.array([0])).tolist()
    [0, 1]
    >>> print(path.part(np.array([0]), np.array([0, 1]), np.array([1.0, 10.0])).toarray().round(4))
    [[0.5    4.0825]]
    """

    def __init__(self, adjacency: Adjacency) -> None:
        self.adjacency = adjacency
        self._place = np.full(adjacency.nodes, -1, np.int64)  # of a node among some; -1 of all others

    def of(self, nodes: Nodes) -> Nodes:
        """The nodes (b,) and their neighbours, each once, ascending: int64 (u,)."""
        found = np.empty(int(self.adjacency.degrees_of(nodes).sum()), np.int64)
        count = _find(self.adjacency.indptr, self.adjacency.indices, nodes, self._place, found)
        self._place[found[:count]] = -1
        return np.sort(found[:count])

    def part(self, nodes: Nodes, columns: Nodes, scale: NDArray[np.float64]) -> Any:
        """Rows (b,) and columns (u,) of Â, with each column multiplied by its scale: float32 (b, u), scipy CSR."""
        self._place[columns] = np.arange(len(columns))
        most = int(self.adjacency.degrees_of(nodes).sum())
        indptr, indices = np.zeros(len(nodes) + 1, np.int64), np.empty(most, np.int64)
        values, scale = np.empty(most), np.asarray(scale, np.float64)
        graph = self.adjacency.indptr, self.adjacency.indices
        _take(*graph, nodes, self._place, scale, indptr, indices, values)
        self._place[columns] = -1
        entries = values[: indptr[-1]].astype(np.float32), indices[: indptr[-1]], indptr
        part = sp.csr_array(entries, shape=(len(nodes), len(columns)))
        part.sort_indices()
        return part


class Sampler:
    """Estimates sums over the neighbours of a batch from t of them.

    As in the authors' program, node v has the share p(v) ∝ ‖Â(:,v)‖; the paper's has the norm squared (Proposition 4).
    The t nodes are drawn by these shares from the batch's neighbours, without replacement, and Â(s,v) is divided by
    t · p(v). This would be unbiased if they were drawn from all nodes, with replacement. As it is, the mean of the
    estimate is Σ_v Â(s,v) · π(v) / (t · p(v)) · h(v), where π(v) is the probability that v is among the drawn nodes. So
    it is unbiased where the batch's neighbours are all nodes, and t is 1 or all shares are the same. A batch with at
    most t neighbours takes them all: π(v) is 1, and its sums are about n / t times as large as those of inference.

    Parameters
    ----------
    neighbourhoods : Neighbourhoods
    samples : int
        t.
    rng : numpy.random.Generator

    Attributes
    ----------
    shares : float64 (n,)
        p.
    """

    def __init__(self, neighbourhoods: Neighbourhoods, samples: int, rng: np.random.Generator) -> None:
        self._neighbourhoods, self._samples, self._rng = neighbourhoods, samples, rng
        adjacency = neighbourhoods.adjacency
        # ‖Â(:,v)‖² is the mean of 1 / d_u over v and its neighbours u.
        squared = propagate(adjacency, (1 / adjacency.degrees)[:, None], weights=(0.0, 1.0))
        norms = np.sqrt(squared[:, 0], dtype=np.float64)
        self.shares = norms / norms.sum()

    def draw(self, nodes: Nodes) -> tuple[Nodes, Any]:
        """Sample for a batch.

        Parameters
        ----------
        nodes : int64 (b,)

        Returns
        -------
        sampled : int64 (u,)
            At most t nodes, ascending.
        part : float32 (b, u), scipy CSR
            Â(s,v) / (t · p(v)).
        """
        sampled = self._neighbourhoods.of(nodes)
        if len(sampled) > self._samples:
            # The t smallest of exponential times with rates p are t draws by p without replacement.
            times = self._rng.exponential(size=len(sampled)) / self.shares[sampled]
            sampled = np.sort(sampled[np.argpartition(times, self._samples)[: self._samples]])
        return sampled, self._neighbourhoods.part(nodes, sampled, 1 / (self._samples * self.shares[sampled]))


@kernel(INT64, IDS, INT64, writable(INT64), writable(INT64))
def _find(indptr, indices, nodes, place, found):
    """Put the nodes and their neighbours into ``found``, each once, and mark them in ``place``: how many they are."""
    count = 0
    for node in nodes:
        if place[node] < 0:
            place[node] = count
            found[count] = node
            count += 1
        for j in range(indptr[node], indptr[node + 1]):
            neighbor = indices[j]
            if place[neighbor] < 0:
                place[neighbor] = count
                found[count] = neighbor
                count += 1
    return count


@kernel(INT64, IDS, INT64, INT64, FLOAT64, writable(INT64), writable(INT64), writable(FLOAT64))
def _take(indptr, indices, nodes, place, scale, out_indptr, out_indices, out_values):
    """The entries of Â in rows of nodes and columns with a place, times the columns' scale."""
    count = 0
    for row in range(len(nodes)):
        node = nodes[row]
        degree = indptr[node + 1] - indptr[node] + 1
        if place[node] >= 0:
            out_indices[count] = place[node]
            out_values[count] = scale[place[node]] / degree
            count += 1
        for j in range(indptr[node], indptr[node + 1]):
            column = place[indices[j]]
            if column >= 0:
                other = indptr[indices[j] + 1] - indptr[indices[j]] + 1
                out_indices[count] = column
                out_values[count] = scale[column] / np.sqrt(np.float64(degree) * np.float64(other))
                count += 1
        out_indptr[row + 1] = count
