"""The tables and the plot of the eleven systems on the paper's small graphs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from matplotlib import pyplot as plt

from experiments.compared import legends
from experiments.compared.figures import (
    A_POINT,
    CITATION,
    HALF_A_POINT,
    OWN,
    PAPER,
    REASONS,
    REFERENCE,
    SYSTEMS,
    configuration,
)
from experiments.compared.gaps import Run, on_one_split
from experiments.compared.measured import memory_of, seconds_of
from experiments.trials import Row, mean_and_std
from grandplus.evaluation.figures import save
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.statistics import Sample

NOT_RUN = "not run"


class Cell(NamedTuple):
    """A system on a graph.

    Attributes
    ----------
    rows : list of dict
        Its trials.
    nodes : NodeScores
        Which test nodes they have right.
    """

    rows: list[Row]
    nodes: NodeScores

    @property
    def run(self) -> Run:
        """For its intervals."""
        return Run([row["test"] for row in self.rows], self.nodes)

    @property
    def sample(self) -> Sample:
        """Its test accuracies, as shares."""
        return Sample.of(self.run.scores)

    def __str__(self) -> str:
        """Mean ± standard deviation, in percent."""
        return mean_and_std(list(self.run.scores))


Cells = dict[tuple[str, str], Cell]  # by graph and system


def tables(cells: Cells) -> str:
    """Markdown: the paper's table with our figures, what each cell took on each graph, and what is to be explained."""
    return "\n".join(
        [_overview(cells), legends.CITATION, *(_of_graph(cells, dataset) for dataset in CITATION), _to_explain(cells)]
    )


def _overview(cells: Cells) -> str:
    heads = [f"{dataset.capitalize()} | paper" for dataset in CITATION]
    lines = [f"| test accuracy, % | {' | '.join(heads)} |", "|---" * (1 + 2 * len(CITATION)) + "|"]
    for model, title in SYSTEMS.items():
        figures = []
        for dataset in CITATION:
            paper = PAPER[model][dataset]
            figures += [str(cells.get((dataset, model), NOT_RUN)), f"{paper.mean:.1f} ± {paper.std:.1f}"]
        lines.append(f"| {title} | {' | '.join(figures)} |")
    return "\n".join(lines) + "\n"


def _of_graph(cells: Cells, dataset: str) -> str:
    lines = [
        f"## {dataset.capitalize()}\n",
        "| system | settings | trials | here | paper | its authors | minus GRAND+, over trials (95 % CI) "
        "| over nodes and trials | seconds | MiB |",
        "|---" * 10 + "|",
    ]
    for model, title in SYSTEMS.items():
        authors = OWN.get(model, {}).get(dataset)
        published = f"{PAPER[model][dataset].mean:.1f} | {'' if authors is None else f'{authors:.1f}'}"
        cell = cells.get((dataset, model))
        if cell is None:
            lines.append(f"| {title} | | | {NOT_RUN} | {published} | | | | |")
            continue
        of_cell = f"{configuration(model, dataset)} | {len(cell.rows)} | {cell} | {published}"
        gap = _gap(cell, cells.get((dataset, REFERENCE)))
        lines.append(f"| {title} | {of_cell} | {gap} | {seconds_of(cell.rows):.1f} | {memory_of(cell.rows)} |")
    return "\n".join(lines) + "\n"


def _gap(cell: Cell, reference: Cell | None) -> str:
    if reference is None or reference is cell or min(len(cell.rows), len(reference.rows)) < 2:
        return " | "
    return str(on_one_split(cell.run, reference.run))


def _to_explain(cells: Cells) -> str:
    """The cells that are more than half a point from their own authors' figures, or a point below the paper's."""
    far, below = [], []
    for (dataset, model), cell in cells.items():
        authors, paper = OWN.get(model, {}).get(dataset), PAPER[model][dataset].mean
        mean, reason = 100 * cell.sample.mean, REASONS.get((model, dataset), "the reason is not known yet")
        here = f"- {SYSTEMS[model]} on {dataset.capitalize()}, {cell} here"
        if authors is not None and abs(mean - authors) > HALF_A_POINT:
            far.append(f"{here}, {authors:.1f} by its authors: {reason}.")
        elif authors is None and paper - mean > A_POINT:
            below.append(f"{here}, {paper:.1f} in the paper: {reason}.")
    sections = {
        "More than half a point from the authors' own figure": far,
        "More than a point below the paper, of systems whose authors have no figure": below,
    }
    return "\n".join("\n".join([f"## {title}\n", *(lines or ["None."])]) + "\n" for title, lines in sections.items())


def plot(cells: Cells, file: Path) -> None:
    """Means with 95 % intervals beside published ones, a panel for each graph."""
    figure, axes = plt.subplots(1, len(CITATION), figsize=(10.5, 4.2), sharey=True, layout="constrained")
    y = dict(zip(SYSTEMS, reversed(range(len(SYSTEMS))), strict=True))
    for axis, dataset in zip(axes, CITATION, strict=True):
        samples = {model: cells[dataset, model].sample for model in SYSTEMS if (dataset, model) in cells}
        means = [100 * sample.mean for sample in samples.values()]
        widths = [100 * sample.half_width if sample.trials > 1 else 0 for sample in samples.values()]
        axis.errorbar(
            means, [y[model] for model in samples], xerr=widths, fmt="o", capsize=3, label="here, with 95 % CI"
        )
        axis.plot([PAPER[model][dataset].mean for model in y], list(y.values()), "kx", label="paper")
        authors = {model: figures[dataset] for model, figures in OWN.items() if dataset in figures}
        places = [y[model] for model in authors]
        axis.plot(list(authors.values()), places, "s", mfc="none", color="C1", label="its authors")
        axis.set_title(dataset.capitalize())
        axis.set_xlabel("test accuracy, %")
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(list(y.values()), [SYSTEMS[model] for model in y])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
    save(figure, file)
