"""Training and inference on a GPU beside the CPU: is accuracy the same, and what does it save?

GFPush and power iteration stay on the CPU in both. Prints a JSON line for each dataset, with the accuracy of the same
trials on both and seconds a trial (one at a time on the GPU, one a core on the CPU), and one for the inference of a
synthetic graph like MAG-Scholar-C. Ends with 1 if there is no GPU, if mean accuracies differ by more than three
standard errors, or a probability by more than 1e-3:

    python -m benchmarks.gpu
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.lines import print_line
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare
from grandplus.runtime import environment, pools

TWIN = "twin-mag-scholar-c"
TOLERANCE = 1e-3  # of a probability: a GPU rounds products differently


class Trial(NamedTuple):
    accuracy: float  # of test nodes, in percent
    seconds: float  # of training
    steps: int


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--datasets", nargs="*", default=["cora"], choices=list(BEST_MATRIX))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--scale", type=float, default=0.1, help=f"of the nodes and edges of {TWIN}")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("error: torch finds no usable GPU; install its CUDA build on a machine that has one", file=sys.stderr)
        return 1
    cases = [Case(dataset, BEST_MATRIX[dataset]) for dataset in options.datasets]
    lines = [compare_training(case, options.trials, "cuda") for case in cases]
    lines.append(compare_inference(Case(TWIN, "avg", (("synthetic.scale", options.scale),)), "cuda"))
    return 0 if all(line["right"] for line in lines) else 1


def compare_training(case: Case, trials: int, device: str) -> dict[str, Any]:
    """The same trials on a device and on the CPU, all cores of which are in use."""
    prepare(case, trials)
    ours = [train(case, trials, device, trial) for trial in range(trials)]
    on_cpu = list(pools.map_processes(functools.partial(train, case, trials, "cpu"), range(trials)))
    differences = np.array([one.accuracy - other.accuracy for one, other in zip(ours, on_cpu, strict=True)])
    error = float(differences.std(ddof=1)) / math.sqrt(trials)
    return print_line(
        benchmark="gpu", dataset=case.dataset, matrix=case.matrix, trials=trials, device=_name(device),
        accuracy=_mean(ours, "accuracy"), cpu_accuracy=_mean(on_cpu, "accuracy"),
        difference=float(differences.mean()), standard_error=error,
        seconds_a_trial=_mean(ours, "seconds"), cpu_seconds_a_trial_and_core=_mean(on_cpu, "seconds"),
        ms_a_step=1e3 * sum(one.seconds for one in ours) / sum(one.steps for one in ours),
        cpu_ms_a_step_and_core=1e3 * sum(one.seconds for one in on_cpu) / sum(one.steps for one in on_cpu),
        cores=environment.workers(), right=bool(abs(differences.mean()) <= 3 * error),
    )  # fmt: skip


def train(case: Case, trials: int, device: str, trial: int) -> Trial:
    """Train and score one trial."""
    torch.set_num_threads(1)
    prepared = prepare(case, trials)
    graph, split, settings = prepared.graph, prepared.splits.of(trial), prepared.settings
    start = time.perf_counter()
    task = Task(graph, split, prepared.rows, seed=[settings.seed, trial], device=device)
    model = method_of(settings.model).fit(task, settings.train).model
    seconds = time.perf_counter() - start
    predicted = model.predict_proba(graph)[split.test].argmax(axis=1)
    return Trial(100 * float((predicted == graph.labels[split.test]).mean()), seconds, model.info["steps"])


def compare_inference(case: Case, device: str) -> dict[str, Any]:
    """Probabilities of all nodes, by an untrained model on either device."""
    prepared = prepare(case, 1)
    graph, settings = prepared.graph, prepared.settings
    assert isinstance(settings.train, Settings)
    torch.manual_seed(0)
    mlp = MLP(int(graph.features.shape[1]), len(graph.classes), settings.train)
    weights = tuple(settings.matrix.weights())
    common: Any = {"weights": weights, "classes": graph.classes, "settings": settings.train}
    on_cpu, cpu_seconds = _inferred(Model(mlp=mlp, **common), prepared.graph)
    ours, seconds = _inferred(Model(mlp=mlp.to(device), **common), prepared.graph)
    error = float(np.abs(ours - on_cpu).max())
    return print_line(
        benchmark="gpu", case=f"inference of {case.dataset}", matrix=case.matrix, nodes=graph.adjacency.nodes,
        edges=len(graph.adjacency.indices) // 2, device=_name(device), seconds=seconds, cpu_seconds=cpu_seconds,
        largest_error=error, right=error <= TOLERANCE,
    )  # fmt: skip


def _inferred(model: Model, graph: Any) -> tuple[NDArray[np.float32], float]:
    start = time.perf_counter()
    probabilities = model.predict_proba(graph)
    return probabilities, time.perf_counter() - start


def _mean(trials: list[Trial], name: str) -> float:
    return float(np.mean([getattr(trial, name) for trial in trials]))


def _name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else device


if __name__ == "__main__":
    sys.exit(main())
