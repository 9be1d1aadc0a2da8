"""A plot of large.csv: the cost of each stage against the size of the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from grandplus.evaluation.figures import save

STAGES = ("download", "preprocess", "gfpush", "train", "infer")
FITTED_SIZES = 3  # the largest; at smaller ones starting Python and loading libraries takes most of the time
NAMES = {"download": "generate"}


def draw(rows: list[dict[str, Any]], dataset: str, matrix: str, file: Path) -> dict[str, float]:
    """Draw seconds and memory against edges, both axes logarithmic; returns each stage's slope of seconds, fitted to
    the largest sizes."""
    selected = [row for row in rows if row["dataset"] == dataset and row["matrix"] in ("", matrix)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    slopes = {}
    for stage in STAGES:
        points = sorted(
            (float(r["edges"]), float(r["seconds"]), float(r["gib"])) for r in selected if r["stage"] == stage
        )
        edges, seconds, gib = np.array(points).T
        slopes[stage] = float(np.polyfit(np.log(edges[-FITTED_SIZES:]), np.log(seconds[-FITTED_SIZES:]), 1)[0])
        name = NAMES.get(stage, stage)
        left.loglog(edges, seconds, "o-", label=f"{name}, slope {slopes[stage]:.2f}")
        right.loglog(edges, gib, "o-", label=name)
    left.set(xlabel="edges", ylabel="seconds", title=f"{dataset}, {matrix}: time of a stage, slope from scale 0.1")
    right.set(xlabel="edges", ylabel="GiB", title="resident memory, mapped files included")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    save(figure, file)
    return slopes
