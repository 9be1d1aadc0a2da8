"""The structure of a graph: a symmetric CSR adjacency without self-loops.

The self-loop of Ã = A + I is never stored: the kernels add it, exactly once, whatever the input held.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.files import map_array
from grandplus.graph.symmetrize import symmetrize
from grandplus.runtime.digests import State, remembered, state_of
from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.paths import as_path

FILES = ("indptr.npy", "indices.npy")
INT32_IDS = 2**31  # node ids below this are stored as int32


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A symmetric 0/1 matrix without diagonal, as CSR with sorted rows.

    Attributes
    ----------
    indptr : int64 (n + 1,)
    indices : int32 or int64 (stored entries,)
    folder : Path or None
        The folder that it was loaded from. Another process is then sent this path, and loads the arrays itself.
    opened : list or None
        The state of its files when they were loaded, see `grandplus.runtime.digests`.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    folder: Path | None = None
    opened: State | None = None

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

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the structure, by which rows name the graph that they belong to."""
        if self.folder:
            return remembered("structure", [self.folder / name for name in FILES], self._digest, self.opened)
        return self._digest()

    def save(self, folder: Path | str) -> None:
        """Write both arrays into an existing folder."""
        folder = as_path(folder, "folder")
        for name, array in zip(FILES, (self.indptr, self.indices), strict=True):
            np.save(folder / name, array)

    @classmethod
    def load(cls, folder: Path | str) -> Adjacency:
        """Memory-map a saved adjacency; its arrays are read-only.

        Raises
        ------
        ArtifactError
            A file is missing or damaged.
        """
        folder = as_path(folder, "folder").absolute()
        files = [folder / name for name in FILES]
        indptr, indices = map(map_array, files)
        return cls(indptr, indices, folder, state_of(files))

    def _digest(self) -> str:
        digest = hashlib.sha256(self.indptr.data)
        digest.update(self.indices.data)
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder:
            return adjacency_at, (self.folder, self.fingerprint)
        return Adjacency, (self.indptr, self.indices)


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


def build_adjacency(edges: NDArray[Any], nodes: int) -> tuple[Adjacency, dict[str, int]]:
    """Symmetrise, merge duplicates and drop self-loops.

    Parameters
    ----------
    edges : int32 or int64 (2, E)
        In any order, in one direction or both, with duplicates and self-loops; may be memory-mapped.
    nodes : int
        n; ids are 0 .. n - 1.

    Returns
    -------
    adjacency : Adjacency
    facts : dict of int
        ``edges`` (undirected, kept), ``merged_duplicates`` (entries that repeat an undirected edge, the other direction
        included), ``dropped_self_loops`` (entries) and ``isolated_nodes`` (nodes without an edge; they stay in the
        graph).

    Raises
    ------
    ArgumentError
        An edge names a node that is not there.

    Examples
    --------
    >>> adjacency, facts = build_adjacency(np.array([[0, 1, 2, 2], [1, 0, 1, 2]]), nodes=4)
    >>> adjacency.indptr.tolist(), adjacency.indices.tolist()
    ([0, 1, 3, 4, 4], [1, 0, 2, 1])
    >>> facts
    {'edges': 2, 'merged_duplicates': 1, 'dropped_self_loops': 1, 'isolated_nodes': 1}
    """
    indptr, indices, loops = symmetrize(edges, nodes, np.int32 if nodes <= INT32_IDS else np.int64)
    undirected = len(indices) // 2
    facts = {
        "edges": undirected,
        "merged_duplicates": edges.shape[1] - loops - undirected,
        "dropped_self_loops": loops,
        "isolated_nodes": int((np.diff(indptr) == 0).sum()),
    }
    return Adjacency(indptr, indices), facts


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
    if isinstance(of_graph, Adjacency):
        return of_graph
    if not sp.issparse(matrix):
        raise ArgumentError(f"adjacency is a {type(matrix).__name__}", expected="a scipy sparse matrix or a Graph")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"adjacency has shape {matrix.shape}", expected="a square matrix")
    entries = sp.coo_array(matrix)
    edges = np.stack([entries.row, entries.col])[:, entries.data != 0]
    return build_adjacency(edges, matrix.shape[0])[0]
