"""The paper's Table 2: three datasets, three matrices, 100 trials each, beside what the paper reports.

    python -m experiments.table2

Unattended and resumable: finished trials are kept in trials.csv. Writes table.md and table.png.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

from experiments.intervals import half_width, welch_half_width
from experiments.trials import Row, fill, read_rows
from grandplus.evaluation.figures import save
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending
from grandplus.runtime.storage import finished_whole

FOLDER = Path(__file__).parent
PAPER_TRIALS = 100
# Mean and standard deviation in percent, from the paper's Table 2.
PAPER = {
    ("cora", "ppr"): (85.8, 0.4),
    ("cora", "avg"): (85.5, 0.4),
    ("cora", "single"): (85.0, 0.5),
    ("citeseer", "ppr"): (75.6, 0.4),
    ("citeseer", "avg"): (75.5, 0.4),
    ("citeseer", "single"): (74.4, 0.5),
    ("pubmed", "ppr"): (84.5, 1.1),
    ("pubmed", "avg"): (85.0, 0.6),
    ("pubmed", "single"): (84.2, 0.6),
}


class Cell(NamedTuple):
    """A cell of the table, in percent."""

    dataset: str
    matrix: str
    trials: int
    mean: float
    std: float
    paper_mean: float
    paper_std: float

    @property
    def difference(self) -> float:
        return self.mean - self.paper_mean

    @property
    def standard_error(self) -> float:
        """Of the difference, variances not taken as equal."""
        return float(np.hypot(self.std / np.sqrt(self.trials), self.paper_std / np.sqrt(PAPER_TRIALS)))

    @property
    def half_width(self) -> float:
        """Of Welch's 95 % interval of the difference."""
        return welch_half_width((self.std, self.trials), (self.paper_std, PAPER_TRIALS))

    @property
    def reached(self) -> bool:
        """At least the paper's mean, but for the standard error of the difference."""
        return self.difference >= -self.standard_error


def cells(rows: list[Row]) -> list[Cell]:
    """Every cell that has at least two trials."""
    found = []
    for (dataset, matrix), paper in PAPER.items():
        scores = [100 * row["test"] for row in rows if (row["dataset"], row["matrix"]) == (dataset, matrix)]
        if len(scores) > 1:
            cell = Cell(dataset, matrix, len(scores), float(np.mean(scores)), float(np.std(scores, ddof=1)), *paper)
            found.append(cell)
    return found


def table(found: list[Cell]) -> str:
    """Markdown."""
    lines = [
        "| dataset | matrix | trials | GRAND+ here | paper | difference, 95 % | |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in found:
        lines.append(
            f"| {cell.dataset} | {cell.matrix} | {cell.trials} | {cell.mean:.2f} ± {cell.std:.2f} "
            f"| {cell.paper_mean:.1f} ± {cell.paper_std:.1f} | {cell.difference:+.2f} ± {cell.half_width:.2f} "
            f"| {'' if cell.reached else 'missed'} |"
        )
    return "\n".join(lines) + "\n"


def plot(found: list[Cell], file: Path) -> None:
    """Both means with 95 % intervals, a panel for each dataset."""
    names = list(dict.fromkeys(cell.dataset for cell in found))
    figure, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.2), squeeze=False, layout="constrained")
    for axis, name in zip(axes[0], names, strict=True):
        mine = [cell for cell in found if cell.dataset == name]
        at = np.arange(len(mine))
        for shift, label, means, deviations, trials in (
            (-0.12, "GRAND+ here", [c.mean for c in mine], [c.std for c in mine], [c.trials for c in mine]),
            (0.12, "paper", [c.paper_mean for c in mine], [c.paper_std for c in mine], [PAPER_TRIALS] * len(mine)),
        ):
            widths = [half_width(*both) for both in zip(deviations, trials, strict=True)]
            axis.errorbar(at + shift, means, yerr=widths, fmt="o", capsize=3, label=label)
        axis.set_xticks(at, [cell.matrix for cell in mine])
        axis.set_xlim(-0.5, len(mine) - 0.5)
        axis.set_title(name)
        axis.grid(axis="y", alpha=0.3)
    axes[0][0].set_ylabel("test accuracy, %")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    save(figure, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=PAPER_TRIALS)
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer", "pubmed"])
    parser.add_argument("--matrices", nargs="+", default=["ppr", "avg", "single"])
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.datasets, arguments.matrices, arguments.trials))


def make(datasets: list[str], matrices: list[str], trials: int) -> None:
    """Complete the trials, and write the table and the plot of all that there are, of other cells too."""
    cases = list(itertools.starmap(Case, itertools.product(datasets, matrices)))
    fill(FOLDER / "trials.csv", cases, trials)
    found = cells(read_rows(FOLDER / "trials.csv"))
    with finished_whole(FOLDER / "table.md", alone=True) as partial:
        partial.write_text(table(found), encoding="utf-8")
    plot(found, FOLDER / "table.png")
    print(table(found))


if __name__ == "__main__":
    sys.exit(main())
