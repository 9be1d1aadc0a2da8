"""Nodes that come after training: how often are they predicted right, beside a model that was trained with them?

    python -m experiments.growth

For each trial a tenth of the nodes are hidden, of those that are neither trained nor validated on, with all their
edges. A model is trained on the rest. Then the hidden nodes come to its graph, and are predicted from their rows of Π
there. Beside it: a model that was trained on the whole graph, where these nodes were unlabelled, by full inference.
Resumable; writes trials.csv, table.md and growth.png.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from experiments.notes import write_page
from experiments.trials import Row, Scoring, fill, mean_and_std, read_rows
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.statistics import Interval, paired
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.protocol import RowModel
from grandplus.pipeline.cases import BEST_MATRIX, Case, Prepared, prepare, train_blind
from grandplus.pipeline.ending import ending
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime.errors import GrandPlusError

FOLDER = Path(__file__).parent
TRIALS = FOLDER / "trials.csv"
CASES = [Case(dataset, BEST_MATRIX.get(dataset, "avg")) for dataset in ("cora", "pubmed", "coauthor-cs")]
SHARE = 10  # one node in so many is hidden
COLUMNS = ("dataset", "matrix", "change", "trial", "hidden", "later", "whole", "inputs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.dataset for case in CASES]
    parser.add_argument("--dataset", nargs="+", default=names, choices=names)
    parser.add_argument("--trials", type=int, default=20)
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.dataset, arguments.trials))


def make(datasets: list[str], count: int) -> None:
    """Complete the trials of some datasets, and write the table and the picture of all that are there."""
    if count < 2:
        raise GrandPlusError(f"--trials is {count}", expected="at least 2, as a difference is given with its interval")
    fill(TRIALS, [case for case in CASES if case.dataset in datasets], count, Scoring(score, COLUMNS))
    rows = read_rows(TRIALS)
    text = table(rows)
    write_page(FOLDER / "table.md", text)
    plot(rows, FOLDER / "growth.png")
    print(text)


def score(count: int, case: Case, trial: int) -> Row:
    """Accuracy on the hidden nodes: of a model that never saw them, and of one that was trained on the whole graph."""
    torch.set_num_threads(1)
    prepared = prepare(case, count)
    graph, split = prepared.graph, prepared.splits.of(trial)
    hidden = drawn(graph, split, [prepared.settings.seed, trial])
    whole = train_blind(prepared, split, trial).model.predict_proba(graph)[hidden].argmax(axis=1)
    labels = graph.labels[hidden]
    return {
        "dataset": case.dataset,
        "matrix": case.matrix,
        "change": case.change,
        "trial": trial,
        "hidden": len(hidden),
        "later": round(float(np.mean(predicted_later(prepared, split, trial, hidden) == labels)), 4),
        "whole": round(float(np.mean(whole == labels)), 4),
        "inputs": prepared.inputs,
    }


def drawn(graph: Graph, split: Split, seed: list[int]) -> NDArray[np.int64]:
    """The nodes to hide, ascending: labelled ones that are neither trained nor validated on."""
    known = np.flatnonzero(graph.labels >= 0)
    free = np.setdiff1d(known, np.concatenate([split.train, split.val]))
    return np.sort(
        np.random.default_rng(seed).choice(free, min(len(free), graph.adjacency.nodes // SHARE), replace=False)
    )


def predicted_later(prepared: Prepared, split: Split, trial: int, hidden: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classes of the hidden nodes by a model of the graph without them, to which they come."""
    graph, matrix, push = prepared.graph, prepared.settings.matrix, prepared.settings.gfpush
    base, number_of = without(graph, hidden)
    kept = Split(
        *(number_of[part[number_of[part] >= 0]] for part in (split.train, split.val, split.test, split.unlabelled))
    )
    rows = gfpush(
        base, kept.needing_rows(), weights=matrix.weights(), rmax=push.rmax, top_k=push.top_k, matrix=matrix.name
    )
    model = train_blind(replace(prepared, graph=base, rows=rows), kept, trial).model
    assert isinstance(model, RowModel)
    sources = np.repeat(np.arange(graph.adjacency.nodes), np.diff(graph.adjacency.indptr))
    ends = np.stack([sources, graph.adjacency.indices])
    ids = np.arange(graph.adjacency.nodes)
    edges = ids[ends[:, np.isin(ends, hidden).any(axis=0)]]
    grown = base.grown(ids[hidden], edges, graph.features[hidden])
    return Predictor(base, [model], rows.info, Calibration((1.0,), None)).on(grown).predict(grown.new_nodes).predicted


def without(graph: Graph, hidden: NDArray[np.int64]) -> tuple[Graph, NDArray[np.int64]]:
    """The graph without some nodes, and the new number of each node, -1 of these. Ids are the numbers before."""
    left = np.setdiff1d(np.arange(graph.adjacency.nodes), hidden)
    number_of = np.full(graph.adjacency.nodes, -1)
    number_of[left] = np.arange(len(left))
    sources = np.repeat(number_of, np.diff(graph.adjacency.indptr))
    ends = np.stack([sources, number_of[graph.adjacency.indices]])
    adjacency, _ = build_adjacency(ends[:, (ends >= 0).all(axis=0)], len(left))
    # Features are scaled already, row by row: nothing was fitted that the hidden nodes could have had a part in.
    return Graph(adjacency, graph.features[left], graph.labels[left], graph.classes, left), number_of


def table(rows: list[Row]) -> str:
    """Markdown: accuracies on the hidden nodes in percent ± standard deviations, and the paired difference."""
    lines = [
        "| dataset | trials | hidden nodes | came later | trained on the whole graph | difference (95 % CI) |",
        "|---|---|---|---|---|---|",
    ]
    for dataset, of_one in by_dataset(rows).items():
        later, whole = scores_of(of_one)
        test = paired(later, whole)
        difference = f"{points(test.difference)} ({points_interval(Interval(test.low, test.high))})"
        scores = f"{mean_and_std(later)} | {mean_and_std(whole)}"
        lines.append(f"| {dataset} | {len(of_one)} | {of_one[0]['hidden']} | {scores} | {difference} |")
    return "\n".join(lines) + "\n"


def plot(rows: list[Row], file: Path) -> None:
    """The difference in each trial, and its mean with an interval, for each dataset."""
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    names = by_dataset(rows)
    for place, of_one in enumerate(names.values()):
        later, whole = scores_of(of_one)
        test = paired(later, whole)
        beside = place + 0.12 + 0.25 * np.linspace(0, 1, len(later))
        axis.plot(beside, 100 * np.subtract(later, whole), "o", ms=3, color="gray", alpha=0.6)
        half = 50 * (test.high - test.low)
        axis.errorbar(place, 100 * test.difference, yerr=half, fmt="o", capsize=4, color="C0")
    axis.axhline(0, color="gray", lw=0.8)
    axis.set_xticks(range(len(names)), [f"{name}, {len(of_one)} trials" for name, of_one in names.items()])
    axis.set(
        xlim=(-0.5, len(names) - 0.3), ylabel="points more than a model\nthat was trained on the whole graph",
        title="accuracy on nodes that came later: mean, 95 % interval, trials",
    )  # fmt: skip
    axis.grid(axis="y", alpha=0.3)
    save(figure, file)


def by_dataset(rows: list[Row]) -> dict[str, list[Row]]:
    """The trials of each dataset that has two at least."""
    of_each = {case.dataset: [row for row in rows if row["dataset"] == case.dataset] for case in CASES}
    return {dataset: of_one for dataset, of_one in of_each.items() if len(of_one) > 1}


def scores_of(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Accuracies of nodes that came later, and of the model that was trained on the whole graph."""
    later, whole = ([float(row[name]) for row in rows] for name in ("later", "whole"))
    return later, whole


if __name__ == "__main__":
    sys.exit(main())
