"""GFPush into Parquet shards, in tasks of some rows each that may run on a cluster."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import ROWS_A_SHARD, Rows, shards
from grandplus.runtime import environment, tasks

ROWS_A_TASK = 1024  # on a cluster; on one machine a task is a whole shard, as its rows occupy all threads


def write_shards(adjacency: Adjacency, nodes: NDArray[np.int64], out: Path, **settings: Any) -> Iterator[str]:
    """Push the rows of some nodes into shards.

    Shards that are there already are kept, so that interrupted work goes on where it ended.

    Parameters
    ----------
    adjacency : Adjacency
        A cluster needs one that was loaded from a folder.
    nodes : ndarray of int64, shape (r,)
        Ascending.
    out : Path
        A folder that exists.
    **settings
        Further arguments of ``gfpush``.

    Yields
    ------
    str
        The name of a shard, as soon as it is there.

    Examples
    --------
    >>> import tempfile
    >>> path = Adjacency(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_shards(path, np.arange(3), Path(folder), weights=[0.5, 0.5], rmax=0, top_k=2)
    ...     list(written), len(Rows.load(folder))
    (['rows-00000-of-00001.parquet'], 3)
    """
    rows_a_task = ROWS_A_TASK if environment.scheduler() else ROWS_A_SHARD
    pieces = []  # (shard, nodes of a task)
    for file, first, last in shards(len(nodes)):
        if (out / file).exists():
            yield file
        else:
            starts = range(first, max(last, 1), rows_a_task)  # a task also where there are no rows: an empty shard
            pieces += [(file, nodes[start : min(start + rows_a_task, last)]) for start in starts]
    push = functools.partial(gfpush, adjacency, **settings)
    rows = tasks.map_tasks(push, [sources for _, sources in pieces], at_most=1)
    for file, parts in itertools.groupby(pieces, lambda piece: piece[0]):
        Rows.concatenate([next(rows) for _ in parts]).write_shard(out / file)
        yield file
