"""Pictures of training and predictions as PNG files; their numbers are in ``details``.

The same input gives the same bytes with the same version of matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, MaxNLocator, PercentFormatter
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from grandplus.evaluation.curves import Curve, learning_curve
from grandplus.evaluation.fonts import drawn_names
from grandplus.evaluation.labels import share_labels, short_names
from grandplus.evaluation.reliability import Reliability, expected_calibration_error, reliability
from grandplus.evaluation.scored import Scored, judged_by, select

FAINT_TRIALS = 30  # at most, drawn as lines of their own
ANNOTATED_CLASSES = 12  # with more, numbers no longer fit in the confusion matrix's cells

MIDDLE_LUMINANCE = 0.179  # of a colour on which white and black text can be read equally well

# From the palette of Okabe and Ito, whose colours can be distinguished with any colour vision.
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
    """Write ``losses.png``, ``accuracies.png``, ``confusion.png`` and ``reliability.png``.

    Parameters
    ----------
    folder : path
        It is made if need be; files of the same names are replaced.
    title : str
        Dataset, method and matrix, as in ``"cora, grandplus, ppr"``; it heads every picture.
    history : pyarrow.Table
        A line per trial and validation; int64 columns ``trial`` and ``step``, float64 columns ``train_loss``,
        ``val_loss``, ``train_accuracy`` and ``val_accuracy``.
    predictions : sequence of pyarrow.Table
        One per trial, see `grandplus.evaluation.scored`.
    classes : sequence of str
        Class names, by class number.

    Raises
    ------
    GrandPlusError
        See `grandplus.evaluation.summary.summarize`.

    Notes
    -----
    Means over trials go up to the last step that all of them reached, see `Curve`.
    Confusion and reliability are of test nodes, or of validation nodes if no test node has a known label.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    part = judged_by(predictions)
    trials = select(predictions, part, classes)
    nodes = {"test": "test nodes", "val": "validation nodes, as no test node has a label"}[part]
    with matplotlib.style.context(["default", STYLE]):  # not the user's own matplotlibrc
        _losses(folder, title, history)
        _accuracies(folder, title, history)
        _confusion(folder, title, trials, classes, nodes)
        _reliability(folder, title, trials, nodes)


def _losses(folder: Path, title: str, history: pa.Table) -> None:
    train, val = learning_curve(history, "train_loss"), learning_curve(history, "val_loss")
    steps, gap = train.steps[: train.common], val.mean - train.mean
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
    train, val = learning_curve(history, "train_accuracy"), learning_curve(history, "val_accuracy")
    with _figure(folder / "accuracies.png", (7.5, 5)) as figure:
        axes = figure.add_subplot()
        _draw_curves(axes, train, val)
        low, high = max(axes.get_ylim()[0] - 0.02, -0.01), 1.01  # room for a line at either end
        axes.set_ylim(low, high)
        axes.set_ylabel("Accuracy")
        axes.set_yticks([tick for tick in axes.get_yticks() if max(low, 0) <= round(tick, 9) <= 1])
        axes.yaxis.set_major_formatter(_Shares())
        _head(figure, title, f"Training and validation accuracy{_faint(train)}")
        _legend_below(figure)


def _confusion(folder: Path, title: str, trials: Sequence[Scored], classes: Sequence[str], nodes: str) -> None:
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
            dark = _luminance(image.to_rgba(shares)) < MIDDLE_LUMINANCE
            _annotate(axes, shares, counts / len(trials), dark, decimals=1 if len(trials) > 1 else 0)
        labels, families, numbered = drawn_names(classes)
        names = short_names(labels)
        long = max(map(len, names)) > 4
        slant: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
        axes.set_xticks(numbers, names, size=font, family=families, parse_math=False, **slant)
        axes.set_yticks(numbers, names, size=font, family=families, parse_math=False)
        axes.set_xlabel("Predicted class")
        axes.set_ylabel("Actual class")
        missing = "\nNumbers stand for names that no font of this machine has." if numbered else ""
        _head(figure, title, f"Confusion on {nodes}{detail}{missing}")


def _reliability(folder: Path, title: str, trials: Sequence[Scored], nodes: str) -> None:
    """As trained (left), and with the temperature (right)."""
    correct = np.concatenate([trial.correct for trial in trials])
    sides = {
        "Before calibration": [trial.confidence for trial in trials],
        "After calibration": [trial.calibrated for trial in trials],
    }
    with _figure(folder / "reliability.png", (10.5, 6.8)) as figure:
        axes = figure.subplots(2, 2, sharex=True, sharey="row", gridspec_kw={"height_ratios": [3.6, 1]})
        for (upper, lower), (name, confidence) in zip(axes.T, sides.items(), strict=True):
            bins = reliability(np.concatenate(confidence), correct)
            pairs = zip(confidence, trials, strict=True)
            ece = np.mean([expected_calibration_error(probability, trial.correct) for probability, trial in pairs])
            upper.set_title(f"{name}, expected calibration error {ece:.3f}", size=11)
            _draw_bins(upper, lower, bins, len(trials))
        axes[0, 0].set(xlim=(0, 1), ylim=(0, 1), ylabel="Accuracy")
        axes[1, 0].set_ylabel(_per_trial("Nodes", trials).replace(" ", "\n", 1))
        _head(figure, title, f"Reliability on {nodes}")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


class _Shares(Formatter):
    """Ticks in per cent, with the decimals that they need."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return share_labels([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return share_labels([round(float(value), 9) for value in values])


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


def _draw_curves(axes: Axes, train: Curve, val: Curve) -> None:
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


def _annotate(
    axes: Axes, shares: NDArray[np.float64], counts: NDArray[np.float64], dark: NDArray[np.bool_], decimals: int
) -> None:
    for (row, column), share in np.ndenumerate(shares):
        text = f"{share:.1%}\n({counts[row, column]:,.{decimals}f})"
        color = "white" if dark[row, column] else "black"
        axes.text(column, row, text, ha="center", va="center", color=color, size=9)


def _luminance(colors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative luminance of colours (..., 4), as WCAG 2 defines it."""
    rgb = colors[..., :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


def _head(figure: Figure, title: str, subject: str) -> None:
    # parse_math: a $ in a name is no formula.
    figure.suptitle(f"{title}\n{subject}", x=0.02, ha="left", linespacing=1.4, parse_math=False)


def _faint(curve: Curve) -> str:
    count = len(curve.trials)
    which = "each trial" if count <= FAINT_TRIALS else f"the first {FAINT_TRIALS} trials"
    return f" (faint: {which})" if count > 1 else ""


def _per_trial(what: str, trials: Sequence[Scored]) -> str:
    return f"{what} per trial" if len(trials) > 1 else what


def _legend_below(figure: Figure) -> None:
    figure.legend(loc="outside lower center", ncols=2)


@contextmanager
def _figure(file: Path, inches: tuple[float, float]) -> Iterator[Figure]:
    """A figure that is written to ``file`` at the end; pyplot, which keeps global state, is not used."""
    figure = Figure(figsize=inches, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)  # draws it, whatever the user's backend is
    yield figure
    figure.savefig(file, metadata={"Software": None})  # which would hold the version of matplotlib
