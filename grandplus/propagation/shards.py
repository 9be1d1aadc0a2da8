"""GFPush into Parquet shards, in tasks of some rows that may run on a cluster."""

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

ROWS_A_TASK = 1024  # on a cluster; here all threads work on one task, so it is a whole shard


def write_shards(adjacency: Adjacency, nodes: NDArray[np.int64], out: Path, **settings: Any) -> Iterator[str]:
    """Push the rows of ``nodes`` into shards, and tell each shard's name as it is there.

    Parameters
    ----------
    adjacency : loaded from a folder, if a cluster is to work on it
    nodes : int64 (r,), ascending
    out : existing folder; shards that it holds already are kept
    settings : of ``gfpush``
    """
    rows_a_task = ROWS_A_TASK if environment.scheduler() else ROWS_A_SHARD
    pieces = []
    for file, start, end in shards(len(nodes)):
        if (out / file).exists():
            yield file
        else:
            pieces += [(file, nodes[at : min(at + rows_a_task, end)]) for at in range(start, max(end, 1), rows_a_task)]
    push = functools.partial(gfpush, adjacency, **settings)
    rows = tasks.map_tasks(push, [part for _, part in pieces], at_most=1)
    for file, parts in itertools.groupby(pieces, lambda piece: piece[0]):
        Rows.concatenate([next(rows) for _ in parts]).write_shard(out / file)
        yield file
