"""Which matrix and which order suit a graph: accuracy over the homophily of edges and the noise of features.

    python -m experiments.defaults.matrices

Made graphs of 1,000 nodes and four classes, with the defaults of an imported graph. Resumable: finished trials are kept
in matrices.csv. Writes matrices.png.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from tqdm import tqdm

from experiments.defaults.made import Recipe, make
from experiments.notes import note_all, read_notes
from grandplus.datasets.preprocess import preprocess
from grandplus.evaluation.figures import save
from grandplus.evaluation.suited import suited_top_k, suited_values
from grandplus.graph.settings import Preprocess
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.ending import ending
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.settings import GFPush

FOLDER = Path(__file__).parent
KEY = ("homophily", "noise", "matrix", "order", "trial")
COLUMNS = (*KEY, "test")
HOMOPHILY = (0.25, 0.5, 0.7, 0.9)  # 0.25 is chance, as there are four classes
NOISE = (0.2, 0.5, 1.0)
MATRICES, ORDERS = ("ppr", "avg", "single"), (2, 4, 10)
Case = tuple[float, float, str, int, int]  # of KEY


def cases(trials: int) -> list[Case]:
    """Graph by graph."""
    return [
        (homophily, noise, matrix, order, trial)
        for trial in range(trials)
        for homophily in HOMOPHILY
        for noise in NOISE
        for matrix in MATRICES
        for order in ORDERS
    ]


def score(homophily: float, noise: float, matrix: str, order: int, trial: int) -> float:
    """Test accuracy on a graph, which is another one in each trial."""
    torch.set_num_threads(1)
    raw = make(Recipe(nodes=1000, classes=4, degree=8, homophily=homophily, noise=noise), seed=trial)
    graph, splits = preprocess(raw, Preprocess(features="standardize", split="per-class"), seed=trial, trials=1)
    weights, split = propagation_weights(matrix, order=order), splits.of(0)
    rows = gfpush(
        graph, splits.needing_rows(), weights=weights, rmax=GFPush().rmax, top_k=suited_top_k(graph), matrix=matrix
    )
    trained = fit(Task(graph, split, rows, seed=[0, trial]), Settings(**suited_values(graph, split, order)))
    predicted = trained.model.predict_proba(graph).argmax(axis=1)
    return float((predicted[split.test] == graph.labels[split.test]).mean())


def complete(file: Path, trials: int) -> dict[Case, float]:
    """The accuracies of so many trials: those that the file has, and others, which are added to it."""
    scores = _read(file)
    for case in tqdm(cases(trials), unit="trial", disable=None):
        if case not in scores:
            scores[case] = round(score(*case), 4)
            note_all(file, [dict(zip(COLUMNS, (*case, scores[case]), strict=True))], KEY, COLUMNS)
    return {case: scores[case] for case in cases(trials)}


def _read(file: Path) -> dict[Case, float]:
    return {
        (float(row["homophily"]), float(row["noise"]), row["matrix"], int(row["order"]), int(row["trial"])): float(
            row["test"]
        )
        for row in read_notes(file)
    }


def plot(scores: dict[Case, float], file: Path) -> None:
    """A map for each matrix and order."""
    figure, axes = plt.subplots(
        len(MATRICES), len(ORDERS), figsize=(9, 8), layout="constrained", sharex=True, sharey=True
    )
    best = np.max([_map(scores, matrix, order) for matrix in MATRICES for order in ORDERS], axis=0)
    for row, matrix in enumerate(MATRICES):
        for column, order in enumerate(ORDERS):
            axis = axes[row][column]
            image = _draw(axis, 100 * _map(scores, matrix, order), 100 * best)
            axis.set_title(f"{matrix}, N = {order}")
            if row == len(MATRICES) - 1:
                axis.set_xlabel("homophily of edges")
            if column == 0:
                axis.set_ylabel("noise of features")
    bar = figure.colorbar(image, ax=axes, shrink=0.6)
    bar.set_label("test accuracy, %; bold: within 2 points of the best of the nine")
    save(figure, file)


def _draw(axis: Axes, values: np.ndarray, best: np.ndarray) -> AxesImage:
    image = axis.imshow(values, vmin=25, vmax=100, cmap="viridis", aspect="auto")
    axis.set_xticks(range(len(HOMOPHILY)), [f"{value:g}" for value in HOMOPHILY])
    axis.set_yticks(range(len(NOISE)), [f"{value:g}" for value in NOISE])
    for (row, column), value in np.ndenumerate(values):
        weight = "bold" if value >= best[row, column] - 2 else "normal"
        color = "black" if value > 65 else "white"
        axis.text(column, row, f"{value:.0f}", ha="center", va="center", color=color, weight=weight)
    return image


def _map(scores: dict[Case, float], matrix: str, order: int) -> np.ndarray:
    """Mean accuracy: (noises, homophilies)."""
    trials = sorted({case[4] for case in scores})
    return np.array(
        [
            [np.mean([scores[homophily, noise, matrix, order, trial] for trial in trials]) for homophily in HOMOPHILY]
            for noise in NOISE
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2)
    trials = parser.parse_args().trials
    return ending(lambda: plot(complete(FOLDER / "matrices.csv", trials), FOLDER / "matrices.png"))


if __name__ == "__main__":
    sys.exit(main())
