"""Which rule of early stopping keeps the better model?

A rule sees nine tenths of the validation nodes; the other tenth says how good the model is that it kept, each tenth in
turn. Judged by the nodes that chose the model, the rule that stops last would look best. All rules see the same
trainings and tenths, so trials are paired. Prints a JSON line for each dataset, matrix and rule:

    python -m benchmarks.early_stopping --trials 10
    python -m benchmarks.early_stopping --trials 3 --matrix ppr avg single
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from benchmarks.lines import print_line
from grandplus.methods.grandplus.fused.random_propagation import RandomPropagation
from grandplus.methods.grandplus.method import EarlyStopping
from grandplus.methods.grandplus.mlp import MLP, Snapshot
from grandplus.methods.grandplus.settings import VALIDATE_EVERY, Settings
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare, train_blind
from grandplus.runtime import pools

FOLDS, PARTITIONS = 10, 4
LONGER = 2  # times our patience is trained, as some of the nodes may want more steps than all


class NoSnapshot(Snapshot):
    """Copies nothing, where only the number of the best validation is asked for."""

    def take(self, mlp: MLP | None) -> None:
        """Do nothing."""


class Released(EarlyStopping):
    """The rule of the released program.

    It saves the model, and starts to count anew, if accuracy and loss are both at their best. It counts validations
    with a lower accuracy than the best.
    """

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        if accuracy >= self.best_accuracy and loss <= self.best_loss:
            self.best_accuracy, self.best_loss, self.best_step, self.without_gain = accuracy, loss, step, 0
        elif accuracy < self.best_accuracy:
            self.without_gain += 1
        return self.without_gain >= self.patience


class TiesWithoutEnd(EarlyStopping):
    """Ours, but for what ends a run whose validations equal the best ones for ever."""

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        super().update(step, accuracy, loss, mlp)
        return self.without_gain >= self.patience


class ByLoss(EarlyStopping):
    """Keeps the lowest loss, and waits for a lower one."""

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        return super().update(step, -loss, loss, mlp)


# Each with the patience of the card, times a factor.
RULES: dict[str, tuple[type[EarlyStopping], float]] = {
    "ours": (EarlyStopping, 1),
    "ties without end": (TiesWithoutEnd, 1),
    "released": (Released, 1),
    "by loss": (ByLoss, 1),
    "ours, a quarter of the patience": (EarlyStopping, 0.25),
    "ours, twice the patience": (EarlyStopping, 2),
}


class Recorder(TiesWithoutEnd):
    """Notes at each validation which nodes are right, and the loss of each."""

    def __init__(self, patience: int, score: Callable[[MLP], tuple[NDArray[np.bool_], NDArray[np.float32]]]) -> None:
        super().__init__(patience)
        self.score = score
        self.right: list[NDArray[np.bool_]] = []
        self.losses: list[NDArray[np.float32]] = []

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        right, losses = self.score(mlp)
        self.right.append(right)
        self.losses.append(losses)
        return super().update(step, accuracy, loss, mlp)


def compare(dataset: str, matrix: str, trials: int) -> Iterator[dict[str, object]]:
    """A line for each rule."""
    task = functools.partial(watch, Case(dataset, matrix), trials)
    scores = np.array(list(pools.map_processes(task, range(trials))))  # (trials, rules, 2)
    gain = scores[:, :, 0] - scores[:, :1, 0]
    for number, rule in enumerate(RULES):
        yield {
            "benchmark": "early stopping",
            "dataset": dataset,
            "matrix": matrix,
            "trials": trials,
            "rule": rule,
            "accuracy_of_others": float(scores[:, number, 0].mean()),
            "beside_ours": float(gain[:, number].mean()),
            "standard_error": float(gain[:, number].std(ddof=1) / np.sqrt(trials)),
            "steps": round(scores[:, number, 1].mean()),
        }


def watch(case: Case, trials: int, trial: int) -> list[tuple[float, float]]:
    """For each rule, means over folds: accuracy of the nodes that it did not see, and steps."""
    torch.set_num_threads(1)
    right, losses, patience = record(case, trials, trial)
    rng = np.random.default_rng(trial)
    scores: dict[str, list[tuple[float, int]]] = {rule: [] for rule in RULES}
    for _ in range(PARTITIONS):
        for others in np.array_split(rng.permutation(right.shape[1]), FOLDS):
            seen = np.delete(np.arange(right.shape[1]), others)
            accuracy, loss = right[:, seen].mean(axis=1), losses[:, seen].mean(axis=1)
            for rule, (kind, factor) in RULES.items():
                best, last = stop(kind(round(factor * patience), best=NoSnapshot()), accuracy, loss)
                scores[rule].append((right[best, others].mean(), last * VALIDATE_EVERY))
    return [tuple(np.mean(of_folds, axis=0)) for of_folds in scores.values()]


def record(case: Case, trials: int, trial: int) -> tuple[NDArray[np.bool_], NDArray[np.float32], int]:
    """Train a model and score each validation node at each validation.

    Returns
    -------
    right : bool (validations, nodes)
    losses : float32 (validations, nodes)
    patience : int
        The card's.
    """
    prepared = prepare(case, trials)
    settings, split = prepared.settings.train, prepared.splits.of(trial)
    assert isinstance(settings, Settings)
    assert prepared.rows is not None
    propagation = RandomPropagation(
        prepared.graph.features, prepared.rows, dropnode=settings.dropnode, renormalize=settings.renormalize
    )
    inputs = propagation.expected(split.val)
    labels = torch.tensor(prepared.graph.labels[split.val])

    def score(mlp: MLP) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        logits = mlp.evaluate(inputs)
        return (logits.argmax(dim=1) == labels).numpy(), F.cross_entropy(logits, labels, reduction="none").numpy()

    recorder = Recorder(LONGER * settings.patience, score)
    train_blind(prepared, split, trial, stopping=recorder)
    return np.array(recorder.right), np.array(recorder.losses), settings.patience


def stop(rule: EarlyStopping, accuracy: NDArray[np.float64], loss: NDArray[np.float32]) -> tuple[int, int]:
    """Which validation's model the rule keeps, and at which it stops."""
    for number, scores in enumerate(zip(accuracy.tolist(), loss.tolist(), strict=True)):
        if rule.update(number, *scores, None):  # type: ignore[arg-type]
            break
    return rule.best_step, number


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", default=list(BEST_MATRIX))
    parser.add_argument("--matrix", nargs="+", help="default: each dataset's best by the paper's Table 2")
    arguments = parser.parse_args()
    for name in arguments.datasets:
        for matrix in arguments.matrix or [BEST_MATRIX[name]]:
            for line in compare(name, matrix, arguments.trials):
                print_line(**line)
