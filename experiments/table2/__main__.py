"""The paper's Table 2: three datasets, three matrices, 100 trials each, beside what the paper reports.

    python -m experiments.table2

Unattended and resumable: finished trials are kept in trials.csv. Writes table.md and table.png.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

from experiments.notes import write_page
from experiments.trials import Row, fill, read_rows
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.statistics import Sample, welch_interval
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending

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
    """A cell of the table.

    Attributes
    ----------
    dataset, matrix : str
    here, paper : Sample
        Test accuracies, as shares.
    """

    dataset: str
    matrix: str
    here: Sample
    paper: Sample

    @property
    def difference(self) -> float:
        """How much better the mean is than the paper's."""
        return self.here.mean - self.paper.mean

    @property
    def reached(self) -> bool:
        """At least the paper's mean, but for the standard error of the difference."""
        errors = [sample.std / math.sqrt(sample.trials) for sample in (self.here, self.paper)]
        return self.difference >= -math.hypot(*errors)


def cells(rows: list[Row]) -> list[Cell]:
    """Every cell that has at least two trials."""
    complete = []
    for (dataset, matrix), (mean, std) in PAPER.items():
        scores = [row["test"] for row in rows if (row["dataset"], row["matrix"]) == (dataset, matrix)]
        if len(scores) > 1:
            paper = Sample(mean / 100, std / 100, PAPER_TRIALS)
            complete.append(Cell(dataset, matrix, Sample.of(scores), paper))
    return complete


def table(cells: list[Cell]) -> str:
    """Mean accuracies in percent ± standard deviations, and the differences with Welch's intervals, as Markdown."""
    lines = [
        "| dataset | matrix | trials | GRAND+ here | paper | difference (95 % CI) | |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        here, paper = cell.here, cell.paper
        lines.append(
            f"| {cell.dataset} | {cell.matrix} | {here.trials} | {100 * here.mean:.2f} ± {100 * here.std:.2f} "
            f"| {100 * paper.mean:.1f} ± {100 * paper.std:.1f} "
            f"| {points(cell.difference)} ({points_interval(welch_interval(here, paper))}) "
            f"| {'' if cell.reached else 'missed'} |"
        )
    return "\n".join(lines) + "\n"


def plot(cells: list[Cell], file: Path) -> None:
    """Both means with 95 % intervals, a panel for each dataset."""
    names = list(dict.fromkeys(cell.dataset for cell in cells))
    figure, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.2), squeeze=False, layout="constrained")
    for axis, name in zip(axes[0], names, strict=True):
        shown = [cell for cell in cells if cell.dataset == name]
        x = np.arange(len(shown))
        for shift, label, samples in (
            (-0.12, "GRAND+ here", [cell.here for cell in shown]),
            (0.12, "paper", [cell.paper for cell in shown]),
        ):
            means, widths = ([100 * getattr(sample, key) for sample in samples] for key in ("mean", "half_width"))
            axis.errorbar(x + shift, means, yerr=widths, fmt="o", capsize=3, label=label)
        axis.set_xticks(x, [cell.matrix for cell in shown])
        axis.set_xlim(-0.5, len(shown) - 0.5)
        axis.set_title(name)
        axis.grid(axis="y", alpha=0.3)
    axes[0][0].set_ylabel("test accuracy, %, with 95 % intervals")
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
    complete = cells(read_rows(FOLDER / "trials.csv"))
    write_page(FOLDER / "table.md", table(complete))
    plot(complete, FOLDER / "table.png")
    print(table(complete))


if __name__ == "__main__":
    sys.exit(main())
