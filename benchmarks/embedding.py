"""What does a step cost with millions of feature dimensions, which are embedded? Against one of 28,000.

MAG-Scholar-C's setting: 20 + 20 nodes a batch, M = 2, rows of 32 neighbours, 50 stored features a node, d_h = 32.
Both graphs have the same rows and differ in their features alone, which follow a power law as words do. Prints a
JSON line for each repeat:

    python -m benchmarks.embedding
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from benchmarks.lines import print_line
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.rows import Rows, RowsInfo

NODES, ROWS, NEIGHBORS, STORED, CLASSES, BATCH = 200_000, 1000, 32, 50, 8, 40
WIDE, NARROW = 2_784_240, 28_000


class Steps:
    """A training that can be run some steps at a time."""

    def __init__(self, width: int, threads: int = 1) -> None:
        self.rng = np.random.default_rng(0)
        settings = load_settings(dataset="twin-mag-scholar-c", matrix="single").train
        assert isinstance(settings, Settings)
        neighbors = self.rng.integers(0, NODES, (ROWS, NEIGHBORS)).astype(np.int32)
        values = np.full(neighbors.shape, 1 / NEIGHBORS, np.float32)
        info = RowsInfo("custom", (1.0,), 0.0, NEIGHBORS, NODES, "")
        rows = Rows(np.arange(ROWS), neighbors, values, np.zeros(ROWS, np.float32), info)
        no_edges, nobody = as_adjacency(sp.csr_array((NODES, NODES))), np.empty(0, np.int64)
        classes = [f"class {number}" for number in range(CLASSES)]
        graph = Graph(no_edges, _words(self.rng, width), np.zeros(NODES, np.int64), classes, np.arange(NODES))
        torch.manual_seed(0)
        self.mlp = MLP(width, CLASSES, settings)
        task = Task(graph, Split(nobody, nobody, nobody, nobody), rows, threads=threads)
        self.compute = Fused(task, settings, self.mlp, self.rng)

    @property
    def rows_used(self) -> int:
        """How many rows of W⁰ the last batch used."""
        assert self.mlp.embedding is not None
        return len(self.mlp.embedding.columns)

    def seconds(self, steps: int) -> float:
        """Mean of so many steps."""
        labels, nobody = self.rng.integers(0, CLASSES, BATCH // 2), np.empty(0, np.int64)
        batches = [(self.rng.choice(ROWS, BATCH, replace=False), nobody) for _ in range(steps)]
        start = time.perf_counter()
        for _, inputs in self.compute.inputs(batches):
            self.compute.step(inputs, labels, 1.0)
        return (time.perf_counter() - start) / steps


def _words(rng: np.random.Generator, width: int) -> sp.csr_array:
    """STORED words a node; the r-th most frequent comes 1 / r times as often as the first, as in text."""
    ranks = np.exp(rng.random(NODES * STORED) * np.log(width)).astype(np.int64) - 1
    columns: NDArray[np.int32] = rng.permutation(width).astype(np.int32)[ranks]
    indptr = np.arange(0, len(columns) + 1, STORED)
    return sp.csr_array((np.full(len(columns), 1 / STORED, np.float32), columns, indptr), shape=(NODES, width))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.set_num_threads(1)
    wide, narrow = Steps(WIDE), Steps(NARROW)
    for repeat in range(options.repeats + 1):
        of_wide, of_narrow = (steps.seconds(options.steps) for steps in (wide, narrow))
        if repeat:  # the first warms up
            print_line(
                benchmark="embedding", repeat=repeat - 1, features=WIDE, ms_a_step=1000 * of_wide,
                rows_used=wide.rows_used, reference_features=NARROW,
                reference_ms=1000 * of_narrow, to_reference=of_wide / of_narrow,
            )  # fmt: skip


if __name__ == "__main__":
    main()
