"""Training: milliseconds a step, validation included, by the fused kernels and by plain PyTorch.

Plain PyTorch is the backend that GPUs use, with scipy's products of sparse matrices. Both train side by side on all
cores, a process each, as the train stage does. Times are those of the processor, so that other work on the machine does
little harm. Prints a JSON line for each dataset:

    python -m benchmarks.training
"""

from __future__ import annotations

import argparse
import functools
import time
from typing import Any

import numpy as np
import torch

from benchmarks.lines import print_line
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.method import EarlyStopping, Plain, _train
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.settings import VALIDATE_EVERY, Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare
from grandplus.runtime import environment, pools

WINDOW = 10  # validations


class Clock(EarlyStopping):
    """Never stops; notes when each validation began and ended, in seconds of the processor."""

    def __init__(self) -> None:
        super().__init__(patience=2**31)
        self.begun: list[float] = []
        self.ended: list[float] = []

    def of(self, backend: type[Plain | Fused]) -> type[Plain | Fused]:
        """The backend, with the clock in it."""
        begun = self.begun

        class Timed(backend):  # type: ignore[misc, valid-type]
            def evaluate(self, inputs: Any) -> Any:
                begun.append(time.thread_time())
                return super().evaluate(inputs)

        return Timed

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """A validation has ended, but for a copy of the model where it is the best so far."""
        stop = super().update(step, accuracy, loss, mlp)
        self.ended.append(time.thread_time())
        return stop

    def measured(self) -> dict[str, float]:
        """Milliseconds a step, of all and in the best window, and the share that validation takes.

        From the second validation on: before the first one kernels are compiled.
        """
        begun, ended = (np.array(times[1:]) for times in (self.begun, self.ended))
        windows = np.diff(ended[::WINDOW]) / (WINDOW * VALIDATE_EVERY)
        whole, validations = ended[-1] - ended[0], (ended - begun)[1:].sum()
        mean = whole / ((len(ended) - 1) * VALIDATE_EVERY)
        return {"mean": 1e3 * mean, "best": 1e3 * windows.min(), "validation_share": validations / whole}


def run(backend: type[Plain | Fused], case: Case, steps: int, trial: int) -> dict[str, float]:
    """Train for so many steps on one thread; milliseconds a step."""
    torch.set_num_threads(1)
    prepared = prepare(case, environment.workers())
    split, clock, settings = prepared.splits.of(trial), Clock(), prepared.settings.train
    assert isinstance(settings, Settings)
    steps_an_epoch = -(-len(split.train) // settings.batch_labelled)
    settings = settings.model_copy(update={"max_epochs": -(-steps // steps_an_epoch)})
    _train(Task(prepared.graph, split, prepared.rows, seed=trial), settings, clock.of(backend), clock)
    return clock.measured()


def compare(dataset: str, steps: int, plain_steps: int) -> dict[str, object]:
    """The line of a dataset: means over one trial for each core."""
    case, trials = Case(dataset, BEST_MATRIX[dataset]), range(environment.workers())
    prepare(case, len(trials))
    measured = {}
    for backend, count in ((Plain, plain_steps), (Fused, steps)):
        runs = list(pools.map_processes(functools.partial(run, backend, case, count), trials))
        measured[backend] = {key: float(np.mean([one[key] for one in runs])) for key in runs[0]}
    return {
        "benchmark": "training",
        "dataset": dataset,
        "matrix": case.matrix,
        "processes": len(trials),
        "ms_a_step_and_core": measured[Fused],
        "plain_ms": measured[Plain],
        "times_faster": measured[Plain]["mean"] / measured[Fused]["mean"],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--plain-steps", type=int, default=300)
    parser.add_argument("--datasets", nargs="+", default=list(BEST_MATRIX))
    arguments = parser.parse_args()
    for name in arguments.datasets:
        print_line(**compare(name, arguments.steps, arguments.plain_steps))
