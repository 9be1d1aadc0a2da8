"""Accuracy over the number of labels, on nodes that a rule chooses beside random ones.

    python -m experiments.suggest

In each repetition half of the nodes test, and of the other half at most 2,000 may be labelled. Every rule chooses among
these, and all are measured on the same test nodes. The learner is logistic regression on ΠX (see learner.py), with
settings that are the same for all. Resumable: finished repetitions are kept in accuracy.csv. Writes table.md and
accuracy.png.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from experiments.notes import note, read_notes, write_page
from experiments.suggest.learner import Learner
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import points_interval
from grandplus.evaluation.statistics import Difference, Interval, Sample, paired
from grandplus.graph.graph import Graph
from grandplus.pipeline.cases import Case, graph_folder
from grandplus.pipeline.ending import ending
from grandplus.propagation.matrices import PPR
from grandplus.suggestion.embedding import unit_rows
from grandplus.suggestion.suggest import entropy, suggest

FOLDER = Path(__file__).parent
FILE = FOLDER / "accuracy.csv"
CHOOSING, SHOWING = ("cora", "amazon-photo"), ("citeseer", "pubmed", "coauthor-cs")
LABELS = range(20, 141, 20)
ROUND = LABELS.step
POOL = 2_000  # nodes that may be labelled, at most
RANDOM, RULE = "random", "suggest, in rounds"
Nodes = NDArray[np.int64]


def _random(_: Graph, __: Learner, pool: Nodes, rng: np.random.Generator) -> Nodes:
    """Any node of the pool alike."""
    return rng.permutation(pool)[: LABELS[-1]]


def _in_rounds(graph: Graph, learner: Learner, pool: Nodes, _: np.random.Generator) -> Nodes:
    """``suggest``, 20 at a time, with the probabilities that the learner has from the labels so far."""
    chosen = suggest(graph, graph.features, ROUND, candidates=pool).node
    while len(chosen) < LABELS[-1]:
        probabilities = learner.probabilities(chosen)
        more = suggest(graph, graph.features, ROUND, labelled=chosen, candidates=pool, probabilities=probabilities).node
        chosen = np.concatenate([chosen, more])
    return chosen


def _before(graph: Graph, _: Learner, pool: Nodes, __: np.random.Generator) -> Nodes:
    """``suggest`` once, before any label."""
    return suggest(graph, graph.features, LABELS[-1], candidates=pool).node


def _unsure(graph: Graph, learner: Learner, pool: Nodes, _: np.random.Generator) -> Nodes:
    """Rounds as above, but of the nodes with the largest entropy."""
    chosen = suggest(graph, graph.features, ROUND, candidates=pool).node
    while len(chosen) < LABELS[-1]:
        left = np.setdiff1d(pool, chosen)
        unsure = entropy(learner.probabilities(chosen)[left])
        chosen = np.concatenate([chosen, left[np.argsort(-unsure, kind="stable")[:ROUND]]])
    return chosen


def _centers(graph: Graph, _: Learner, pool: Nodes, __: np.random.Generator) -> Nodes:
    """k-center: each the node that is farthest from those before, from the one nearest to the mean on."""
    rows = unit_rows(graph.adjacency, graph.features, pool, PPR().weights()).astype(np.float64)
    chosen = [int(np.square(rows - rows.mean(axis=0)).sum(axis=1).argmin())]
    distances = np.full(len(pool), np.inf)
    while len(chosen) < LABELS[-1]:
        distances = np.minimum(distances, np.square(rows - rows[chosen[-1]]).sum(axis=1))
        chosen.append(int(distances.argmax()))
    return pool[chosen]


RULES: dict[str, Callable[[Graph, Learner, Nodes, np.random.Generator], Nodes]] = {
    RANDOM: _random,
    RULE: _in_rounds,
    "suggest, before any label": _before,
    "largest entropy": _unsure,
    "k-center": _centers,
}


def fill(dataset: str, repetitions: int) -> None:
    """Make the file hold so many repetitions of a dataset."""
    graph = Graph.load(graph_folder(Case(dataset, "ppr").settings(1)))
    kept = {(row["dataset"], row["rule"], row["repetition"]) for row in read_notes(FILE)}
    learner: Learner | None = None
    for repetition in tqdm(range(repetitions), desc=dataset, disable=None):
        missing = [rule for rule in RULES if (dataset, rule, f"{repetition:02d}") not in kept]
        learner = learner or (Learner(graph) if missing else None)
        for rule in missing:
            assert learner is not None
            scores = accuracies(graph, learner, rule, repetition)
            row = {"dataset": dataset, "rule": rule, "repetition": f"{repetition:02d}"} | scores
            note(FILE, row, key=("dataset", "rule", "repetition"))


def accuracies(graph: Graph, learner: Learner, rule: str, repetition: int) -> dict[str, str]:
    """The test accuracy at each number of labels, with four decimals."""
    drawn = np.random.default_rng([0, repetition])
    labelled = drawn.permutation(np.flatnonzero(graph.labels >= 0))
    pool = np.sort(labelled[: min(len(labelled) // 2, POOL)])
    test = labelled[len(labelled) // 2 :]
    learner.forget()
    chosen = RULES[rule](graph, learner, pool, drawn)
    scores = {}
    for count in LABELS:
        predicted = learner.probabilities(chosen[:count])[test].argmax(axis=1)
        scores[str(count)] = f"{(predicted == graph.labels[test]).mean():.4f}"
    return scores


class Scores:
    """The rows of the file, as far as they are asked for: accuracies (repetitions, numbers of labels) of each rule."""

    def __init__(self, repetitions: int) -> None:
        self._of: dict[tuple[str, str], list[list[float]]] = {}
        for row in read_notes(FILE):
            if int(row["repetition"]) < repetitions:
                self._of.setdefault((row["dataset"], row["rule"]), []).append([float(row[str(n)]) for n in LABELS])

    def of(self, dataset: str, rule: str) -> NDArray[np.float64]:
        return np.array(self._of[dataset, rule])

    def mean_difference(self, dataset: str, rule: str) -> Difference:
        """Of the mean accuracy over all numbers of labels, rule minus random."""
        return paired(self.of(dataset, rule).mean(axis=1), self.of(dataset, RANDOM).mean(axis=1))


def table(scores: Scores) -> str:
    """Markdown: every rule minus random, in points, with 95 % intervals over the paired repetitions."""
    head = ["dataset", "rule", *(f"{count} labels" for count in LABELS), "mean", "95 % CI"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for dataset in (*CHOOSING, *SHOWING):
        means = scores.of(dataset, RANDOM).mean(axis=0)
        cells = [f"{100 * mean:.1f} %" for mean in (*means, means.mean())]
        lines.append(f"| {dataset} | {RANDOM} | {' | '.join(cells)} | |")
        for rule in list(RULES)[1:]:
            gains = (scores.of(dataset, rule) - scores.of(dataset, RANDOM)).mean(axis=0)
            whole = scores.mean_difference(dataset, rule)
            cells = [f"{100 * gain:+.1f}" for gain in (*gains, whole.difference)]
            interval = points_interval(Interval(whole.low, whole.high))
            lines.append(f"| {dataset} | {rule} | {' | '.join(cells)} | {interval} |")
    return "\n".join(lines) + "\n"


def plot(scores: Scores, file: Path) -> None:
    """A panel a dataset: accuracy over the number of labels, with 95 % intervals."""
    datasets = (*CHOOSING, *SHOWING)
    figure, panels = plt.subplots(1, len(datasets), figsize=(16, 3.6), layout="constrained")
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw(panel, scores, dataset)
    panels[0].set_ylabel("test accuracy, %, with 95 % intervals")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(RULES), frameon=False)
    save(figure, file)


def _draw(panel: Axes, scores: Scores, dataset: str) -> None:
    for rule in RULES:
        samples = [Sample.of(column) for column in scores.of(dataset, rule).T]
        means, halves = (np.array([100 * getattr(one, name) for one in samples]) for name in ("mean", "half_width"))
        panel.plot(LABELS, means, "o-", ms=3, lw=1.2, label=rule)
        panel.fill_between(LABELS, means - halves, means + halves, alpha=0.15, lw=0)
    chose = "the rule was chosen here" if dataset in CHOOSING else "had no part in the choice"
    panel.set_title(f"{dataset}\n{chose}", fontsize=10)
    panel.set(xlabel="labels", xticks=LABELS)
    panel.grid(alpha=0.3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=20, help="at least 2")
    repetitions = parser.parse_args().repetitions
    return ending(lambda: make(max(repetitions, 2)))


def make(repetitions: int) -> None:
    """Complete the repetitions, and write the table and the picture."""
    with threadpool_limits(1):  # more threads would give other bytes
        for dataset in (*CHOOSING, *SHOWING):
            fill(dataset, repetitions)
    scores = Scores(repetitions)
    write_page(FOLDER / "table.md", table(scores))
    plot(scores, FOLDER / "accuracy.png")
    print(table(scores))


if __name__ == "__main__":
    sys.exit(main())
