"""GFPush into Parquet shards, in tasks of some rows that may run on a cluster."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus import execution
from grandplus.graph import Adjacency, adjacency_at
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import ROWS_A_SHARD, Rows, shards

ROWS_A_TASK = 1024  # on a cluster; here all threads work on one task, so it is a whole shard


def write_shards(graph: Path, nodes: NDArray[np.int64], out: Path, **settings: Any) -> Iterator[str]:
    """Push the rows of ``nodes`` into shards, and tell each shard's name as it is there.

    Parameters
    ----------
    graph : folder of a saved graph
    nodes : int64 (r,), ascending
    out : existing folder; shards that it holds already are kept
    settings : of ``gfpush``
    """
    rows_a_task = ROWS_A_TASK if execution.scheduler() else ROWS_A_SHARD
    tasks = []
    for file, start, end in shards(len(nodes)):
        if (out / file).exists():
            yield file
        else:
            tasks += [(file, nodes[at : min(at + rows_a_task, end)]) for at in range(start, max(end, 1), rows_a_task)]
    push = functools.partial(_push, graph.absolute(), Adjacency.load(graph).fingerprint, settings)
    rows = execution.map_tasks(push, [part for _, part in tasks], at_most=1)
    for file, parts in itertools.groupby(tasks, lambda task: task[0]):
        Rows.concatenate([next(rows) for _ in parts]).write_shard(out / file)
        yield file


def _push(graph: Path, fingerprint: str, settings: dict[str, Any], nodes: NDArray[np.int64]) -> Rows:
    return gfpush(adjacency_at(graph, fingerprint), nodes, **settings)
