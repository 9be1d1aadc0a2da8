"""The structure of a graph: a CSR adjacency without self-loops, and the weights of edges where they count.

The self-loop of Ã = A + I is never stored: the kernels add it, exactly once, whatever the input held.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.edge_weights import FILES as FILES_OF_WEIGHTS
from grandplus.graph.edge_weights import EdgeWeights, weights_of_files
from grandplus.graph.entries import Direction, merge
from grandplus.graph.files import map_array, read_json, save_array, write_json
from grandplus.graph.symmetrize import symmetrize
from grandplus.runtime.digests import State, remembered, state_of
from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.paths import as_path

FILES = ("indptr.npy", "indices.npy")
FACTS = "adjacency.json"  # the direction, and the digest of weights
INT32_IDS = 2**31  # node ids below this are stored as int32


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A matrix without diagonal, as CSR with sorted rows; symmetric unless it is directed, 0/1 unless it has weights.

    Attributes
    ----------
    indptr : int64 (n + 1,)
    indices : int32 or int64 (stored entries,)
    weights : EdgeWeights or None
        Of the stored entries and of the self-loops; None if all are 1.
    direction : {"both", "out", "in"}
        Which edges of a node are in its row: all, those that start at it, or those that end at it.
    folder : Path or None
        The folder that it was loaded from. Another process is then sent this path, and loads the arrays itself.
    opened : list or None
        The state of its files when they were loaded, see `grandplus.runtime.digests`.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    weights: EdgeWeights | None = None
    direction: Direction = "both"
    folder: Path | None = None
    opened: State | None = None

    @classmethod
    def of(
        cls, matrix: Any, *, weights: Literal["ignore", "use"] = "ignore", direction: Direction = "both"
    ) -> Adjacency:
        """The adjacency that a sparse matrix stands for.

        Parameters
        ----------
        matrix : (n, n) scipy sparse
            Entry (u, v) is an edge from u to v; stored zeros are none.
        weights : {"ignore", "use"}
            Whether the values are the weights of edges, see `build_adjacency`.
        direction : {"both", "out", "in"}
            See `build_adjacency`.

        Raises
        ------
        ArgumentError
            It is no square matrix, or a weight is negative.

        Examples
        --------
        >>> of_path = Adjacency.of(sp.csr_array([[0, 3], [0, 0]]), weights="use", direction="out")
        >>> of_path.indices.tolist(), of_path.strengths.tolist()
        ([1], [4.0, 1.0])
        """
        if not sp.issparse(matrix):
            raise ArgumentError(f"adjacency is a {type(matrix).__name__}", expected="a scipy sparse matrix or a Graph")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ArgumentError(f"adjacency has shape {matrix.shape}", expected="a square matrix")
        if weights not in ("ignore", "use"):
            raise ArgumentError(f"weights is {weights!r}", expected="'ignore' or 'use'")
        if weights == "use":
            matrix = sp.csr_array(matrix, copy=True)
            matrix.sum_duplicates()  # which is what repeated entries of a matrix mean
        entries = sp.coo_array(matrix)
        edges = np.stack([entries.row, entries.col])
        if weights == "use":
            return build_adjacency(edges, matrix.shape[0], entries.data, direction)[0]
        return build_adjacency(edges[:, entries.data != 0], matrix.shape[0], None, direction)[0]

    @property
    def nodes(self) -> int:
        """Number of nodes n."""
        return len(self.indptr) - 1

    @property
    def index_type(self) -> np.dtype[Any]:
        """Of the stored node ids: int32 or int64."""
        return self.indices.dtype

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degrees in Ã, so with the self-loop: int64 (n,), at least 1."""
        return np.diff(self.indptr) + 1

    def degrees_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Degrees of some nodes in Ã, so with the self-loop: int64 (b,)."""
        return np.asarray(self.indptr[nodes + 1] - self.indptr[nodes] + 1)

    @property
    def strengths(self) -> NDArray[np.float64]:
        """The diagonal of D̃, the sums of rows with the self-loop: float64 (n,). Without weights, the degrees."""
        return self.degrees.astype(np.float64) if self.weights is None else self.weights.strengths

    def strengths_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Those of some nodes: float64 (b,)."""
        return self.degrees_of(nodes).astype(np.float64) if self.weights is None else self.weights.strengths[nodes]

    @property
    def loops(self) -> NDArray[np.float32]:
        """Of Ã or W̃, the self-loops: float32 (n,). Without weights, ones."""
        return np.ones(self.nodes, np.float32) if self.weights is None else self.weights.loops

    def matrix(self) -> Any:
        """A, or W of a graph with weights, without self-loops: float32 (n, n), scipy CSR.

        >>> Adjacency.of(sp.csr_array([[0, 1], [1, 0]])).matrix().toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        entries = np.ones(len(self.indices), np.float32) if self.weights is None else np.asarray(self.weights.entries)
        stored = entries, np.asarray(self.indices), np.asarray(self.indptr)
        return sp.csr_array(stored, shape=(self.nodes, self.nodes))

    @property
    def symmetric(self) -> bool:
        """Whether every edge counts in both directions."""
        return self.direction == "both"

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the structure and the weights, by which rows name the graph that they belong to."""
        if self.folder:
            files = _files(self.folder, weighted=self.weights is not None)
            return remembered("structure", files, self._digest, self.opened)
        return self._digest()

    def save(self, folder: Path | str) -> None:
        """Write the arrays into an existing folder."""
        folder = as_path(folder, "folder")
        of_weights = () if self.weights is None else self.weights.arrays
        for name, array in zip((*FILES, *FILES_OF_WEIGHTS), (self.indptr, self.indices, *of_weights), strict=False):
            save_array(folder / name, array)
        for name in FILES_OF_WEIGHTS[len(of_weights) :]:  # of a graph that was there
            (folder / name).unlink(missing_ok=True)
        digest = None if self.weights is None else self.weights.fingerprint
        write_json(folder / FACTS, {"direction": self.direction, "weights": digest})

    @classmethod
    def load(cls, folder: Path | str) -> Adjacency:
        """Memory-map a saved adjacency; its arrays are read-only.

        Raises
        ------
        ArtifactError
            A file is missing or damaged.
        """
        folder = as_path(folder, "folder").absolute()
        facts = _read_facts(folder)
        files = _files(folder, weighted=facts["weights"] is not None)
        indptr, indices, *of_weights = map(map_array, files)
        weights = (
            weights_of_files(folder, *of_weights, entries=len(indices), nodes=len(indptr) - 1) if of_weights else None
        )
        return cls(indptr, indices, weights, facts["direction"], folder, state_of(files))

    def _digest(self) -> str:
        digest = hashlib.sha256(self.indptr.data)
        digest.update(self.indices.data)
        if self.weights is not None:
            digest.update(self.weights.fingerprint.encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        edges = f"{len(self.indices)} entries"
        of_edges = "" if self.weights is None else ", with weights"
        return f"Adjacency({self.nodes} nodes, {edges}, direction {self.direction}{of_edges})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder:
            return adjacency_at, (self.folder, self.fingerprint)
        return Adjacency, (self.indptr, self.indices, self.weights, self.direction)


def _files(folder: Path, *, weighted: bool) -> list[Path]:
    """The arrays of a saved adjacency."""
    return [folder / name for name in (*FILES, *(FILES_OF_WEIGHTS if weighted else ()))]


def _read_facts(folder: Path) -> dict[str, Any]:
    facts = read_json(folder / FACTS)
    if not isinstance(facts, dict) or facts.get("direction") not in ("both", "out", "in") or "weights" not in facts:
        raise ArtifactError(f"holds {facts}", where=folder / FACTS, expected="direction and weights")
    return facts


def adjacency_at(folder: Path, fingerprint: str) -> Adjacency:
    """The adjacency of a saved graph, memory-mapped and checked once for all tasks of a process.

    Parameters
    ----------
    folder : Path
    fingerprint : str
        The one that it must have.

    Raises
    ------
    ArtifactError
        There is no such folder, or another graph in it.
    """
    if _adjacency_at(folder).fingerprint != fingerprint:
        _adjacency_at.cache_clear()  # the folder may have been written again since
    if _adjacency_at(folder).fingerprint != fingerprint:
        raise ArtifactError(
            "holds another graph for this process than for the one that sent the task",
            where=folder,
            fix="keep the project in a folder that all machines share",
        )
    return _adjacency_at(folder)


@functools.lru_cache(maxsize=1)
def _adjacency_at(folder: Path) -> Adjacency:
    return Adjacency.load(folder)


def build_adjacency(
    edges: NDArray[Any], nodes: int, weights: Any = None, direction: Direction = "both"
) -> tuple[Adjacency, dict[str, int]]:
    """Symmetrise, unless a direction is chosen, merge duplicates and take self-loops out.

    Parameters
    ----------
    edges : int32 or int64 (2, E)
        In any order, in one direction or both, with duplicates and self-loops; may be memory-mapped.
    nodes : int
        n; ids are 0 .. n - 1.
    weights : array_like of numbers (E,), optional
        By default every edge counts once. An edge of weight 0 is none. Of several weights of an edge, its other
        direction included, the largest counts. The weight of a self-loop stands in place of 1. If all weights are 1,
        the result is the one without weights.
    direction : {"both", "out", "in"}
        Which edges of a node are in its row, so where a walk goes from it: all edges, those that start at it, or those
        that end at it.

    Returns
    -------
    adjacency : Adjacency
    facts : dict of int
        ``edges`` (pairs of nodes with one), ``merged_duplicates`` (entries that repeat an edge, the other direction
        included), ``dropped_self_loops`` (entries) and ``isolated_nodes`` (nodes with an empty
        row; they stay in the graph). More on weights, see `grandplus.graph.entries.Merged`.

    Raises
    ------
    ArgumentError
        An edge names a node that is not there, a weight is negative or no number, or there is no such direction.

    Examples
    --------
    >>> adjacency, facts = build_adjacency(np.array([[0, 1, 2, 2], [1, 0, 1, 2]]), nodes=4)
    >>> adjacency.indptr.tolist(), adjacency.indices.tolist()
    ([0, 1, 3, 4, 4], [1, 0, 2, 1])
    >>> facts
    {'edges': 2, 'merged_duplicates': 1, 'dropped_self_loops': 1, 'isolated_nodes': 1}
    """
    index_type = np.int32 if nodes <= INT32_IDS else np.int64
    if weights is None and direction == "both":
        indptr, indices, loops = symmetrize(edges, nodes, index_type)
        undirected = len(indices) // 2
        facts = {
            "edges": undirected,
            "merged_duplicates": edges.shape[1] - loops - undirected,
            "dropped_self_loops": loops,
        }
        adjacency = Adjacency(indptr, indices)
    else:
        merged = merge(edges, nodes, weights, direction)
        facts = merged.facts
        adjacency = Adjacency(merged.indptr, merged.indices.astype(index_type), merged.weights, direction)
    return adjacency, facts | {"isolated_nodes": int((np.diff(adjacency.indptr) == 0).sum())}


def as_adjacency(matrix: Any) -> Adjacency:
    """The adjacency of a graph that a notebook holds.

    Parameters
    ----------
    matrix : (n, n) scipy sparse, Adjacency or Graph
        A sparse matrix is symmetrised; its values are ignored, but for stored zeros, which are no edges.

    Raises
    ------
    ArgumentError
        The matrix is not square, or of no known kind.

    Examples
    --------
    >>> as_adjacency(sp.csr_array([[0, 0.5], [0, 0]])).indices.tolist()
    [1, 0]
    """
    if isinstance(matrix, Adjacency):
        return matrix
    of_graph = getattr(matrix, "adjacency", None)
    return of_graph if isinstance(of_graph, Adjacency) else Adjacency.of(matrix)
