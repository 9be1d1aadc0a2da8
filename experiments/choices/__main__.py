"""Values that the cards take where the paper and its released program differ, chosen on validation nodes.

    python -m experiments.choices

Consistency loss averaged over the batch (Eq. 13) or over its confident nodes (the program), and U' of all
unlabelled nodes (the paper) or of the test nodes (the program): all four together, on the best matrix of every
dataset. One pair of values is taken for all, by the mean of their validation accuracies. Resumable; writes
trials.csv and table.md.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

from experiments.notes import write_page
from experiments.trials import Row, best_on_validation, fill, mean_and_std
from grandplus.pipeline.cases import BEST_MATRIX, Case
from grandplus.pipeline.ending import ending

FOLDER = Path(__file__).parent
CHOICES = {"train.consistency_mean": ("batch", "confident"), "preprocess.unlabelled": ("all", "test")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", choices=BEST_MATRIX, default=list(BEST_MATRIX))
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.datasets, arguments.trials))


def make(datasets: list[str], trials: int) -> None:
    """Complete the trials, and write the table."""
    combinations = [tuple(zip(CHOICES, values, strict=True)) for values in itertools.product(*CHOICES.values())]
    cases = [Case(name, BEST_MATRIX[name], changes) for name in datasets for changes in combinations]
    text = table(fill(FOLDER / "trials.csv", cases, trials), trials)
    write_page(FOLDER / "table.md", text)
    print(text)


def table(rows: list[Row], trials: int) -> str:
    """Markdown: mean accuracies in percent ± their standard deviations, and which combination is taken."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    taken = best_on_validation(rows)
    lines = [
        f"| {trials} trials each | {' | '.join(f'{name}: validation | test' for name in names)} | mean validation | |",
        "|---" * (2 * len(names) + 3) + "|",
    ]
    for change in dict.fromkeys(row["change"] for row in rows):
        mine = [row for row in rows if row["change"] == change]
        cells = [
            mean_and_std([row[part] for row in mine if row["dataset"] == name])
            for name in names
            for part in ("validation", "test")
        ]
        mean = 100 * np.mean([row["validation"] for row in mine])
        lines.append(f"| `{change}` | {' | '.join(cells)} | {mean:.2f} | {'taken' if change == taken else ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
