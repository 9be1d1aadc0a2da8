"""Defaults for graphs that nobody has tuned them for: chosen on one half of the graphs, shown on the other.

    python -m experiments.defaults --files FOLDER

FOLDER has the graphs that are not in the catalog: cases/NAME/ and graphdata/NAME.npz (graphs.py). Those that it lacks
are left out. Resumable: finished trials are kept in trials.csv. Writes table.md. With --tuned FILE, the table has a
column more: FILE is a CSV with the columns graph, validation and test, a line a trial, after ``grandplus tune``.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm

from experiments.defaults.graphs import ADDED, CHOOSING, SHOWN, Given
from experiments.defaults.scores import Defaults, Loaded, Row, keep, read_rows
from experiments.notes import write_page
from grandplus.evaluation.baselines.table import LABELS
from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.ending import ending
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import GrandPlusError

FOLDER = Path(__file__).parent
BEFORE = Defaults("before", order="usual", weight_decay="usual", gfpush={"top_k": GFPush().top_k})
CANDIDATES = (
    BEFORE,
    Defaults("order", weight_decay="usual", gfpush={"top_k": GFPush().top_k}),
    Defaults("order + weight decay", gfpush={"top_k": GFPush().top_k}),
    Defaults("order + weight decay + k"),
    Defaults("order + weight decay + k, with thrice the weight decay", weight_decay=3.0),
    Defaults("order + weight decay + k, with a third of the weight decay", weight_decay=1 / 3),
    Defaults("order + weight decay + k + confidence", confidence="suited"),
)
CHOSEN = CANDIDATES[-1]  # by choice_of, and what an import writes
FINALISTS = (BEFORE, CANDIDATES[3], CHOSEN)  # tried on the added graphs too
TRIALS_TO_CHOOSE_BY = 2
SMALL, TIMES = 3000, 4  # below so many nodes so many times the trials, as few nodes are tested in each
MOST_BELOW = 0.01  # the best baseline may be better by this much


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, required=True, metavar="FOLDER", help="with cases/ and graphdata/")
    parser.add_argument("--trials", type=int, default=5, help="of each graph that had no part in the choice")
    parser.add_argument("--tuned", type=Path, metavar="FILE", help="scores after grandplus tune")
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.files, arguments.trials, arguments.tuned))


def make(files: Path, trials: int, tuned: Path | None) -> None:
    """Complete the trials, and write the table."""
    wanted: list[tuple[Given, tuple[Defaults, ...], int, bool]] = [
        *((given, (CHOSEN, BEFORE), trials * (TIMES if given.nodes < SMALL else 1), False) for given in SHOWN),
        *((given, CANDIDATES, TRIALS_TO_CHOOSE_BY, True) for given in CHOOSING),
        *((given, FINALISTS, TRIALS_TO_CHOOSE_BY, True) for given in ADDED),
    ]
    file = FOLDER / "trials.csv"
    bar = tqdm(wanted, unit="graph", disable=None)
    rows = [row for case in bar for row in complete(file, files, *case)]
    text = table(rows, read_tuned(tuned) if tuned else {})
    write_page(FOLDER / "table.md", text)
    print(text)


def complete(
    file: Path, files: Path, given: Given, candidates: tuple[Defaults, ...], trials: int, choosing: bool
) -> list[Row]:
    """The rows of a graph: those that the file has, and others, which are added to it."""
    if not given.present(files):
        print(f"{given.name} is left out: its files are not in {files}")
        return []
    try:
        loaded = Loaded(given, files, trials, choosing=choosing)
    except GrandPlusError as error:  # as an import would refuse it
        print(f"{given.name} is left out: {error}")
        return []
    finished = {(row["graph"], row["defaults"], row["trial"]): row for row in read_rows(file)}
    # Of two candidates whose settings are the same for a graph, one is trained.
    same = {
        (row["inputs"], trial): row
        for (name, of, trial), row in finished.items()
        if name == given.name and of not in LABELS
    }
    rows = []
    for defaults in candidates:
        for trial in range(trials):
            row = finished.get((given.name, defaults.name, trial))
            if row is None or row["inputs"] != loaded.inputs_of(defaults):
                known = same.get((loaded.inputs_of(defaults), trial))
                row = known | {"defaults": defaults.name} if known else loaded.score(defaults, trial)
                keep(file, [row])
            same[row["inputs"], trial] = row
            rows.append(row)
    names = [(name, trial) for trial in range(trials) for name in LABELS]
    of_baselines = [finished[given.name, *name] for name in names if (given.name, *name) in finished]
    if len(of_baselines) < len(names) or any(row["inputs"] != loaded.inputs_of(CHOSEN) for row in of_baselines):
        of_baselines = list(loaded.score_baselines(CHOSEN, trials))
        keep(file, of_baselines)
    return rows + of_baselines


def choice_of(rows: list[Row]) -> str:
    """The candidate with the highest mean accuracy on the nodes to choose by, each graph in the same weight.

    Only those are compared that were tried on all graphs.
    """
    scores: dict[str, dict[str, list[float]]] = {candidate.name: {} for candidate in CANDIDATES}
    chosen_on = {given.name for given in [*CHOOSING, *ADDED]}
    for row in rows:
        if row["graph"] in chosen_on and row["defaults"] in scores:
            scores[row["defaults"]].setdefault(row["graph"], []).append(row["choosing"])
    most = max(len(of_graphs) for of_graphs in scores.values())
    finalists = [name for name, of_graphs in scores.items() if len(of_graphs) == most]
    return max(finalists, key=lambda name: _mean_of_graphs(scores[name]))


def table(rows: list[Row], tuned: dict[str, list[float]]) -> str:
    """Markdown: what was chosen, and every graph with the new defaults beside the old ones and the best baseline."""
    by_name: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_name.setdefault((row["graph"], row["defaults"]), []).append(row)
    known = {row["graph"] for row in rows}
    lines = ["| candidate | mean accuracy on nodes to choose by | with the added graphs |", "|---|---|---|"]
    choice = choice_of(rows)
    graphs, added = ([given.name for given in half if given.name in known] for half in (CHOOSING, ADDED))
    for candidate in CANDIDATES:
        means = [_mean_of(graphs, candidate, by_name)]
        means += [_mean_of([*graphs, *added], candidate, by_name)] if candidate in FINALISTS else []
        cells = [f"{100 * mean:.2f}" for mean in means] + [""] * (2 - len(means))
        lines.append(f"| {candidate.name}{' (chosen)' if candidate.name == choice else ''} | {' | '.join(cells)} |")
    halves = (
        ("The graphs that had no part in the choice", SHOWN),
        ("Those that were chosen on", CHOOSING),
        ("Those that were added, to choose the confidence by", ADDED),
    )
    for title, half in halves:
        graphs = [given.name for given in half if given.name in known]
        lines += ["", f"{title}; test accuracy in percent ± standard deviation over trials:", ""]
        lines += _table_of(graphs, by_name, tuned)
    return "\n".join(lines) + "\n"


def _mean_of(graphs: list[str], candidate: Defaults, rows: dict[tuple[str, str], list[Row]]) -> float:
    """The mean accuracy of a candidate on the nodes to choose by, over some graphs."""
    return float(np.mean([_mean(rows[name, candidate.name], "choosing") for name in graphs]))


def _table_of(graphs: list[str], rows: dict[tuple[str, str], list[Row]], tuned: dict[str, list[float]]) -> list[str]:
    heads = ["graph", "N", "before", "new defaults", *(["after tune"] if tuned else []), "best baseline", "difference"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    differences, after, lost = [], [], []
    for name in graphs:
        new, old = rows[name, CHOSEN.name], rows[name, BEFORE.name]
        baseline = best_baseline(name, rows)
        difference = _mean(new, "test") - _mean(rows[name, baseline], "test")
        differences.append(difference)
        if name in tuned:
            same_trials = rows[name, baseline][: len(tuned[name])]
            after.append(float(np.mean(tuned[name])) - _mean(same_trials, "test"))
        majority = _mean(rows[name, "majority"], "test")
        if _mean(new, "test") <= majority + MOST_BELOW < _mean(rows[name, baseline], "test"):
            lost.append(name)
        cells = [name, str(new[0]["order"]), _with_std(_values(old)), _with_std(_values(new))]
        cells += [_with_std(tuned.get(name, []))] if tuned else []
        cells += [
            f"{_with_std(_values(rows[name, baseline]))} ({LABELS[baseline]})",
            f"{100 * difference:+.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    sums = [f"{_sum(differences)} At the majority's share where a baseline isn't: {', '.join(lost) or 'none'}."]
    if after:
        sums += ["", f"After tune, beside the same trials of the baseline. {_sum(after)}"]
    return [*lines, "", *sums]


def _sum(differences: list[float]) -> str:
    """Of the differences from the best baseline, a graph each."""
    good = sum(difference >= -MOST_BELOW for difference in differences)
    return (
        f"At least the best baseline less a point: {good} of {len(differences)} graphs. "
        f"Mean difference: {100 * np.mean(differences):+.1f} points."
    )


def best_baseline(graph: str, rows: dict[tuple[str, str], list[Row]]) -> str:
    """The name of the baseline that does best on validation nodes; the first of equals."""
    return max(LABELS, key=lambda name: _mean(rows[graph, name], "validation"))


def read_tuned(file: Path) -> dict[str, list[float]]:
    """Test accuracies after tuning, by graph."""
    scores: dict[str, list[float]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            scores.setdefault(row["graph"], []).append(float(row["test"]))
    return scores


def _values(rows: list[Row]) -> list[float]:
    return [row["test"] for row in rows]


def _mean(rows: list[Row], part: str) -> float:
    return float(np.mean([row[part] for row in rows]))


def _mean_of_graphs(scores: dict[str, list[float]]) -> float:
    return float(np.mean([np.mean(values) for values in scores.values()])) if scores else 0.0


def _with_std(scores: list[float]) -> str:
    if not scores:
        return ""
    sample = Sample.of(scores)
    return f"{100 * sample.mean:.1f}" + (f" ± {100 * sample.std:.1f}" if sample.trials > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
