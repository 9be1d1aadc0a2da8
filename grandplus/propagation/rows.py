"""Sparse rows of Π, in memory and as Parquet shards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.storage import finished_whole

ROWS_A_SHARD = 4096
METADATA = b"grandplus"
# One constant decides the bytes of a shard.
WRITER = {"compression": "zstd", "compression_level": 3, "version": "2.6", "use_dictionary": False}


@dataclass(frozen=True)
class RowsInfo:
    """What rows were made from; stands in each shard."""

    matrix: str
    weights: tuple[float, ...]  # w_0..w_N
    rmax: float
    top_k: int
    nodes: int  # of the graph
    graph: str  # fingerprint of its adjacency

    @property
    def order(self) -> int:
        return len(self.weights) - 1

    @classmethod
    def load(cls, folder: Path | str) -> RowsInfo:
        """What the rows of a folder were made from, by the first shard.

        Raises
        ------
        ArtifactError : there is none, or it is damaged.
        """
        file = Path(folder) / _names_in(Path(folder))[0]
        try:
            return _info(pq.read_schema(file), file)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(error, file) from None


@dataclass(frozen=True, eq=False)
class Rows:
    """Sparse rows Π̃^(k) of r nodes, of width k; a shorter row ends with -1 and 0.

    node : int64 (r,), ascending
    neighbors : int32 or int64 (r, k), by descending weight, ties by node id
    weights : float32 (r, k)
    l1_error : float32 (r,), ‖Π_s - Π̃_s^(k)‖₁
    """

    node: NDArray[np.int64]
    neighbors: NDArray[Any]
    weights: NDArray[np.float32]
    l1_error: NDArray[np.float32]
    info: RowsInfo

    def __len__(self) -> int:
        return len(self.node)

    def to_csr(self) -> sp.csr_array:
        """float32 (r, n), a row for each entry of ``node``."""
        held = self.neighbors >= 0
        indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        shape = (len(self), self.info.nodes)
        return sp.csr_array((self.weights[held], self.neighbors[held], indptr), shape=shape)

    def positions(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where in this table the rows of ``nodes`` stand."""
        at = np.searchsorted(self.node, nodes)
        found = at < len(self)
        found[found] = self.node[at[found]] == nodes[found]
        if not found.all():
            raise ArgumentError(f"there is no row of node {int(nodes[~found][0])}")
        return at

    def save(self, folder: Path | str) -> None:
        """Write shards ``rows-00000-of-00008.parquet``, …; each appears whole or not at all.

        They take the place of those that the folder holds.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = set()
        for file, start, end in shards(len(self)):
            self.part(start, end).write_shard(folder / file)
            written.add(file)
        for file in _shards_in(folder).keys() - written:
            (folder / file).unlink()

    def part(self, start: int, end: int) -> Rows:
        """Rows ``start`` to ``end``."""
        piece = slice(start, end)
        return Rows(self.node[piece], self.neighbors[piece], self.weights[piece], self.l1_error[piece], self.info)

    @classmethod
    def concatenate(cls, parts: list[Rows]) -> Rows:
        """Rows of the same graph and settings, one part after the other."""
        arrays = zip(*((part.node, part.neighbors, part.weights, part.l1_error) for part in parts), strict=True)
        node, neighbors, weights, l1_error = map(np.concatenate, arrays)
        return cls(node, neighbors, weights, l1_error, parts[0].info)

    def write_shard(self, file: Path) -> None:
        held = self.neighbors >= 0
        offsets = pa.array(np.concatenate([[0], np.cumsum(held.sum(axis=1))]), pa.int32())
        lists = (pa.ListArray.from_arrays(offsets, pa.array(part[held])) for part in (self.neighbors, self.weights))
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
        graph : the fingerprint that they must have, where one is wanted

        Raises
        ------
        ArtifactError : a shard is missing, damaged, of another graph or another schema; names it.
        """
        folder = Path(folder)
        files = [folder / name for name in _names_in(folder)]
        tables = [_read_shard(file) for file in files]
        infos = [_info(table.schema, file) for table, file in zip(tables, files, strict=True)]
        for file, table, info in zip(files, tables, infos, strict=True):
            if info != infos[0] or graph not in (None, info.graph):
                raise ArtifactError("is of another graph or other settings", where=file)
            if not table.schema.equals(tables[0].schema):
                raise _other_columns(table.schema, file)
        return _from_table(pa.concat_tables(tables), infos[0])


def shards(rows: int) -> Iterator[tuple[str, int, int]]:
    """The shards that a table of ``rows`` rows is kept in: (file name, first row, last row + 1).

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
    """Names, and of how many shards each says it is one."""
    names = (file.name for file in folder.glob("rows-*"))
    return {name: int(match[1]) for name in names if (match := _SHARD.fullmatch(name))}


def _names_in(folder: Path) -> list[str]:
    """The names of the one whole set of shards that a folder holds."""
    found = _shards_in(folder)
    counts = sorted(set(found.values()))
    if not counts:
        raise ArtifactError("holds no rows", where=folder)
    if len(counts) > 1:
        sets = " and of ".join(map(str, counts))
        raise ArtifactError(f"holds shards of several sets, of {sets}", where=folder, fix="empty it")
    names = _shard_names(counts[0])
    for name in names:
        if name not in found:
            raise ArtifactError("no such file", where=folder / name)
    return names


def _schema(index_type: pa.DataType) -> pa.Schema:
    lists = {"neighbors": pa.list_(index_type), "weights": pa.list_(pa.float32())}
    return pa.schema({"node": pa.int64(), **lists, "l1_error": pa.float32()})


def _read_shard(file: Path) -> pa.Table:
    try:
        table = pq.read_table(file, memory_map=True)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(error, file) from None
    if not any(table.schema.equals(_schema(kind)) for kind in (pa.int32(), pa.int64())):
        raise _other_columns(table.schema, file)
    return table


def _unreadable(error: Exception, file: Path) -> ArtifactError:
    return ArtifactError(f"can't be read: {error}", where=file)


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
    counts = np.diff(lists[0].offsets.to_numpy())
    width = int(counts.max(initial=0))
    held = np.arange(width) < counts[:, None]
    flat = [part.flatten().to_numpy() for part in lists]
    neighbors = np.full(held.shape, -1, flat[0].dtype)
    weights = np.zeros(held.shape, np.float32)
    neighbors[held], weights[held] = flat
    return Rows(table["node"].to_numpy(), neighbors, weights, table["l1_error"].to_numpy(), info)
