"""Where the time of a training step goes: the lines of Python that the processor works for, kernels included.

A timer of processor time interrupts one training every few milliseconds. What a kernel takes is counted for the line
that calls it. Prints a table in Markdown for each dataset:

    python -m benchmarks.training_profile
"""

from __future__ import annotations

import argparse
import collections
import linecache
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import grandplus
from grandplus.kernels import compiled
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.method import EarlyStopping, _train
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare

PACKAGE, COMPILED = str(Path(grandplus.__file__).parent), compiled.__file__
INTERVAL = 1e-3  # seconds of processor time; the system may make it longer


class Lines:
    """Counts how often each line of the package is met while the block runs."""

    def __init__(self) -> None:
        self.counts: collections.Counter[tuple[str, int]] = collections.Counter()

    def __enter__(self) -> Lines:
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        return self

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _note(self, _signal: int, frame: FrameType | None) -> None:
        while frame and (not (file := frame.f_code.co_filename).startswith(PACKAGE) or file == COMPILED):
            frame = frame.f_back
        if frame:
            self.counts[frame.f_code.co_filename, frame.f_lineno] += 1


def profile(dataset: str, steps: int) -> tuple[float, Lines]:
    """Milliseconds of processor time a step, validation included, and the lines."""
    case = Case(dataset, BEST_MATRIX[dataset])
    prepared = prepare(case, 1)
    split, settings = prepared.splits.of(0), prepared.settings.train
    assert isinstance(settings, Settings)
    task = Task(prepared.graph, split, prepared.rows, seed=0)
    steps_an_epoch = -(-len(split.train) // settings.batch_labelled)
    for count in (20, steps):  # kernels are compiled in the first
        settings = settings.model_copy(update={"max_epochs": -(-count // steps_an_epoch)})
        start = time.thread_time()
        with Lines() as lines:
            *_, taken = _train(task, settings, Fused, EarlyStopping(patience=2**31))
    return 1e3 * (time.thread_time() - start) / taken, lines


def table(dataset: str, milliseconds: float, lines: Lines, rows: int) -> str:
    """The lines that take most, in Markdown."""
    total = sum(lines.counts.values())
    out = [f"| {dataset}: {milliseconds:.2f} ms a step | share |", "|---|---|"]
    for (file, line), count in lines.counts.most_common(rows):
        code = linecache.getline(file, line).strip().partition("(")[0]  # as far as the call's arguments
        out.append(f"| {Path(file).stem}: `{code}` | {100 * count / total:.0f} % |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--lines", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", default=list(BEST_MATRIX))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.datasets:
        print(table(name, *profile(name, arguments.steps), arguments.lines), flush=True)
