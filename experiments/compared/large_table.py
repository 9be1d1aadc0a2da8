"""The table and the plot of the systems on large graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from experiments.compared import legends
from experiments.compared.figures import DAY, PAPER_LARGE, SYSTEMS, TWINS, LargeFigure
from grandplus.evaluation.figures import save

PARTS = ("preparation", "training", "inference")
Note = dict[str, str]


def table(rows: list[Note]) -> str:
    """Markdown: seconds and memory of each system, and what the paper has of the graph whose size the twin has."""
    lines = [
        "| graph | scale | system | preparation, s | training, s | inference, s | together, s | GiB | test accuracy, % "
        "| paper, s | paper's accuracy, % | |",
        "|---" * 12 + "|",
    ]
    for dataset in TWINS:
        for model in PAPER_LARGE:
            own = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
            paper = _published(PAPER_LARGE[model][dataset])
            own.sort(key=lambda row: float(row["scale"]))
            beside = [row for row in own if row["scale"] == "1" or (row["ended"] and row is own[-1])]  # the paper's
            for row in own:
                seconds = " | ".join(row[part] for part in PARTS)
                together = "" if row["ended"] else f"{_together(row):.0f}"
                scores = (
                    f"{float(row['memory']) / 1024:.1f} | {100 * float(row['test']):.1f}"
                    if row["test"]
                    else f"{float(row['memory']) / 1024:.1f} |"
                )
                of_case = f"{dataset} | {row['scale']} | {SYSTEMS[model]} | {seconds} | {together} | {scores}"
                lines.append(f"| {of_case} | {paper if row in beside else ' | '} | {row['ended']} |")
            if not beside:
                lines.append(f"| {dataset} | 1 | {SYSTEMS[model]} | | | | | | | {paper} | not run |")
    return "\n".join([*lines, "", legends.LARGE])


def _published(figure: LargeFigure) -> str:
    seconds = "> 24 h" if figure.seconds >= DAY else f"{figure.seconds:.0f}"
    return f"{seconds} | {'' if figure.accuracy is None else f'{figure.accuracy:.1f}'}"


def _together(row: Note) -> float:
    return sum(float(row[part]) for part in PARTS)


def plot(rows: list[Note], file: Path) -> None:
    """Seconds of each part, and memory; a column for each graph, each system at the largest scale that it has done."""
    shown = [dataset for dataset in TWINS if any(row["dataset"] == dataset for row in rows)] or TWINS
    size = (2 + 3 * len(shown), 6)
    figure, axes = plt.subplots(2, len(shown), figsize=size, sharey=True, layout="constrained", squeeze=False)
    y = dict(zip(PAPER_LARGE, reversed(range(len(PAPER_LARGE))), strict=True))
    for (seconds, memory), dataset in zip(axes.T, shown, strict=True):
        done: dict[str, Note] = {}
        for row in sorted(rows, key=lambda row: float(row["scale"])):
            if row["dataset"] == dataset and not row["ended"]:
                done[row["model"]] = row
        places, left = [y[model] for model in done], np.zeros(len(done))
        for part in PARTS:
            widths = np.array([float(row[part]) for row in done.values()])
            seconds.barh(places, widths, left=left, label=part)
            left += widths
        gigabytes = [float(row["memory"]) / 1024 for row in done.values()]
        memory.barh(places, gigabytes, color="C7")
        texts = ["" if row["scale"] == "1" else f" {float(row['scale']):.0%} of the size" for row in done.values()]
        for axis, ends in ((seconds, left), (memory, gigabytes)):
            axis.margins(x=0.35)
            for place, end, text in zip(places, ends, texts, strict=True):
                axis.annotate(text, (end, place), va="center", fontsize=7)
        seconds.set_title(dataset)
        seconds.set_xlabel("seconds")
        memory.set_xlabel("memory, GiB")
    for axis in axes[:, 0]:
        axis.set_yticks(list(y.values()), [SYSTEMS[model] for model in y])
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False)
    save(figure, file)
