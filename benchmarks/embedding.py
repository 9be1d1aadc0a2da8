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
from grandplus.methods.grandplus.adam import Adam
from grandplus.methods.grandplus.losses import losses
from grandplus.methods.grandplus.model import MLP
from grandplus.methods.grandplus.random_propagation import RandomPropagation
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.rows import Rows, RowsInfo

NODES, ROWS, NEIGHBORS, STORED, CLASSES, BATCH = 200_000, 1000, 32, 50, 8, 40
WIDE, NARROW = 2_784_240, 28_000


class Steps:
    """A training that can be run some steps at a time."""

    def __init__(self, width: int) -> None:
        self.rng = np.random.default_rng(0)
        settings = load_settings(dataset="twin-mag-scholar-c", matrix="single").train
        neighbors = self.rng.integers(0, NODES, (ROWS, NEIGHBORS)).astype(np.int32)
        weights = np.full(neighbors.shape, 1 / NEIGHBORS, np.float32)
        info = RowsInfo("custom", (1.0,), 0.0, NEIGHBORS, NODES, "")
        rows = Rows(np.arange(ROWS), neighbors, weights, np.zeros(ROWS, np.float32), info)
        words = _words(self.rng, width)
        self.propagation = RandomPropagation(words, rows, dropnode=settings.dropnode, renormalize=True, sparse=True)
        torch.manual_seed(0)
        self.model = MLP(width, CLASSES, settings)
        rates = settings.lr, settings.weight_decay, settings.clip
        self.adam = Adam(self.model.parameters(), *rates, self.model.embedding)
        self.options = settings.model_dump(include={"temperature", "distance", "consistency_mean"})

    @property
    def rows_touched(self) -> int:
        """Of W⁰, by the last batch."""
        assert self.model.embedding
        return len(self.model.embedding.touched)

    def seconds(self, steps: int) -> float:
        """Of a step, on average."""
        labels = torch.from_numpy(self.rng.integers(0, CLASSES, BATCH // 2))
        start = time.perf_counter()
        for _ in range(steps):
            nodes = self.rng.choice(ROWS, BATCH, replace=False)
            logits = self.model(self.propagation.draw(nodes, self.rng, copies=2), self.rng, 2).view(2, BATCH, -1)
            loss = losses(logits, labels, weight=1.0, confidence=2 / CLASSES, **self.options)
            loss.total.backward()  # type: ignore[no-untyped-call]
            self.adam.step()
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
        found = [steps.seconds(options.steps) for steps in (wide, narrow)]
        if repeat:  # the first warms up
            print_line(
                benchmark="embedding", repeat=repeat - 1, features=WIDE, ms_a_step=1000 * found[0],
                rows_touched=wide.rows_touched, reference_features=NARROW,
                reference_ms=1000 * found[1], to_reference=found[0] / found[1],
            )  # fmt: skip


if __name__ == "__main__":
    main()
