"""The graph: a symmetric CSR adjacency without self-loops, features, labels and names.

On disk it is a folder of ``.npy`` arrays, read by memory-mapping, with ``graph.json`` saying
what was counted, merged and dropped. The self-loop of Ã = A + I is never stored: the kernels
add it, exactly once, whatever the input held.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.errors import GrandPlusError
from grandplus.symmetrize import symmetrize

FORMAT_VERSION = 1
_REMAKE = "run dvc repro to make it anew"
INT32_IDS = 2**31  # node ids below this are stored as int32

Features: TypeAlias = Any  # float32 (n, d): ndarray or scipy CSR


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A symmetric 0/1 matrix without diagonal, as CSR with sorted rows.

    indptr : int64 (n + 1,)
    indices : int32 or int64 (stored entries,)
    folder : that it was loaded from, if it was: another process is then sent no arrays but loads it too
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    folder: Path | None = None

    @property
    def nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degrees in Ã, so with the self-loop: int64 (n,), at least 1."""
        return np.diff(self.indptr) + 1

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the structure; what rows of this graph are known by."""
        digest = hashlib.sha256(self.indptr.data)
        digest.update(self.indices.data)
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        np.save(folder / "indptr.npy", self.indptr)
        np.save(folder / "indices.npy", self.indices)

    @classmethod
    def load(cls, folder: Path | str) -> Adjacency:
        folder = Path(folder).absolute()
        return cls(_map(folder / "indptr.npy"), _map(folder / "indices.npy"), folder)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder:
            return adjacency_at, (self.folder, self.fingerprint)
        return Adjacency, (self.indptr, self.indices)


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with what training needs.

    adjacency : Adjacency of n nodes
    features : float32 (n, d), dense or scipy CSR
    labels : int64 (n,), numbers into ``classes``; -1 where unknown
    classes : names
    node_ids : (n,), the ids that the data came with
    facts : what was counted, merged and dropped on the way here
    """

    adjacency: Adjacency
    features: Features
    labels: NDArray[np.int64]
    classes: list[str]
    node_ids: NDArray[Any]
    facts: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the arrays into an existing folder."""
        self.adjacency.save(folder)
        if not sp.issparse(self.features):
            np.save(folder / "features.npy", self.features)
        else:
            np.save(folder / "features.indptr.npy", self.features.indptr.astype(np.int64))
            np.save(folder / "features.indices.npy", self.features.indices.astype(np.int32))
            np.save(folder / "features.data.npy", self.features.data)
        np.save(folder / "labels.npy", self.labels)
        _write_json(folder / "classes.json", self.classes)
        ids = pa.table({"row": pa.array(np.arange(len(self.node_ids))), "id": pa.array(self.node_ids)})
        pq.write_table(ids, folder / "node_ids.parquet")
        width = {"features": int(self.features.shape[1])}
        _write_json(folder / "graph.json", self.facts | width | {"format_version": FORMAT_VERSION})

    @classmethod
    def load(cls, folder: Path | str) -> Graph:
        """Memory-map a saved graph; its arrays are read-only."""
        folder = Path(folder)
        facts = _read_json(folder / "graph.json")
        if facts.get("format_version") != FORMAT_VERSION:
            raise GrandPlusError(
                f"format version is {facts.get('format_version')}",
                where=folder,
                expected=str(FORMAT_VERSION),
                fix="run dvc repro preprocess again",
            )
        return cls(
            adjacency=Adjacency.load(folder),
            features=_load_features(folder, int(facts["features"])),
            labels=_map(folder / "labels.npy"),
            classes=list(_read_json(folder / "classes.json")),
            node_ids=read_parquet(folder / "node_ids.parquet")["id"].to_numpy(),
            facts=facts,
        )


def adjacency_at(folder: Path, fingerprint: str) -> Adjacency:
    """The adjacency of a saved graph, memory-mapped and checked once for all tasks of a process.

    fingerprint : the one that it must have

    Raises
    ------
    GrandPlusError : there is no such folder, or another graph in it.
    """
    if _adjacency_at(folder).fingerprint != fingerprint:
        _adjacency_at.cache_clear()  # it may have been made anew since
    if _adjacency_at(folder).fingerprint != fingerprint:
        raise GrandPlusError(
            "holds another graph for this process than for the one that gave it work",
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
    edges : int32 or int64 (2, E), any order, either or both directions, with duplicates and self-loops;
        may be memory-mapped
    nodes : n; ids are 0 .. n - 1

    Returns
    -------
    Adjacency and what was done: ``edges`` (undirected, kept), ``merged_duplicates`` (entries that
    repeat an undirected edge, the other direction included), ``dropped_self_loops`` (entries),
    ``isolated_nodes`` (nodes left without an edge; they stay in the graph).

    >>> adjacency, facts = build_adjacency(np.array([[0, 1, 2, 2], [1, 0, 1, 2]]), nodes=4)
    >>> adjacency.indptr.tolist(), adjacency.indices.tolist()
    ([0, 1, 3, 4, 4], [1, 0, 2, 1])
    >>> facts
    {'edges': 2, 'merged_duplicates': 1, 'dropped_self_loops': 1, 'isolated_nodes': 1}
    """
    if edges.size and (edges.min() < 0 or edges.max() >= nodes):
        bad = int(edges.min() if edges.min() < 0 else edges.max())
        raise GrandPlusError(f"an edge names node {bad}", expected=f"ids from 0 to {nodes - 1}")
    indptr, indices, loops = symmetrize(edges, nodes, np.int32 if nodes <= INT32_IDS else np.int64)
    kept = len(indices) // 2
    facts = {
        "edges": kept,
        "merged_duplicates": edges.shape[1] - loops - kept,
        "dropped_self_loops": loops,
        "isolated_nodes": int((np.diff(indptr) == 0).sum()),
    }
    return Adjacency(indptr, indices), facts


def as_adjacency(matrix: Adjacency | Graph | sp.sparray | sp.spmatrix) -> Adjacency:
    """What a notebook has -> Adjacency: any scipy sparse matrix is symmetrised, its values ignored.

    Raises
    ------
    GrandPlusError : the matrix is not square, or of no known kind.
    """
    if isinstance(matrix, Adjacency):
        return matrix
    if isinstance(matrix, Graph):
        return matrix.adjacency
    if not sp.issparse(matrix):
        raise GrandPlusError(f"adjacency is a {type(matrix).__name__}", expected="a scipy sparse matrix or a Graph")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GrandPlusError(f"adjacency has shape {matrix.shape}", expected="a square matrix")
    entries = sp.coo_array(matrix)
    edges = np.stack([entries.row, entries.col])[:, entries.data != 0]
    return build_adjacency(edges, matrix.shape[0])[0]


def csr_of(indptr: NDArray[np.int64], indices: NDArray[np.int32], data: NDArray[np.float32], width: int) -> Any:
    """A scipy CSR matrix over these very arrays: its own check would read them all, and copy two to one type."""
    matrix = sp.csr_array((len(indptr) - 1, width), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


def read_parquet(file: Path) -> pa.Table:
    """Read a table of data/graph."""
    try:
        return pq.read_table(file)
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix=_REMAKE) from None
    except (pa.ArrowException, OSError) as error:
        raise GrandPlusError(f"is no readable table: {error}", where=file, fix=_REMAKE) from None


def _load_features(folder: Path, width: int) -> Features:
    if (folder / "features.npy").exists():
        dense: NDArray[np.float32] = _map(folder / "features.npy")
        return dense
    indptr, indices, data = (_map(folder / f"features.{part}.npy") for part in ("indptr", "indices", "data"))
    return csr_of(indptr, indices, data, width)


def _map(file: Path) -> NDArray[Any]:
    try:
        mapped = np.load(file, mmap_mode="r", allow_pickle=False)
        return np.asarray(mapped)  # a plain view: numba knows no memmap
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix=_REMAKE) from None
    except (ValueError, OSError, EOFError) as error:
        raise GrandPlusError(f"is no readable array: {error}", where=file, fix=_REMAKE) from None


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix=_REMAKE) from None
    except ValueError as error:
        raise GrandPlusError(f"is no readable JSON: {error}", where=file, fix=_REMAKE) from None


def _write_json(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, indent=2, sort_keys=isinstance(content, dict)) + "\n", encoding="utf-8")
