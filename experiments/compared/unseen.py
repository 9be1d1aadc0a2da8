"""The eleven systems on graphs without published settings, each by its defaults and after the same search.

    python -m experiments.compared.unseen
    python -m experiments.compared.unseen --models gcn grandplus --graphs amazon-photo --trials 3
    python -m experiments.compared.unseen --longest 3600 --longest-search 3600

20 nodes a class train, 30 validate, and the rest tests; all systems have the same ten splits. The search compares ten
settings of each system by validation accuracy on the first split, and the best three by the mean of three seeds; no
test label is looked at. A system has one trial where that takes more than --longest seconds of a core, and no search
where its trials take more than --longest-search; the tables say so. Unattended and resumable: finished trials are kept
in unseen.csv and unseen-GRAPH.parquet, those of the search in unseen-search.csv. Writes what was chosen to
unseen-chosen.csv, and unseen.md and unseen.png.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path
from typing import NamedTuple

from experiments.compared.figures import SYSTEMS
from experiments.compared.measured import bits_file, complete, own_case, present, seconds_of
from experiments.compared.right import Right
from experiments.compared.searching import searched
from experiments.compared.unseen_table import GRAPHS, Entries, Entry, plot, tables
from experiments.notes import note, read_notes, write_page
from experiments.trials import Row, read_rows, rows_of
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.cases import Case, graph_folder
from grandplus.pipeline.ending import ending
from grandplus.pipeline.trials import trials_at_once
from grandplus.runtime.errors import MemoryShortageError

FILE = Path(__file__).parent / "unseen.csv"
TRIALS = 10
LONGEST = 145.0  # seconds of a core that a trial takes, for more than one
LONGEST_SEARCH = 60.0  # the same, for a search: it trains 16 times, before the trials of what it chooses
KEY = ("dataset", "model")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=GRAPHS)
    parser.add_argument("--trials", type=int, default=TRIALS)
    limit = functools.partial(parser.add_argument, type=float, metavar="SECONDS")
    limit("--longest", default=LONGEST, help=f"of a trial, for more than one; by default {LONGEST:g}")
    limit("--longest-search", default=LONGEST_SEARCH, help=f"of a trial, for a search; by default {LONGEST_SEARCH:g}")
    given = parser.parse_args()
    limits = Limits(given.longest, given.longest_search)
    return ending(lambda: make(FILE, given.models, given.graphs, given.trials, limits))


class Limits(NamedTuple):
    """Seconds of a core that a system's trial takes at most, for more than one trial and for a search."""

    trials: float
    search: float


def make(file: Path, models: list[str], graphs: list[str], trials: int, limits: Limits) -> None:
    """Complete the defaults of all systems, graph by graph, and then what the search chooses for each."""
    for dataset in graphs:
        for model in present(models):
            reason = _by_default(file, own_case(dataset, model), trials, limits)
            note(_beside(file, "left"), {"dataset": dataset, "model": model, "reason": reason}, KEY)
        write(file)
    for dataset in graphs:
        for model in present(models):
            if not _left(file)[dataset, model]:
                case = searched(_beside(file, "search"), _beside(file, "chosen"), dataset, model)
                complete(file, case, trials)
        write(file)
    print(file.with_suffix(".md").read_text(encoding="utf-8"))


def _by_default(file: Path, own: Case, trials: int, limits: Limits) -> str:
    """Complete a system's trials; why it has none or one, or is not to be searched, where that is so."""
    settings = own.settings(trials)
    folder = graph_folder(settings)
    graph, split = Graph.load(folder), Splits.load(folder).of(0)
    try:
        trials_at_once(graph, split, settings)
    except MemoryShortageError as error:
        return f"refused: {error.found}"
    seconds = seconds_of(complete(file, own, 1))
    if seconds > limits.trials and len(rows_of(read_rows(file), own)) < trials:  # another limit may have allowed them
        return f"one trial and no search, as a trial takes {seconds:.0f} seconds"
    seconds = seconds_of(complete(file, own, trials))
    if seconds > limits.search and (own.dataset, own.model) not in _chosen(file):
        return f"no search, as a trial takes {seconds:.0f} seconds"
    return ""


def write(file: Path) -> None:
    """Write the tables and the plot of all trials that there are."""
    entries = entries_of(file)
    write_page(file.with_suffix(".md"), tables(entries))
    plot(entries, file.with_suffix(".png"))


def entries_of(file: Path) -> Entries:
    """Every system on every graph that was tried."""
    chosen = _chosen(file)
    trials: dict[tuple[str, str, str | None], list[Row]] = {}
    for row in read_rows(file):
        trials.setdefault((row["dataset"], row["model"], row["change"]), []).append(row)
    entries = {}
    for (dataset, model), reason in _left(file).items():
        right, key = Right(bits_file(file, dataset)), (dataset, model)
        changes = {"default": own_case(*key).change, "searched": chosen.get(key)}
        rows = {kind: trials.get((*key, change), []) for kind, change in changes.items()}
        nodes = {kind: right.of(of_kind) for kind, of_kind in rows.items() if of_kind}
        entries[key] = Entry(rows, nodes, reason)
    return entries


def _chosen(file: Path) -> dict[tuple[str, str], str]:
    """What the search has chosen, of each graph and system that was searched."""
    return {(row["dataset"], row["model"]): row["change"] for row in read_notes(_beside(file, "chosen"))}


def _left(file: Path) -> dict[tuple[str, str], str]:
    """Why a system lacks trials or a search on a graph; empty where it has all. Of those that were tried."""
    return {(row["dataset"], row["model"]): row["reason"] for row in read_notes(_beside(file, "left"))}


def _beside(file: Path, name: str) -> Path:
    return file.with_name(f"{file.stem}-{name}.csv")


if __name__ == "__main__":
    sys.exit(main())
