"""Training: milliseconds a step, validation included, against the same steps written plainly in PyTorch and scipy.

Both train side by side on all cores, a process each, as the train stage does. Prints a JSON line
for each dataset:

    python -m benchmarks.training
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.lines import print_line
from grandplus.methods.grandplus.method import (
    VALIDATE_EVERY,
    EarlyStopping,
    batches,
    consistency_loss,
    fit,
    supervised_loss,
    warmup_weight,
)
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.settings import MethodSettings
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare
from grandplus.runtime import environment, pools

WINDOW = 10  # validations


class Clock(EarlyStopping):
    """Never stops; notes when each validation was."""

    def __init__(self) -> None:
        super().__init__(patience=2**31)
        self.times: list[float] = []

    def note(self) -> None:
        self.times.append(time.perf_counter())

    def update(self, step: int, accuracy: float, loss: float, model: MLP) -> bool:
        self.note()
        return super().update(step, accuracy, loss, model)


def milliseconds(times: list[float]) -> dict[str, float]:
    """Per step: over all of it but the first validation, which compiles, and in the best window."""
    windows = np.diff(times[1::WINDOW]) / (WINDOW * VALIDATE_EVERY)
    whole = (times[-1] - times[1]) / ((len(times) - 2) * VALIDATE_EVERY)
    return {"mean": 1e3 * whole, "best": 1e3 * windows.min()}


def product(case: Case, steps: int, trial: int) -> dict[str, float]:
    """Ours."""
    torch.set_num_threads(1)
    prepared = prepare(case, environment.workers())
    split, clock = prepared.splits.of(trial), Clock()
    settings = _of_length(prepared.settings.train, len(split.train), steps)
    fit(Task(prepared.graph, split, prepared.rows, seed=trial), settings, stopping=clock)
    return milliseconds(clock.times)


def plain(case: Case, steps: int, trial: int) -> dict[str, float]:
    """The same computation without anything of ours."""
    torch.set_num_threads(1)
    prepared = prepare(case, environment.workers())
    graph, split, clock = prepared.graph, prepared.splits.of(trial), Clock()
    settings = _of_length(prepared.settings.train, len(split.train), steps)
    rng = np.random.default_rng(trial)
    labels = torch.tensor(graph.labels)
    assert prepared.rows is not None
    pi = prepared.rows.to_csr()
    model = _PlainMLP(graph.features.shape[1], len(graph.classes), settings)
    adam = torch.optim.Adam(model.parameters(), settings.lr, weight_decay=settings.weight_decay)
    watched = np.concatenate([split.train, split.val])
    watched_inputs = torch.from_numpy((_renormalized(pi[prepared.rows.positions(watched)]) @ graph.features).toarray())
    for step, (labelled, unlabelled) in enumerate(batches(split, settings, rng)):
        nodes = np.concatenate([labelled, unlabelled])
        copies = []
        for _ in range(settings.augmentations):
            rows = pi[prepared.rows.positions(nodes)]
            rows.data *= rng.random(len(rows.data)) >= settings.dropnode
            copies.append(model(torch.from_numpy((_renormalized(rows) @ graph.features).toarray())))
        logits = torch.stack(copies)
        weight = warmup_weight(step, lambda_max=settings.lambda_max, warmup=settings.warmup)
        loss = supervised_loss(logits[:, : len(labelled)], labels[labelled]) + weight * consistency_loss(
            logits[:, len(labelled) :],
            settings,
        )
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if settings.clip:
            nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        adam.step()
        if step % VALIDATE_EVERY == 0:
            model.eval()
            with torch.inference_mode():
                guesses = model(watched_inputs)
                F.cross_entropy(guesses, labels[watched]).item()
                (guesses.argmax(1) == labels[watched]).float().mean().item()
            model.train()
            clock.note()
    return milliseconds(clock.times)


class _PlainMLP(nn.Module):
    def __init__(self, features: int, classes: int, settings: Settings) -> None:
        super().__init__()
        widths = [features, *[settings.hidden] * (settings.layers - 1), classes]
        self.linears = nn.ModuleList(itertools.starmap(nn.Linear, itertools.pairwise(widths)))
        self.norms = nn.ModuleList(nn.BatchNorm1d(w) if settings.batchnorm else nn.Identity() for w in widths[:-1])
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)
        self.row_norm = settings.row_norm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, linear in enumerate(self.linears):
            x = F.relu(x) if number else x
            x = F.normalize(x) if self.row_norm else x
            x = linear(F.dropout(self.norms[number](x), self.dropouts[number], self.training))
        return x


def _renormalized(rows: sp.csr_array) -> sp.csr_array:
    sums = np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1e-12)
    rows.data /= np.repeat(sums, np.diff(rows.indptr)).astype(np.float32)
    return rows


def _of_length(settings: MethodSettings, labelled: int, steps: int) -> Settings:
    assert isinstance(settings, Settings)
    a_epoch = -(-labelled // settings.batch_labelled)
    return settings.model_copy(update={"max_epochs": -(-steps // a_epoch)})


def compare(dataset: str, steps: int, plain_steps: int) -> dict[str, object]:
    case, trials = Case(dataset, BEST_MATRIX[dataset]), range(environment.workers())
    found = {}
    for name, way, count in (("plain", plain, plain_steps), ("ours", product, steps)):
        runs = list(pools.map_processes(functools.partial(way, case, count), trials))
        found[name] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return {
        "benchmark": "training",
        "dataset": dataset,
        "matrix": case.matrix,
        "processes": len(trials),
        "ms_a_step_and_core": found["ours"],
        "plain_ms": found["plain"],
        "times_faster": found["plain"]["mean"] / found["ours"]["mean"],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--plain-steps", type=int, default=300)
    parser.add_argument("--datasets", nargs="+", default=list(BEST_MATRIX))
    arguments = parser.parse_args()
    for name in arguments.datasets:
        print_line(**compare(name, arguments.steps, arguments.plain_steps))
