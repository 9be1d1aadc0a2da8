"""Would other settings do better? A wider search for the systems whose authors have none for the citation graphs.

    python -m experiments.compared.below
    python -m experiments.compared.below --settings 10 --trials 5

For GBP on Citeseer too, which is more than a point below the paper. Of each system on its graph: thirty settings, those
in use among them, by validation accuracy with one seed, and the best three by the mean of three seeds. What is best has
as many trials as what is in use; test labels choose nothing.
Resumable: trainings are kept in below-search.csv and below-trials.csv. Writes below.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from experiments.compared.figures import CITATION, PAPER, SYSTEMS, UNPUBLISHED
from experiments.compared.measured import own_case
from experiments.compared.searching import SEEDS, searched
from experiments.notes import write_page
from experiments.trials import fill, mean_and_std, read_rows, rows_of
from grandplus.pipeline.ending import ending

FOLDER = Path(__file__).parent
CELLS = (*((model, dataset) for model in UNPUBLISHED for dataset in CITATION), ("gbp", "citeseer"))
SETTINGS, TRIALS = 30, 20
HEAD = "| system | settings | validation accuracy, % | test accuracy, % | paper |\n|---|---|---|---|---|\n"
LEGEND = f"""
Validation accuracy is the mean of {SEEDS} seeds in the search, on the public split; test accuracy is that of trials of
their own, ± their standard deviation. "In use" are the settings of the first table.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=SETTINGS, help=f"of each system; by default {SETTINGS}")
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"of what is compared; by default {TRIALS}")
    given = parser.parse_args()
    return ending(lambda: make(FOLDER, given.settings, given.trials))


def make(folder: Path, settings: int, trials: int) -> None:
    """Search, train what is found and what is in use, and write the table."""
    lines = [line for model, dataset in CELLS for line in _compared(folder, model, dataset, settings, trials)]
    page = folder / "below.md"
    write_page(page, HEAD + "".join(f"{line}\n" for line in lines) + LEGEND)
    print(page.read_text(encoding="utf-8"))


def _compared(folder: Path, model: str, dataset: str, settings: int, trials: int) -> list[str]:
    """The lines of a system: what is in use, and the best of the search, unless it is the same."""
    file, own = folder / "below-search.csv", own_case(dataset, model)
    best = searched(file, folder / "below-chosen.csv", dataset, model, budget=settings, with_own=True)
    searches = read_rows(file)
    lines = []
    for case in dict.fromkeys((own, best)):
        rows = fill(folder / "below-trials.csv", [case], trials)
        name = "in use" if case == own else f"the best of {settings}: `{case.change}`"
        name += ", the best of all" * (case == own == best)
        title = f"{SYSTEMS[model]} on {dataset.capitalize()}"
        validation = np.mean([row["validation"] for row in rows_of(searches, case)])
        accuracies = f"{100 * validation:.2f} | {mean_and_std([row['test'] for row in rows])}"
        lines.append(f"| {title} | {name} | {accuracies} | {PAPER[model][dataset].mean} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
