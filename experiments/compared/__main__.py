"""The paper's Table 2 with all of its systems: eleven of them on three graphs, public split, each trained here.

    python -m experiments.compared
    python -m experiments.compared --models gcn appnp --graphs cora --trials 10

A hundred trials where one takes less than ten seconds of a core, else twenty. Unattended and resumable: finished trials
are kept in citation.csv, and the nodes that they have right in citation-GRAPH.parquet. Writes citation.md and
citation.png.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.compared.citation import Cell, plot, tables
from experiments.compared.figures import CITATION, SYSTEMS
from experiments.compared.measured import bits_file, complete, own_case, present, seconds_of
from experiments.compared.right import Right
from experiments.notes import write_page
from experiments.trials import Row, read_rows, rows_of
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending

FILE = Path(__file__).parent / "citation.csv"
FIRST, FEW, MANY = 2, 20, 100  # trials
QUICK = 10.0  # seconds of a core that a trial takes, for MANY of them


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--graphs", nargs="+", default=list(CITATION), choices=CITATION)
    parser.add_argument("--trials", type=int, help="by default as many as the seconds of a trial allow")
    arguments = parser.parse_args()
    return ending(lambda: make(FILE, arguments.models, arguments.graphs, arguments.trials))


def make(file: Path, models: list[str], graphs: list[str], trials: int | None) -> None:
    """Complete the trials, a few of each cell first, and write the tables of all that there are after each round."""
    cases = [own_case(dataset, model) for dataset in graphs for model in present(models)]
    rounds: list[Callable[[list[Row]], int]] = [lambda _: min(FIRST, trials or FIRST)]
    rounds += [lambda _: trials or FEW, lambda rows: trials or usual_trials(rows)]
    rows: dict[Case, list[Row]] = {case: [] for case in cases}
    for count in rounds:
        for case in cases:
            wanted = count(rows[case])
            if len(rows[case]) < wanted:
                rows[case] = complete(file, case, wanted)
        write(file)
    print(file.with_suffix(".md").read_text(encoding="utf-8"))


def usual_trials(rows: list[Row]) -> int:
    """How many trials there are to be, by what the first ones took."""
    return MANY if seconds_of(rows) < QUICK else FEW


def write(file: Path) -> None:
    """Write the tables and the plot of all trials that there are."""
    cells = cells_of(file)
    write_page(file.with_suffix(".md"), tables(cells))
    plot(cells, file.with_suffix(".png"))


def cells_of(file: Path) -> dict[tuple[str, str], Cell]:
    """Every cell that has trials, by graph and system."""
    cells = {}
    all_rows = read_rows(file)
    for dataset in CITATION:
        right = Right(bits_file(file, dataset))
        for model in SYSTEMS:
            rows = rows_of(all_rows, own_case(dataset, model))
            if rows:
                cells[dataset, model] = Cell(rows, right.of(rows))
    return cells


if __name__ == "__main__":
    sys.exit(main())
