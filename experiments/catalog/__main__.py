"""GRAND+ over the catalog's graphs, by the card's settings and after tuning, beside published figures of the same kind.

    python -m experiments.catalog

Graphs whose files are on this machine, or GRAPH ... by name. Ten trials each: those of a per-class split have a split
of their own. Unattended and resumable: finished trials are kept in trials.csv, what tuning has chosen in tuned.csv.
Writes graphs.csv, table.md and table.png.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot as plt

from experiments.notes import note, read_notes, write_page
from experiments.trials import Row, fill, mean_and_std, read_rows
from grandplus.datasets.fetch.fetch import is_at_hand
from grandplus.evaluation.figures import save
from grandplus.evaluation.homophily import homophily
from grandplus.evaluation.statistics import Sample
from grandplus.graph.graph import Graph
from grandplus.pipeline.card import CATALOG, USUAL_MATRIX, read_card
from grandplus.pipeline.cases import BEST_MATRIX, Case, graph_folder
from grandplus.pipeline.ending import ending
from grandplus.pipeline.yaml_files import yaml_mapping
from grandplus.search.portfolio import case_of, compared

FOLDER = Path(__file__).parent
TRIALS = 10
# By how long a trial takes.
GRAPHS = (
    "amazon-photo",
    "amazon-computers",
    "cora",
    "pubmed",
    "citeseer",
    "coauthor-cs",
    "coauthor-physics",
    "cora-ml",
    "citeseer-full",
    "dblp",
    "wikics",
)
# Mean test accuracies in percent. Shchur et al. 2018 have the same protocol on the largest connected component, over
# 100 splits and 20 seeds; GRAND+'s paper that of Planetoid, over 100 seeds.
_SHCHUR = ("GCN", "GAT", "MoNet", "GraphSAGE", "MLP", "label propagation")
PUBLISHED: dict[str, dict[str, float]] = {
    "amazon-photo": dict(zip(_SHCHUR, (91.2, 85.7, 91.2, 91.4, 69.6, 72.6), strict=True)),
    "amazon-computers": dict(zip(_SHCHUR, (82.6, 78.0, 83.5, 82.4, 44.9, 70.8), strict=True)),
    "coauthor-cs": dict(zip(_SHCHUR, (91.1, 90.5, 90.8, 91.3, 88.3, 73.6), strict=True)),
    "coauthor-physics": dict(zip(_SHCHUR, (92.8, 92.5, 92.5, 93.0, 88.9, 86.6), strict=True)),
    "cora": {"GRAND+": 85.8},
    "citeseer": {"GRAND+": 75.6},
    "pubmed": {"GRAND+": 85.0},
}


class Line(NamedTuple):
    """A graph of the table.

    Attributes
    ----------
    dataset : str
    card, tuned : list of float
        Test accuracies of the trials, as shares; empty if there are none.
    """

    dataset: str
    card: list[float]
    tuned: list[float]

    @property
    def published(self) -> tuple[str, float] | None:
        """The best published figure, and whose it is."""
        figures = PUBLISHED.get(self.dataset)
        return max(figures.items(), key=lambda figure: figure[1]) if figures else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help="names of cards; by default those at hand")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--no-tune", action="store_true", help="leave out what tuning has not chosen yet")
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.graphs or at_hand(), arguments.trials, tune=not arguments.no_tune))


def at_hand() -> list[str]:
    """The graphs whose files are on this machine."""
    return [name for name in GRAPHS if is_at_hand(read_card(CATALOG / f"{name}.yaml").source)]


def make(datasets: list[str], trials: int, *, tune: bool = True) -> None:
    """Note the graphs, complete the trials of each, and then write the table and the plot of all that there are."""
    cases = [own_case(dataset) for dataset in datasets]
    for own in cases:
        note(FOLDER / "graphs.csv", _facts(own, trials))
    for own in cases:
        fill(FOLDER / "trials.csv", [own], trials)
        write_tables()
        if tuned := tuned_case(own, tune=tune):
            fill(FOLDER / "trials.csv", [own, tuned], trials)
            write_tables()
    print((FOLDER / "table.md").read_text(encoding="utf-8"))


def own_case(dataset: str) -> Case:
    """The card as it is, with the matrix of a run that chooses none, or the paper's best."""
    return Case(dataset, BEST_MATRIX.get(dataset, USUAL_MATRIX))


def tuned_case(own: Case, *, tune: bool) -> Case | None:
    """What ``grandplus tune`` chooses; None if it has not, and is not to."""
    chosen: dict[str, dict[str, Any]] = {row["dataset"]: row for row in read_notes(FOLDER / "tuned.csv")}
    if own.dataset not in chosen:
        if not tune:
            return None
        begun, outcome = time.monotonic(), compared(own)
        best = case_of(own, outcome.change)
        chosen[own.dataset] = {
            "dataset": own.dataset,
            "matrix": best.matrix,
            "change": best.change,
            "gain": round(outcome.after - outcome.before, 4),
            "seconds": round(time.monotonic() - begun),
        }
        note(FOLDER / "tuned.csv", chosen[own.dataset])
    row = chosen[own.dataset]
    pairs = (pair.partition("=") for pair in row["change"].split())
    changes = tuple((key, yaml_mapping(f"value: {text}", "tuned.csv")["value"]) for key, _, text in pairs)
    return Case(own.dataset, row["matrix"], changes)


def write_tables() -> None:
    """Write the table and the plot of all that there is."""
    lines = lines_of(read_rows(FOLDER / "trials.csv"))
    write_page(FOLDER / "table.md", table(lines))
    plot(lines, FOLDER / "table.png")


def lines_of(rows: list[Row]) -> list[Line]:
    """Every graph that has trials."""
    tuned = {row["dataset"]: (row["matrix"], row["change"]) for row in read_notes(FOLDER / "tuned.csv")}
    lines = []
    for dataset in GRAPHS:
        scores: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            if row["dataset"] == dataset:
                scores.setdefault((row["matrix"], row["change"]), []).append(row["test"])
        own = scores.get((own_case(dataset).matrix, ""), [])
        if own:
            lines.append(Line(dataset, own, scores.get(tuned.get(dataset, ("", "")), [])))
    return lines


def table(lines: list[Line]) -> str:
    """Mean test accuracies in percent ± standard deviations over trials, and published means, as Markdown."""
    text = ["| dataset | trials | card | after tune | best published | all published |", "|---|---|---|---|---|---|"]
    for line in lines:
        best = line.published
        cells = (
            line.dataset,
            str(len(line.card)),
            mean_and_std(line.card),
            mean_and_std(line.tuned) if line.tuned else "",
            f"{best[1]:.1f} ({best[0]})" if best else "",
            ", ".join(f"{name} {figure:.1f}" for name, figure in PUBLISHED.get(line.dataset, {}).items()),
        )
        text.append(f"| {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


def plot(lines: list[Line], file: Path) -> None:
    """Means with 95 % intervals, and the published means, a line for each graph."""
    figure, axis = plt.subplots(figsize=(7, 0.8 + 0.55 * len(lines)), layout="constrained")
    y = np.arange(len(lines))[::-1]
    for shift, label, scores in (
        (0.12, "GRAND+, card", [line.card for line in lines]),
        (-0.12, "GRAND+, after tune", [line.tuned for line in lines]),
    ):
        shown = [
            (place, Sample.of(of_trials)) for place, of_trials in zip(y, scores, strict=True) if len(of_trials) > 1
        ]
        if shown:
            means, widths = ([100 * getattr(sample, key) for _, sample in shown] for key in ("mean", "half_width"))
            axis.errorbar(means, [place + shift for place, _ in shown], xerr=widths, fmt="o", capsize=3, label=label)
    published = [(place, line.published[1]) for place, line in zip(y, lines, strict=True) if line.published]
    axis.plot([score for _, score in published], [place for place, _ in published], "kx", label="best published")
    axis.set_yticks(y, [line.dataset for line in lines])
    axis.set_ylim(-0.5, len(lines) - 0.5)
    axis.set_xlabel("test accuracy, %, with 95 % intervals")
    axis.grid(axis="x", alpha=0.3)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
    save(figure, file)


def _facts(case: Case, trials: int) -> dict[str, Any]:
    graph = Graph.load(graph_folder(case.settings(trials)))
    facts = {key: graph.facts[key] for key in ("nodes", "edges", "classes", "features")}
    return {"dataset": case.dataset, **facts, "homophily": round(homophily(graph).share, 4)}


if __name__ == "__main__":
    sys.exit(main())
