"""Plots of training and predictions: CSV for ``dvc plots``, PNG to look at without a browser.

Each plot is a PNG and its CSV, of one name. Same input, same version of matplotlib: same bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import matplotlib.style
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from grandplus.evaluation.calibration import Reliability, expected_calibration_error, reliability
from grandplus.evaluation.metrics import Scored, judged_by, select

CONFUSION_ROWS = 20_000  # at most, in confusion.csv: a browser has to draw them
FAINT_TRIALS = 30  # at most, drawn as lines of their own
ANNOTATED_CLASSES = 12  # with more, numbers no longer fit in the confusion matrix's cells
DECIMALS = 6

# Of Okabe and Ito's palette, told apart with any colour vision; training is dashed as well.
TRAIN, VALIDATION, GREY = "#D55E00", "#0072B2", "#666666"
STYLE = {
    "font.size": 11,
    "figure.titlesize": 12,
    "figure.constrained_layout.w_pad": 0.12,  # inches
    "figure.constrained_layout.h_pad": 0.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "legend.frameon": False,
}


def write_plots(
    folder: Path | str, *, title: str, history: pa.Table, predictions: Sequence[pa.Table], classes: Sequence[str]
) -> None:
    """Write losses, accuracies, confusion and reliability, each as ``.csv`` and ``.png``; reliability as two CSV.

    Parameters
    ----------
    folder : where to; made if need be. Files of the same names are replaced.
    title : dataset and matrix, as in ``"Pubmed, avg"``; heads every picture.
    history : one line per trial and validation; int64 columns ``trial`` and ``step``, float64
        columns ``train_loss``, ``val_loss``, ``train_accuracy`` and ``val_accuracy``.
    predictions : one table per trial, as for `grandplus.evaluation.metrics.summarize`.
    classes : class names, by class number.

    Notes
    -----
    Trials stop at different steps, so means over trials go up to the last step that all of
    them reached; beyond it they would jump whenever a trial drops out.

    Confusion and reliability are of test nodes, or of validation nodes if no test node has a known label.
    ``confusion.csv`` has a line per node and trial: of the first trials, as many as fit in
    `CONFUSION_ROWS`; if not even one does, nodes of the first at even distances. The picture
    counts everything.

    Raises
    ------
    GrandPlusError : see `grandplus.evaluation.metrics.summarize`.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    part = judged_by(predictions)
    trials = select(predictions, part, classes)
    nodes = {"test": "test nodes", "val": "validation nodes, as no test node has a label"}[part]
    with matplotlib.style.context(["default", STYLE]):  # the user's own matplotlibrc must not show
        _losses(folder, title, history)
        _accuracies(folder, title, history)
        _confusion(folder, title, trials, classes, nodes)
        _reliability(folder, title, trials, nodes)


class _Curve(NamedTuple):
    """A column of the history; NaN where a trial has no such step."""

    steps: NDArray[np.int64]  # (s,)
    trials: NDArray[np.float64]  # (t, s)
    common: int  # the first so many steps were reached by all trials

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.asarray(self.trials[:, : self.common].mean(axis=0))


def _losses(folder: Path, title: str, history: pa.Table) -> None:
    train, val = _curve(history, "train_loss"), _curve(history, "val_loss")
    steps, gap = train.steps[: train.common], val.mean - train.mean
    rows = zip(steps, train.mean, val.mean, gap, strict=True)
    _write_csv(folder / "losses.csv", ["step", "train_loss", "val_loss", "generalisation_gap"], rows)
    with _figure(folder / "losses.png", (7.5, 5)) as figure:
        axes = figure.add_subplot()
        shade = axes.fill_between(steps, train.mean, val.mean, color=GREY, alpha=0.16, linewidth=0)
        shade.set_label(f"generalisation gap, {gap[-1]:.3f} at step {steps[-1]}")
        _draw_curves(axes, train, val)
        axes.set_ylim(0, 1.04 * axes.get_ylim()[1])
        axes.set_ylabel("Cross-entropy loss")
        _head(figure, title, f"Training and validation loss{_faint(train)}")
        _legend_below(figure)


def _accuracies(folder: Path, title: str, history: pa.Table) -> None:
    train, val = _curve(history, "train_accuracy"), _curve(history, "val_accuracy")
    rows = zip(train.steps[: train.common], train.mean, val.mean, strict=True)
    _write_csv(folder / "accuracies.csv", ["step", "train_accuracy", "val_accuracy"], rows)
    with _figure(folder / "accuracies.png", (7.5, 5)) as figure:
        axes = figure.add_subplot()
        _draw_curves(axes, train, val)
        axes.set_ylim(axes.get_ylim()[0] - 0.02, 1.01)  # room for a line at either end
        axes.set_ylabel("Accuracy")
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        _head(figure, title, f"Training and validation accuracy{_faint(train)}")
        _legend_below(figure)


def _confusion(folder: Path, title: str, trials: Sequence[Scored], classes: Sequence[str], nodes: str) -> None:
    names = ((classes[label], classes[predicted]) for label, predicted in _confusion_rows(trials))
    _write_csv(folder / "confusion.csv", ["actual", "predicted"], names)
    size = len(classes)
    numbers = range(size)
    counts = np.sum([confusion_matrix(t.label, t.predicted, labels=numbers) for t in trials], axis=0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)  # a class without nodes: 0
    side = 3.2 + 0.75 * min(size, ANNOTATED_CLASSES)
    with _figure(folder / "confusion.png", (side + 1.4, side)) as figure:
        axes = figure.add_subplot()
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, label="Share of the actual class", format=PercentFormatter(1))
        bar.outline.set_visible(False)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        detail, font = "", 7
        if size <= ANNOTATED_CLASSES:
            detail, font = f", {_per_trial('nodes', trials)} in brackets", 10
            _annotate(axes, shares, counts / len(trials), decimals=1 if len(trials) > 1 else 0)
        long = max(map(len, classes)) > 4
        slant: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
        axes.set_xticks(numbers, classes, size=font, parse_math=False, **slant)
        axes.set_yticks(numbers, classes, size=font, parse_math=False)
        axes.set_xlabel("Predicted class")
        axes.set_ylabel("Actual class")
        _head(figure, title, f"Confusion on {nodes}{detail}")


def _reliability(folder: Path, title: str, trials: Sequence[Scored], nodes: str) -> None:
    """As trained on the left, with the temperature on the right."""
    correct = np.concatenate([trial.correct for trial in trials])
    sides = {
        "reliability.csv": ("Before calibration", [trial.confidence for trial in trials]),
        "reliability_calibrated.csv": ("After calibration", [trial.calibrated for trial in trials]),
    }
    with _figure(folder / "reliability.png", (10.5, 6.8)) as figure:
        axes = figure.subplots(2, 2, sharex=True, sharey="row", gridspec_kw={"height_ratios": [3.6, 1]})
        for (upper, lower), (file, (name, confidence)) in zip(axes.T, sides.items(), strict=True):
            bins = reliability(np.concatenate(confidence), correct)
            filled = bins.count > 0
            rows = zip(bins.confidence[filled], bins.accuracy[filled], bins.count[filled], strict=True)
            _write_csv(folder / file, ["confidence", "accuracy", "count"], rows)
            pairs = zip(confidence, trials, strict=True)
            ece = np.mean([expected_calibration_error(found, trial.correct) for found, trial in pairs])
            upper.set_title(f"{name}, expected calibration error {ece:.3f}", size=11)
            _draw_bins(upper, lower, bins, len(trials))
        axes[0, 0].set(xlim=(0, 1), ylim=(0, 1), ylabel="Accuracy")
        axes[1, 0].set_ylabel(_per_trial("Nodes", trials).replace(" ", "\n", 1))
        _head(figure, title, f"Reliability on {nodes}")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_bins(upper: Axes, lower: Axes, bins: Reliability, trials: int) -> None:
    width = 1 / len(bins.count)
    left = np.arange(len(bins.count)) * width
    bars: dict[str, Any] = {"width": width, "align": "edge", "edgecolor": "white"}
    upper.bar(left, bins.accuracy, color=VALIDATION, alpha=0.55, label="accuracy", **bars)
    upper.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="perfect calibration")
    upper.vlines(bins.confidence, bins.accuracy, bins.confidence, color=TRAIN, lw=2.5, label="miscalibration")
    lower.bar(left, bins.count / trials, color=GREY, **bars)
    lower.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    lower.set_xlabel("Confidence")


def _curve(history: pa.Table, column: str) -> _Curve:
    _, trial = np.unique(history["trial"].to_numpy(), return_inverse=True)
    steps, step = np.unique(history["step"].to_numpy(), return_inverse=True)
    values = np.full((trial.max() + 1, len(steps)), np.nan)
    values[trial, step] = history[column].to_numpy()
    reached = np.zeros(values.shape, dtype=bool)
    reached[trial, step] = True
    return _Curve(steps, values, int(np.logical_and.accumulate(reached.all(axis=0)).sum()))


def _confusion_rows(trials: Sequence[Scored]) -> Iterator[tuple[int, int]]:
    sizes = np.cumsum([len(trial.label) for trial in trials])
    whole = int((sizes <= CONFUSION_ROWS).sum())
    for trial in trials[:whole]:
        yield from zip(trial.label, trial.predicted, strict=True)
    if not whole:
        chosen = np.linspace(0, sizes[0] - 1, CONFUSION_ROWS).astype(np.int64)
        yield from zip(trials[0].label[chosen], trials[0].predicted[chosen], strict=True)


def _draw_curves(axes: Axes, train: _Curve, val: _Curve) -> None:
    several = len(train.trials) > 1
    marker = None
    if len(train.steps) == 1:  # makes no line
        marker = "o"
        axes.set_xticks(train.steps)
    for curve, color, dash, name in ((train, TRAIN, "--", "training"), (val, VALIDATION, "-", "validation")):
        if several:
            axes.plot(curve.steps, curve.trials[:FAINT_TRIALS].T, color=color, linewidth=0.7, alpha=0.25)
            name += f", mean of {len(curve.trials)} trials"
        steps = curve.steps[: curve.common]
        axes.plot(steps, curve.mean, color=color, linestyle=dash, linewidth=2.4, marker=marker, label=name)
    if several and train.common < len(train.steps):
        axes.axvline(train.steps[train.common - 1], color=GREY, linewidth=1, linestyle=":", label="first trial stops")
    axes.set_xlabel("Step")
    axes.margins(x=0.01)


def _annotate(axes: Axes, shares: NDArray[np.float64], counts: NDArray[np.float64], decimals: int) -> None:
    for (row, column), share in np.ndenumerate(shares):
        text = f"{share:.1%}\n({counts[row, column]:,.{decimals}f})"
        color = "white" if share > 0.55 else "black"
        axes.text(column, row, text, ha="center", va="center", color=color, size=9)


def _head(figure: Figure, title: str, subject: str) -> None:
    # A name may hold a $, which is not meant as mathematics.
    figure.suptitle(f"{title}\n{subject}", x=0.02, ha="left", linespacing=1.4, parse_math=False)


def _faint(curve: _Curve) -> str:
    count = len(curve.trials)
    which = "each trial" if count <= FAINT_TRIALS else f"the first {FAINT_TRIALS} trials"
    return f" (faint: {which})" if count > 1 else ""


def _per_trial(what: str, trials: Sequence[Scored]) -> str:
    return f"{what} per trial" if len(trials) > 1 else what


def _legend_below(figure: Figure) -> None:
    figure.legend(loc="outside lower center", ncols=2)


@contextmanager
def _figure(file: Path, inches: tuple[float, float]) -> Iterator[Figure]:
    """A figure that is written to ``file`` at the end; pyplot would keep state of its own."""
    figure = Figure(figsize=inches, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)  # draws it, whatever the user's backend is
    yield figure
    figure.savefig(file, metadata={"Software": None})  # else the version of matplotlib


def _write_csv(file: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([round(x, DECIMALS) if isinstance(x, float) else x for x in row] for row in rows)
