"""Values that the cards take where the paper leaves room, chosen on validation nodes alone.

    python -m experiments.choices

Each alternative is trained on the best matrix of every dataset; one value is taken for all of them, by
the mean of their validation accuracies. Resumable; writes trials.csv and table.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from experiments.trials import BEST_MATRIX, Case, Row, best_on_validation, fill
from grandplus.scratch import finished_whole

FOLDER = Path(__file__).parent
CHOICES = {
    "train.consistency_mean": ("batch", "confident"),  # Eq. 13 as printed, or as the released program
    "preprocess.unlabelled": ("all", "test"),  # the paper, or the released program
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    trials = parser.parse_args().trials
    cases = [
        Case(dataset, matrix, ((key, value),))
        for dataset, matrix in BEST_MATRIX.items()
        for key, values in CHOICES.items()
        for value in values
    ]
    text = table(fill(FOLDER / "trials.csv", cases, trials), trials)
    with finished_whole(FOLDER / "table.md", alone=True) as partial:
        partial.write_text(text, encoding="utf-8")
    print(text)


def table(rows: list[Row], trials: int) -> str:
    """Markdown: mean validation accuracy in percent and its standard error, and which value is taken."""
    lines = [f"| {trials} trials each | {' | '.join(BEST_MATRIX)} | mean | |", "|---" * (len(BEST_MATRIX) + 3) + "|"]
    for key, values in CHOICES.items():
        mine = {f"{key}={value}": [row for row in rows if row["change"] == f"{key}={value}"] for value in values}
        taken = best_on_validation(row for some in mine.values() for row in some)
        for change, some in mine.items():
            scores = [[100 * row["validation"] for row in some if row["dataset"] == name] for name in BEST_MATRIX]
            cells = [f"{np.mean(s):.2f} ± {np.std(s, ddof=1) / np.sqrt(len(s)):.2f}" for s in scores]
            mean = np.mean([np.mean(s) for s in scores])
            lines.append(f"| `{change}` | {' | '.join(cells)} | {mean:.2f} | {'taken' if change == taken else ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
