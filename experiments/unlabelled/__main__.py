"""U' of all unlabelled nodes, as the paper has it, or of the test nodes, as its program: 100 trials of each.

    python -m experiments.unlabelled

On Cora with ppr. The trials with U' of test nodes are those of Table 2, whose trials.csv they go to. Resumable;
writes trials.csv and table.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import table2
from experiments.notes import write_page
from experiments.trials import Row, fill, mean_and_std
from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.statistics import Interval, welch
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending
from grandplus.runtime.errors import GrandPlusError

FOLDER = Path(__file__).parent
TABLE2 = Path(table2.__file__).parent
CARD = Case("cora", "ppr")
ALL = Case("cora", "ppr", (("preprocess.unlabelled", "all"),))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.trials))


def make(trials: int) -> None:
    """Complete the trials, and write the table."""
    if trials < 2:
        raise GrandPlusError(f"--trials is {trials}", expected="at least 2, as a difference is given with its interval")
    of_all = fill(FOLDER / "trials.csv", [ALL], trials)
    text = table(of_all, fill(TABLE2 / "trials.csv", [CARD], trials))
    write_page(FOLDER / "table.md", text)
    print(text)


def table(of_all: list[Row], of_test: list[Row]) -> str:
    """Markdown: mean accuracies in percent ± standard deviations, and the differences with Welch's 95 % intervals."""
    lines = ["| U' | trials | validation | test |", "|---|---|---|---|"]
    for name, rows in (("all unlabelled nodes", of_all), ("test nodes", of_test)):
        cells = [mean_and_std([row[part] for row in rows]) for part in ("validation", "test")]
        lines.append(f"| {name} | {len(rows)} | {' | '.join(cells)} |")
    differences = []
    for part in ("validation", "test"):
        test = welch(*([row[part] for row in rows] for rows in (of_all, of_test)))
        differences.append(f"{points(test.difference)} ({points_interval(Interval(test.low, test.high))})")
    lines.append(f"| all minus test (95 % CI) | | {' | '.join(differences)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
