"""Sparse rows of Π, in memory and as Parquet shards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.paths import as_path
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors

ROWS_A_SHARD = 4096
METADATA = b"grandplus"
# The bytes of a shard depend on these options, so they stand in one place.
WRITER = {"compression": "zstd", "compression_level": 3, "version": "2.6", "use_dictionary": False}


@dataclass(frozen=True)
class RowsInfo:
    """What rows were made from; every shard holds it.

    Parameters
    ----------
    matrix : str
        The name of Π.
    weights : tuple of float
        w_0..w_N.
    rmax : float
        The push threshold r_max.
    top_k : int
        How many entries a row may have.
    nodes : int
        The number of nodes of the graph.
    graph : str
        The fingerprint of its adjacency.
    """

    matrix: str
    weights: tuple[float, ...]
    rmax: float
    top_k: int
    nodes: int
    graph: str

    @property
    def order(self) -> int:
        """N, the highest power of P."""
        return len(self.weights) - 1

    @classmethod
    def load(cls, folder: Path | str) -> RowsInfo:
        """What the rows of a folder were made from, by its first shard.

        Parameters
        ----------
        folder : path

        Returns
        -------
        RowsInfo

        Raises
        ------
        ArtifactError
            The folder holds no shard, or a damaged one.
        """
        folder = as_path(folder, "folder")
        file = folder / _complete_set(folder)[0]
        with artifact_errors(file, "can't be read", pa.ArrowException):
            return _info(pq.read_schema(file), file)


@dataclass(frozen=True, eq=False)
class Rows:
    """Sparse rows Π̃_s^(k) of r nodes s, as arrays of width k; a row with fewer entries ends with -1 and 0.

    Parameters
    ----------
    node : ndarray of int64, shape (r,)
        The nodes s, ascending.
    neighbors : ndarray of int32 or int64, shape (r, k)
        The nodes v of a row's entries, by descending value; of equal values the lower node comes first.
    values : ndarray of float32, shape (r, k)
        The entries Π̃(s, v).
    l1_error : ndarray of float32, shape (r,)
        ‖Π_s - Π̃_s^(k)‖₁.
    info : RowsInfo
        What the rows were made from.

    Examples
    --------
    Two rows of the path 0 - 1 - 2, with Π = (I + P) / 2:

    >>> from grandplus.propagation.gfpush import gfpush
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> rows = gfpush(path, [0, 2], weights=[0.5, 0.5], rmax=1e-4, top_k=2)
    >>> rows.node.tolist(), rows.neighbors.tolist(), rows.values.tolist()
    ([0, 2], [[0, 1], [2, 1]], [[0.75, 0.25], [0.75, 0.25]])
    >>> rows.to_csr().toarray().tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.25, 0.75]]
    >>> rows.positions(np.array([2, 2, 0])).tolist()
    [1, 1, 0]
    >>> rows.of(np.array([2])).neighbors.tolist()
    [[2, 1]]
    """

    node: NDArray[np.int64]
    neighbors: NDArray[Any]
    values: NDArray[np.float32]
    l1_error: NDArray[np.float32]
    info: RowsInfo

    def __len__(self) -> int:
        return len(self.node)

    def to_csr(self) -> sp.csr_array:
        """The rows as a sparse matrix.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (r, n)
            A row for each entry of ``node``.
        """
        stored = self.neighbors >= 0
        indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
        shape = (len(self), self.info.nodes)
        return sp.csr_array((self.values[stored], self.neighbors[stored], indptr), shape=shape)

    def positions(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the rows of some nodes stand in the arrays.

        Parameters
        ----------
        nodes : ndarray of int64, shape (b,)

        Returns
        -------
        ndarray of int64, shape (b,)

        Raises
        ------
        ArgumentError
            There is no row of a node.
        """
        positions = np.searchsorted(self.node, nodes)
        present = positions < len(self)
        present[present] = self.node[positions[present]] == nodes[present]
        if not present.all():
            raise ArgumentError(f"there is no row of node {int(nodes[~present][0])}")
        return positions

    def of(self, nodes: NDArray[np.int64]) -> Rows:
        """The rows of some nodes, as wide as the longest of them.

        Parameters
        ----------
        nodes : ndarray of int64, shape (b,)
            Ascending.

        Returns
        -------
        Rows

        Raises
        ------
        ArgumentError
            There is no row of a node.
        """
        chosen = self.positions(nodes)
        width = int((self.neighbors[chosen] >= 0).sum(axis=1).max(initial=0))
        neighbors, values = self.neighbors[chosen, :width], self.values[chosen, :width]
        return Rows(self.node[chosen], neighbors, values, self.l1_error[chosen], self.info)

    def part(self, start: int, end: int) -> Rows:
        """The rows ``start`` to ``end`` - 1, as views.

        Parameters
        ----------
        start, end : int
            Positions, as in a slice.

        Returns
        -------
        Rows
        """
        piece = slice(start, end)
        return Rows(self.node[piece], self.neighbors[piece], self.values[piece], self.l1_error[piece], self.info)

    def largest(self, top_k: int) -> Rows:
        """The k largest entries of each row, as if only these had been kept.

        Parameters
        ----------
        top_k : int
            k, at most that of these rows.

        Returns
        -------
        Rows
            Copies. ``l1_error`` is 1 minus the sum of the values, in float64.

        Raises
        ------
        ArgumentError
            These rows have fewer entries.
        """
        if top_k == self.info.top_k:
            return self
        if not 1 <= top_k < self.info.top_k:
            raise ArgumentError(f"top_k is {top_k}", expected=f"from 1 to {self.info.top_k}, as the rows have")
        neighbors, values = (np.ascontiguousarray(part[:, :top_k]) for part in (self.neighbors, self.values))
        l1_error = np.maximum(0, 1 - values.sum(axis=1, dtype=np.float64)).astype(np.float32)
        return Rows(self.node, neighbors, values, l1_error, replace(self.info, top_k=top_k))

    @classmethod
    def concatenate(cls, parts: list[Rows]) -> Rows:
        """One table of several.

        Parameters
        ----------
        parts : list of Rows
            Of the same graph and settings, their nodes ascending from one to the next.

        Returns
        -------
        Rows
        """
        arrays = zip(*((part.node, part.neighbors, part.values, part.l1_error) for part in parts), strict=True)
        node, neighbors, values, l1_error = map(np.concatenate, arrays)
        return cls(node, neighbors, values, l1_error, parts[0].info)

    def save(self, folder: Path | str) -> None:
        """Write the rows as shards ``rows-00000-of-00008.parquet``, …, in place of those that the folder holds.

        Each shard appears whole or not at all.

        Parameters
        ----------
        folder : path
            It is made if there is none.
        """
        folder = as_path(folder, "folder")
        folder.mkdir(parents=True, exist_ok=True)
        written = set()
        for file, start, end in shards(len(self)):
            self.part(start, end).write_shard(folder / file)
            written.add(file)
        for file in _shards_in(folder).keys() - written:
            (folder / file).unlink()

    def write_shard(self, file: Path) -> None:
        """Write these rows into one Parquet file, whose column of values is named ``weights``.

        Parameters
        ----------
        file : path
        """
        stored = self.neighbors >= 0
        offsets = pa.array(np.concatenate([[0], np.cumsum(stored.sum(axis=1))]), pa.int32())
        lists = (pa.ListArray.from_arrays(offsets, pa.array(part[stored])) for part in (self.neighbors, self.values))
        schema = _schema(pa.from_numpy_dtype(self.neighbors.dtype))
        table = pa.table([pa.array(self.node), *lists, pa.array(self.l1_error)], schema=schema)
        info = json.dumps(asdict(self.info), sort_keys=True)
        with finished_whole(file) as partial:
            pq.write_table(table.replace_schema_metadata({METADATA: info}), partial, **WRITER)

    @classmethod
    def load(cls, folder: Path | str, graph: str | None = None) -> Rows:
        """Read all shards of a folder.

        Parameters
        ----------
        folder : path
        graph : str, optional
            The fingerprint of the graph that they must belong to; any by default.

        Returns
        -------
        Rows

        Raises
        ------
        ArtifactError
            A shard is missing, damaged, of another graph or of another schema. The error names the file.
        """
        folder = as_path(folder, "folder")
        files = [folder / name for name in _complete_set(folder)]
        tables = [_read_shard(file) for file in files]
        infos = [_info(table.schema, file) for table, file in zip(tables, files, strict=True)]
        for file, table, info in zip(files, tables, infos, strict=True):
            if info != infos[0] or graph not in (None, info.graph):
                raise ArtifactError("is of another graph or other settings", where=file)
            if not table.schema.equals(tables[0].schema):
                raise _other_columns(table.schema, file)
        return _from_table(pa.concat_tables(tables), infos[0])


def shards(rows: int) -> Iterator[tuple[str, int, int]]:
    """The shards of a table.

    Parameters
    ----------
    rows : int
        How many rows the table has.

    Yields
    ------
    (str, int, int)
        File name, first row, last row + 1.

    Examples
    --------
    >>> list(shards(5000))
    [('rows-00000-of-00002.parquet', 0, 4096), ('rows-00001-of-00002.parquet', 4096, 5000)]
    """
    names = _shard_names(max(1, -(-rows // ROWS_A_SHARD)))
    for number, name in enumerate(names):
        yield name, number * ROWS_A_SHARD, min((number + 1) * ROWS_A_SHARD, rows)


_SHARD = re.compile(r"rows-\d{5,}-of-(\d{5,})\.parquet")


def _shard_names(count: int) -> list[str]:
    return [f"rows-{number:05d}-of-{count:05d}.parquet" for number in range(count)]


def _shards_in(folder: Path) -> dict[str, int]:
    """The shards that a folder holds, by name, and the size of the set that each belongs to."""
    names = (file.name for file in folder.glob("rows-*"))
    return {name: int(match[1]) for name in names if (match := _SHARD.fullmatch(name))}


def _complete_set(folder: Path) -> list[str]:
    """The names of a folder's shards, if they are one set and none is missing."""
    present = _shards_in(folder)
    sizes = sorted(set(present.values()))
    if not sizes:
        raise ArtifactError("holds no rows", where=folder)
    if len(sizes) > 1:
        sets = " and of ".join(map(str, sizes))
        raise ArtifactError(f"holds shards of several sets, of {sets}", where=folder, fix="empty it")
    names = _shard_names(sizes[0])
    for name in names:
        if name not in present:
            raise ArtifactError("no such file", where=folder / name)
    return names


def _schema(index_type: pa.DataType) -> pa.Schema:
    lists = {"neighbors": pa.list_(index_type), "weights": pa.list_(pa.float32())}
    return pa.schema({"node": pa.int64(), **lists, "l1_error": pa.float32()})


def _read_shard(file: Path) -> pa.Table:
    with artifact_errors(file, "can't be read", pa.ArrowException):
        table = pq.read_table(file, memory_map=True)
    if not any(table.schema.equals(_schema(index_type)) for index_type in (pa.int32(), pa.int64())):
        raise _other_columns(table.schema, file)
    return table


def _other_columns(schema: pa.Schema, file: Path) -> ArtifactError:
    columns = ", ".join(f"{column.name} {column.type}" for column in schema)
    return ArtifactError(f"has columns {columns}", where=file, expected="those of the other rows")


def _info(schema: pa.Schema, file: Path) -> RowsInfo:
    try:
        fields = json.loads(schema.metadata[METADATA])
        return RowsInfo(**{**fields, "weights": tuple(fields["weights"])})
    except (KeyError, TypeError, ValueError):
        raise ArtifactError("says nothing of what it was made from", where=file) from None


def _from_table(table: pa.Table, info: RowsInfo) -> Rows:
    lists = [table[name].combine_chunks() for name in ("neighbors", "weights")]
    lengths = np.diff(lists[0].offsets.to_numpy())
    width = int(lengths.max(initial=0))
    stored = np.arange(width) < lengths[:, None]
    flat = [part.flatten().to_numpy() for part in lists]
    neighbors = np.full(stored.shape, -1, flat[0].dtype)
    values = np.zeros(stored.shape, np.float32)
    neighbors[stored], values[stored] = flat
    return Rows(table["node"].to_numpy(), neighbors, values, table["l1_error"].to_numpy(), info)
