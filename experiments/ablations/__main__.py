"""What the consistency loss does: the paper's ablations, on Pubmed with the average pooling matrix.

    python -m experiments.ablations

Resumable: finished trials are kept in trials.csv, loss curves in curves.csv. Writes strength.png (its
Figure 2: λ_max and γ), gap.png (its Figure 3: training and validation loss) and unlabelled.png (size of U').
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib import pyplot as plt

from experiments.trials import Row, fill
from grandplus.evaluation.figures import save
from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.cases import Case, prepare, train_blind
from grandplus.pipeline.ending import ending
from grandplus.runtime.storage import finished_whole

FOLDER = Path(__file__).parent
LAMBDAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
GAMMAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SIZES = (0, 10, 100, 1000, 10000, "all", "test")
CURVES = {"λ_max = 0": {"lambda_max": 0.0}, "λ_max = 1, γ = 0": {"confidence": 0.0}, "λ_max = 1, γ = 2/3": {}}


def case_of(key: str, value: Any) -> Case:
    return Case("pubmed", "avg", ((key, value),))


def curves(trials: int) -> list[Row]:
    """Training and validation loss at each validation, of each setting and trial."""
    file = FOLDER / "curves.csv"
    if not file.exists():
        torch.set_num_threads(1)
        rows = []
        for name, changes in CURVES.items():
            case = Case("pubmed", "avg", tuple((f"train.{key}", value) for key, value in changes.items()))
            prepared = prepare(case, trials)
            for trial in range(trials):
                history = train_blind(prepared, prepared.splits.of(trial), trial).history
                columns = zip(history["step"], history["train_loss"], history["val_loss"], strict=True)
                rows += [(name, trial, int(step), round(a, 4), round(b, 4)) for step, a, b in columns]
        with finished_whole(file, alone=True) as partial, partial.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerows([("setting", "trial", "step", "train_loss", "val_loss"), *rows])
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def accuracies(axis: Any, rows: list[Row], key: str, values: tuple[Any, ...]) -> None:
    """Mean test accuracy with its 95 % interval at each value."""
    samples = [Sample.of([100 * row["test"] for row in rows if row["change"] == f"{key}={value}"]) for value in values]
    means, widths = ([getattr(sample, part) for sample in samples] for part in ("mean", "half_width"))
    numeric = all(isinstance(value, float) for value in values)
    x = values if numeric else range(len(values))
    axis.errorbar(x, means, yerr=widths, fmt="o-" if numeric else "o", capsize=3)
    if not numeric:
        axis.set_xticks(x, [f"{value:,}" if isinstance(value, int) else value for value in values])
    axis.grid(alpha=0.3)


def plot_strength(rows: list[Row], file: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    accuracies(left, rows, "train.lambda_max", LAMBDAS)
    accuracies(right, rows, "train.confidence", GAMMAS)
    left.set_xlabel("λ_max")
    right.set_xlabel("γ")
    left.set_ylabel("test accuracy, %")
    save(figure, file)


def plot_unlabelled(rows: list[Row], file: Path) -> None:
    figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
    accuracies(axis, rows, "preprocess.unlabelled", SIZES)
    axis.set_xlabel("U': unlabelled nodes to train on")
    axis.set_ylabel("test accuracy, %")
    save(figure, file)


def plot_gap(rows: list[Row], file: Path) -> None:
    figure, axes = plt.subplots(1, len(CURVES), figsize=(9, 3.2), sharey=True, layout="constrained")
    for axis, name in zip(axes, CURVES, strict=True):
        mine = [row for row in rows if row["setting"] == name]
        steps = sorted({int(row["step"]) for row in mine})
        trials = {row["trial"] for row in mine}
        # Trials end at different steps; a mean is drawn as far as all of them go.
        steps = [step for step in steps if sum(int(row["step"]) == step for row in mine) == len(trials)]
        for column, label in (("train_loss", "training"), ("val_loss", "validation")):
            means = [np.mean([float(row[column]) for row in mine if int(row["step"]) == step]) for step in steps]
            axis.plot(steps, means, label=label)
        axis.set_title(name)
        axis.set_xlabel("step")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("cross-entropy")
    axes[0].legend(frameon=False)
    save(figure, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    trials = parser.parse_args().trials
    return ending(lambda: make(trials))


def make(trials: int) -> None:
    """Complete the trials, and write the plots."""
    keys = {"train.lambda_max": LAMBDAS, "train.confidence": GAMMAS, "preprocess.unlabelled": SIZES}
    cases = [case_of(key, value) for key, values in keys.items() for value in values]
    rows = fill(FOLDER / "trials.csv", cases, trials)
    plot_strength(rows, FOLDER / "strength.png")
    plot_unlabelled(rows, FOLDER / "unlabelled.png")
    plot_gap(curves(3), FOLDER / "gap.png")


if __name__ == "__main__":
    sys.exit(main())
