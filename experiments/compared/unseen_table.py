"""The tables and the plot of the eleven systems on graphs without published settings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

from experiments.compared import legends
from experiments.compared.figures import REFERENCE, SYSTEMS
from experiments.compared.gaps import Run, on_random_splits
from experiments.compared.measured import memory_of, own_case, seconds_of
from experiments.trials import Row, mean_and_std
from grandplus.evaluation.figures import save
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.statistics import Sample, overlap_of_splits

GRAPHS = ("amazon-photo", "amazon-computers", "coauthor-cs", "coauthor-physics")
MISSING = {"default": "refused", "searched": "not searched"}  # what a table says of a kind that has no trials
KINDS = tuple(MISSING)
SPAN = 0.2  # of accuracy, below the best of a graph: so much a panel shows, and points to what is worse


class Entry(NamedTuple):
    """A system on a graph.

    Attributes
    ----------
    rows : dict of list of dict
        Its trials, by kind; empty if there are none.
    nodes : dict of NodeScores
        Which test nodes they have right, of kinds that have trials.
    reason : str
        Why there are few trials, or none, or no search.
    """

    rows: dict[str, list[Row]]
    nodes: dict[str, NodeScores]
    reason: str

    def run(self, kind: str) -> Run:
        """For intervals."""
        return Run([row["test"] for row in self.rows[kind]], self.nodes[kind])


Entries = dict[tuple[str, str], Entry]  # by graph and system


def tables(entries: Entries) -> str:
    """Markdown: means of all graphs, and for each graph the differences to GRAND+ and what a trial takes."""
    return "\n".join(
        [_overview(entries), legends.UNSEEN, *(_of_graph(entries, dataset) for dataset in _shown(entries))]
    )


def _shown(entries: Entries) -> list[str]:
    """The graphs that were tried."""
    return [dataset for dataset in GRAPHS if any(graph == dataset for graph, _ in entries)]


def _overview(entries: Entries) -> str:
    heads = [f"{dataset} | searched" for dataset in GRAPHS]
    lines = [f"| test accuracy, % | {' | '.join(heads)} |", "|---" * (1 + 2 * len(GRAPHS)) + "|"]
    for model, title in SYSTEMS.items():
        cells = [_mean(entries.get((dataset, model)), kind) for dataset in GRAPHS for kind in KINDS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(entry: Entry | None, kind: str) -> str:
    if entry is None:
        return "not run"
    return mean_and_std([row["test"] for row in entry.rows[kind]]) if entry.rows[kind] else MISSING[kind]


def _of_graph(entries: Entries, dataset: str) -> str:
    lines = [
        f"## {dataset}\n",
        "| system | settings | trials | test accuracy, % | minus GRAND+, over trials (95 % CI) "
        "| over nodes and trials | seconds | MiB |",
        "|---" * 8 + "|",
    ]
    for kind in KINDS:
        for model, title in SYSTEMS.items():
            entry = entries.get((dataset, model))
            if entry and entry.rows[kind]:
                rows, gap = entry.rows[kind], _gap(entries, dataset, model, kind)
                took = f"{seconds_of(rows):.1f} | {memory_of(rows)}"
                lines.append(f"| {title} | {kind} | {len(rows)} | {_mean(entry, kind)} | {gap} | {took} |")
    tried = {model: entry for (graph, model), entry in entries.items() if graph == dataset}
    reasons = [f"- {SYSTEMS[model]}: {entry.reason}" for model, entry in tried.items() if entry.reason]
    return "\n".join([*lines, *([""] if reasons else []), *reasons]) + "\n"


def _gap(entries: Entries, dataset: str, model: str, kind: str) -> str:
    """Beside GRAND+ of the same kind, over the trials that both have."""
    entry, reference = entries[dataset, model], entries.get((dataset, REFERENCE))
    if reference is None or model == REFERENCE or min(len(entry.rows[kind]), len(reference.rows[kind])) < 2:
        return " | "
    train = _training_nodes(dataset, entry.nodes[kind])
    return str(on_random_splits(entry.run(kind), reference.run(kind), train=train))


def _training_nodes(dataset: str, nodes: NodeScores) -> int:
    each = own_case(dataset, REFERENCE).settings(1).preprocess.train_per_class
    return each * len(np.unique(nodes.labels))


def plot(entries: Entries, file: Path) -> None:
    """Means with 95 % intervals of both kinds, a panel for each graph."""
    shown = _shown(entries) or list(GRAPHS)
    figure, axes = plt.subplots(1, len(shown), figsize=(1 + 2.75 * len(shown), 4.2), sharey=True, layout="constrained")
    axes = np.atleast_1d(axes)
    y = dict(zip(SYSTEMS, reversed(range(len(SYSTEMS))), strict=True))
    for axis, dataset in zip(axes, shown, strict=True):
        of_graph = {model: entries[dataset, model] for model in y if (dataset, model) in entries}
        for shift, kind in zip((0.15, -0.15), KINDS, strict=True):
            samples = {model: _sample(entry, dataset, kind) for model, entry in of_graph.items() if entry.rows[kind]}
            least = max((mean for mean, _ in samples.values()), default=0) - SPAN
            inside = {model: sample for model, sample in samples.items() if sample[0] >= least}
            means, widths = ([100 * sample[part] for sample in inside.values()] for part in (0, 1))
            places = [y[model] + shift for model in inside]
            axis.errorbar(means, places, xerr=widths, fmt="o", markersize=4, capsize=2, label=kind)
            for model in samples.keys() - inside.keys():
                at = (0.02, y[model] + shift)
                text = f"← {100 * samples[model][0]:.0f} ({kind})"
                axis.annotate(text, at, xycoords=axis.get_yaxis_transform(), va="center", fontsize=8)
        axis.set_title(dataset)
        axis.set_xlabel("test accuracy, %")
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(list(y.values()), [SYSTEMS[model] for model in y])
    axes[0].set_ylim(-0.5, len(SYSTEMS) - 0.5)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    save(figure, file)


def _sample(entry: Entry, dataset: str, kind: str) -> tuple[float, float]:
    """The mean, and half the width of its interval, corrected as the splits overlap."""
    sample = Sample.of([row["test"] for row in entry.rows[kind]])
    if sample.trials < 2:
        return sample.mean, 0.0
    nodes = entry.nodes[kind]
    shared = overlap_of_splits(train=_training_nodes(dataset, nodes), test=round(nodes.size))
    return sample.mean, float(sample.half_width * np.sqrt(1 + sample.trials * shared))
