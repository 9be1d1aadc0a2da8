"""A file with edges only, beside tables with labels and features: it is read as the edge table that it stands for."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.datasets.account import Account
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.raw_graph import unused_attributes, unused_of_edges, weight_of, weights_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.ids import as_numpy
from grandplus.runtime.errors import GrandPlusError

_ENDS = ("source", "target")


class Tables(Protocol):
    """The format of tables."""

    def recognise(self, files: list[Path], asked: Reading) -> Reading | None:
        """See `grandplus.datasets.formats.Format`."""

    def read(self, folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
        """See `grandplus.datasets.formats.Format`."""


def reading_beside(graph: AttributedGraph, others: dict[str, Path], asked: Reading, tables: Tables) -> Reading | None:
    """How to read the tables beside a file of edges.

    Parameters
    ----------
    graph : AttributedGraph
        What the file holds.
    others : dict of Path
        The tables, and files of features, by what the card calls them.
    asked : Reading
        What the user says of them; it is kept.
    tables : module
        The format of tables.

    Returns
    -------
    Reading or None
        ``edges`` is the name of the file.
    """
    with _as_tables(graph, others) as (folder, edges):
        files = [folder / edges, *(folder / name for name in others)]
        reading = tables.recognise(files, _of_edge_table(asked, edges))
    if reading is None:
        return None
    kept = {"edges": graph.where.name, "ends": None, "weights": asked.weights, "weight": weight_of(graph, asked)}
    return reading.model_copy(update=kept)


def read_beside(graph: AttributedGraph, others: dict[str, Path], source: Source, tables: Tables) -> RawGraph:
    """Read a file of edges and the tables beside it.

    Parameters
    ----------
    graph : AttributedGraph
        What the file holds. A node that no edge names is one all the same.
    others : dict of Path
        The tables, and files of features, by what the card calls them.
    source : Source
        As ``reading_beside`` says.
    tables : module
        The format of tables.

    Returns
    -------
    RawGraph

    Raises
    ------
    GrandPlusError
        Edges have weights that are refused, a table names a node that the file lacks although it lists all, or a table
        is wrong.
    """
    weights = weights_of(graph, source.read)
    with _as_tables(graph, others) as (temporary, edges):
        how = source.model_copy(update={"read": _of_edge_table(source.read, edges)})
        raw = tables.read(temporary, [edges, *others], how)
    if graph.lists_all:
        known = set(graph.ids)
        other = next((name for name in as_numpy(pa.array(raw.node_ids).cast(pa.string())) if name not in known), None)
        if other is not None:
            expected = f"a node of {graph.where.name}, such as {', '.join(graph.ids[:2])}"
            where = others.get(source.read.nodes or "", graph.where)
            raise GrandPlusError(f"names node {other!r}", where=where, expected=expected)
    account = _renamed(raw.account, edges, graph, source.read)
    return replace(
        raw, edges=raw.edges[:, : graph.edges.shape[1]], weights=weights, undirected=graph.undirected, account=account
    )


def _of_edge_table(read: Reading, edges: str) -> Reading:
    return read.model_copy(update={"edges": edges, "ends": _ENDS, "weights": None, "weight": None})


@contextlib.contextmanager
def _as_tables(graph: AttributedGraph, others: dict[str, Path]) -> Iterator[tuple[Path, str]]:
    """A folder with the edges as a table, whose name is given too, and links to the other files.

    The last rows are self-loops of the nodes that no edge names. Errors name the user's files.
    """
    name = f"{graph.where.name}.parquet"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        alone = np.setdiff1d(np.arange(len(graph.ids)), graph.edges)
        ids = np.array(graph.ids, object)
        ends = [pa.array(ids[np.concatenate([end, alone])], pa.string()) for end in graph.edges]
        pq.write_table(pa.table(dict(zip(_ENDS, ends, strict=True))), folder / name)
        for other, file in others.items():
            (folder / other).parent.mkdir(parents=True, exist_ok=True)
            (folder / other).symlink_to(file.absolute())
        try:
            yield folder, name
        except GrandPlusError as error:
            for part in ("found", "where", "expected", "fix"):
                text = str(getattr(error, part)).replace(str(folder), str(graph.where.parent))
                setattr(error, part, text.replace(name, graph.where.name))
            raise


def _renamed(account: Account, edges: str, graph: AttributedGraph, how: Reading) -> Account:
    count = graph.edges.shape[1]
    files = tuple(
        replace(entry, file=graph.where.name, read=count, skipped=graph.skipped) if entry.file == edges else entry
        for entry in account.files
    )
    return replace(
        account,
        files=files,
        unused=(*account.unused, *unused_attributes(graph).values(), *unused_of_edges(graph, how)),
        dropped={**account.dropped, **graph.dropped},
    )
