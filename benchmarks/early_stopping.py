"""Which early stopping keeps the better model? Ours against the released program's, on validation.

Both watch the same trainings, each up to where it would have stopped, so trials are paired.
Prints a JSON line for each dataset:

    python -m benchmarks.early_stopping --trials 20
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, field

import numpy as np
import torch

from benchmarks.lines import print_line
from experiments.cases import BEST_MATRIX, Case, prepare
from grandplus import execution
from grandplus.training.model import MLP
from grandplus.training.trainer import EarlyStopping, train


class ReleasedRule(EarlyStopping):
    """Saves and resets only if accuracy and loss are both at their best; counts only lower accuracy."""

    def update(self, step: int, accuracy: float, loss: float, model: MLP) -> bool:
        if accuracy >= self.best_accuracy and loss <= self.best_loss:
            self.best_accuracy, self.best_loss, self.best_step, self.without_gain = accuracy, loss, step, 0
        elif accuracy < self.best_accuracy:
            self.without_gain += 1
        return self.without_gain >= self.patience


@dataclass(eq=False)
class Both(EarlyStopping):
    """Lets both rules watch until both have stopped; notes what each kept, and when it stopped."""

    rules: dict[str, EarlyStopping] = field(default_factory=dict)
    stopped: dict[str, int] = field(default_factory=dict)

    def update(self, step: int, accuracy: float, loss: float, model: MLP) -> bool:
        for name, rule in self.rules.items():
            if name not in self.stopped and rule.update(step, accuracy, loss, model):
                self.stopped[name] = step
        self.best.state = model.state_dict()
        return len(self.stopped) == len(self.rules)


def compare(dataset: str, trials: int) -> dict[str, object]:
    """Validation accuracy and steps of both rules."""
    kept = np.array(list(execution.map_processes(functools.partial(_watch, dataset, trials), range(trials))))
    ours, released = kept[:, 0], kept[:, 1]  # each (trials, [accuracy, steps])
    gain = ours[:, 0] - released[:, 0]
    return {
        "benchmark": "early stopping",
        "dataset": dataset,
        "matrix": BEST_MATRIX[dataset],
        "trials": trials,
        "val_accuracy": {"ours": float(ours[:, 0].mean()), "released": float(released[:, 0].mean())},
        "gain": float(gain.mean()),
        "gain_standard_error": float(gain.std(ddof=1) / np.sqrt(trials)),
        "steps": {"ours": round(ours[:, 1].mean()), "released": round(released[:, 1].mean())},
    }


def _watch(dataset: str, trials: int, trial: int) -> list[list[float]]:
    torch.set_num_threads(1)
    prepared = prepare(Case(dataset, BEST_MATRIX[dataset]), trials)
    graph, settings = prepared.graph, prepared.settings
    patience = settings.train.patience
    both = Both(patience, rules={"ours": EarlyStopping(patience), "released": ReleasedRule(patience)})
    train(
        graph.features,
        graph.labels,
        prepared.rows,
        prepared.splits.of(trial),
        settings.train,
        classes=graph.classes,
        seed=[settings.seed, trial],
        stopping=both,
    )
    steps = {name: both.stopped.get(name, 0) for name in both.rules}
    return [[rule.best_accuracy, steps[name]] for name, rule in both.rules.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--datasets", nargs="+", default=list(BEST_MATRIX))
    arguments = parser.parse_args()
    for name in arguments.datasets:
        print_line(**compare(name, arguments.trials))
