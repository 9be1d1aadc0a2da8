"""Does another value of one setting do better than the card's? On validation nodes, one setting at a time.

    python -m experiments.sensitivity cora --matrix single

Values of the paper's search on either side of the card's, and some of what only the released program has values for.
Test labels have no say. Resumable; writes trials.csv and table.md into experiments/sensitivity/<dataset>-<matrix>.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.notes import write_page
from experiments.trials import Row, fill
from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending
from grandplus.propagation.matrices import MATRICES

FOLDER = Path(__file__).parent
VALUES: dict[str, tuple[Any, ...]] = {
    "preprocess.unlabelled": ("all", "test"),
    "train.consistency_mean": ("batch", "confident"),
    "train.distance": ("l2", "kl"),
    "train.lambda_max": (0.5, 0.8, 1.0, 1.5),
    "gfpush.top_k": (16, 32, 64, 128),
    "train.lr": (0.01, 0.001),
    "train.weight_decay": (0.01, 0.001, 1e-05),
    "train.hidden": (32, 64, 128, 256),
    "train.temperature": (0.1, 0.2, 0.4),
    "train.dropout_input": (0.4, 0.5, 0.6),
    "train.dropout_hidden": (0.5, 0.6, 0.7, 0.8),
    "train.warmup": (500, 1000, 2000),
    "train.batch_unlabelled": (50, 100, 200),
    "train.batch_labelled": (20, 50, 140),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="a card in data/catalog")
    parser.add_argument("--matrix", choices=tuple(MATRICES), default="avg")
    parser.add_argument("--trials", type=int, default=3)
    arguments = parser.parse_args()
    return ending(lambda: make(Case(arguments.dataset, arguments.matrix), arguments.trials))


def make(case: Case, trials: int) -> None:
    """Complete the trials, and write the table."""
    folder = FOLDER / f"{case.dataset}-{case.matrix}"
    text = table(fill(folder / "trials.csv", [case, *neighbours(case)], trials), trials)
    write_page(folder / "table.md", text)
    print(text)


def neighbours(case: Case) -> list[Case]:
    """The case with each other value of each setting in turn."""
    card = case.settings(trials=1).flat()
    cases = []
    for key, values in VALUES.items():
        section, name = key.split(".")
        own = card[section][name]
        cases += [Case(case.dataset, case.matrix, ((key, value),)) for value in values if value != own]
    return cases


def table(rows: list[Row], trials: int) -> str:
    """Markdown: mean validation accuracies in percent, and differences from the card's, trial by trial."""
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["change"], []).append(row["validation"])
    lines = [f"| {trials} trials each | validation | minus the card's (95 % CI) |", "|---|---|---|"]
    for change, changed in scores.items():
        difference = Sample.of(np.array(changed) - np.array(scores[""]))
        interval = f" ({points_interval(difference.interval)})" if trials > 1 else ""
        beside = f"{points(difference.mean)}{interval}" if change else ""
        lines.append(f"| {f'`{change}`' if change else 'the card'} | {100 * np.mean(changed):.2f} | {beside} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
