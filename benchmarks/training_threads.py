"""One training on two cores beside the same on one: steps of the paper's small graphs, and of an embedding.

Both go on by turns, some steps at a time. Besides the time that passes it prints processor time, of the thread that
waits for the others and of these: on a busy machine the longer of both is what idle cores would need. A JSON line each:

    python -m benchmarks.training_threads
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import embedding
from benchmarks.lines import print_line
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.method import batches
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare

THREADS, TURNS = 2, 12


class Steps:
    """A training of a dataset that can be run some steps at a time."""

    def __init__(self, dataset: str, threads: int) -> None:
        prepared = prepare(Case(dataset, BEST_MATRIX[dataset]), 1)
        settings, self.labels = prepared.settings.train, prepared.graph.labels
        assert isinstance(settings, Settings)
        split, rng = prepared.splits.of(0), np.random.default_rng(0)
        torch.manual_seed(0)
        mlp = MLP(int(prepared.graph.features.shape[1]), len(prepared.graph.classes), settings)
        self.compute = Fused(Task(prepared.graph, split, prepared.rows, threads=threads), settings, mlp, rng)
        self.inputs = self.compute.inputs(batches(split, settings, rng))

    def seconds(self, steps: int) -> float:
        """Mean of so many steps."""
        start = time.perf_counter()
        for _ in range(steps):
            labelled, inputs = next(self.inputs)
            self.compute.step(inputs, self.labels[labelled], 1.0)
        return (time.perf_counter() - start) / steps


def measure(seconds: Callable[[int], float], steps: int) -> NDArray[np.float64]:
    """Milliseconds a step: of time, of this thread's processor time, and of the other threads'."""
    own, everyone = time.thread_time(), time.process_time()
    passed = seconds(steps)
    own, everyone = time.thread_time() - own, time.process_time() - everyone
    return 1e3 * np.array([passed, own / steps, (everyone - own) / steps])


def compare(make: Callable[[int], Steps | embedding.Steps], steps: int) -> dict[str, float]:
    """Medians of the turns."""
    one, several = make(1), make(THREADS)
    turns = np.array([[measure(run.seconds, steps) for run in (one, several)] for _ in range(TURNS + 1)])[1:]
    (one_ms, one_cpu, _), (ms, own, others) = np.median(turns, axis=0)
    return {
        "ms_on_one": one_ms, "ms": ms, "speed_up": one_ms / ms,
        "cpu_ms_on_one": one_cpu, "cpu_ms": own, "cpu_ms_of_others": others,
        "speed_up_on_idle_cores_at_most": one_cpu / max(own, others),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    cases: dict[str, Callable[[int], Steps | embedding.Steps]]
    cases = {name: functools.partial(Steps, name) for name in BEST_MATRIX}
    cases["embedding"] = functools.partial(embedding.Steps, embedding.WIDE)
    for name, make in cases.items():
        print_line(benchmark="training_threads", case=name, threads=THREADS, **compare(make, arguments.steps))
