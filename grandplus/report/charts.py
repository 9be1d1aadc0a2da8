"""The charts of one run, each an SVG; of what they show there is a mark, with its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grandplus.report.gather import Run
from grandplus.report.svg import Chart, shares_around, ticks
from grandplus.report.table import percent

NUMBERED_CLASSES = 12  # with more, numbers no longer fit in the confusion matrix's cells
MOST_NAMES = 8  # like 512–1023, side by side
PART = {"test": "test", "val": "validation"}


def trials(run: Run) -> Chart:
    """Test and validation accuracy of each trial, by its number."""
    scores = run.details["accuracy"]
    low, high = shares_around((score for part in scores.values() for score in part), least=0.002)
    count = len(run.accuracy)
    chart = Chart(
        (-0.6, count - 0.4),
        (low, high),
        x_ticks=[(at, str(at)) for at in range(0, count, 1 + count // 12)],
        y_ticks=ticks(low, high, "{:.1%}".format),
        label="Accuracy of each trial",
        x_title="trial",
    )
    for part, values in scores.items():
        chart.line(enumerate(values), f"thread {part}")
        for trial, score in enumerate(values):
            chart.dot(trial, score, f"trial {part}", f"trial {trial}, {PART[part]}: {percent(score)}")
    return chart


def losses(run: Run) -> Chart:
    """Means over trials of training and validation loss; what lies between is the generalisation gap."""
    of = run.details["losses"]
    steps, train, val = of["step"], of["train"], of["val"]
    chart = loss_axes([of], "Training and validation loss")
    ahead, back = list(zip(steps, val, strict=True)), list(zip(steps, train, strict=True))
    chart.area([*ahead, *reversed(back)], "gap")
    chart.line(back, "curve train")
    chart.line(ahead, "curve val")
    for step, of_train, of_val in zip(steps, train, val, strict=True):
        says = f"step {step}: training {of_train:.3f}, validation {of_val:.3f}, gap {of_val - of_train:.3f}"
        chart.dot(step, of_val, "point", says, 5)
    return chart


def loss_axes(curves: Sequence[dict[str, Any]], label: str) -> Chart:
    """An empty chart with room for training and validation losses."""
    right = max(1, *(of["step"][-1] for of in curves))
    top = 1.05 * max(loss for of in curves for part in ("train", "val") for loss in of[part])
    return Chart(
        (0, right),
        (0, top),
        x_ticks=ticks(0, right, "{:g}".format),
        y_ticks=ticks(0, top, "{:g}".format),
        label=label,
        x_title="step",
    )


def confusion(run: Run) -> Chart:
    """A row for each actual class: which share of its nodes was predicted as what."""
    counts, classes = run.details["confusion"], run.details["classes"]
    size, many = len(classes), len(classes) > NUMBERED_CLASSES
    every = 5 if many else 1  # one in so many has its number below
    chart = Chart(
        (0, size),
        (-size, 0),
        x_ticks=[(number + 0.5, str(number)) for number in range(0, size, every)],
        y_ticks=[(-number - 0.5, _named(number, classes[number], many)) for number in range(0, size, every)],
        label="Confusion matrix",
        x_title="predicted class",
        height=320,
        left=60 if many else 124,
    )
    for actual, row in enumerate(counts):
        total = max(sum(row), 1)
        for predicted, count in enumerate(row):
            share = count / total
            says = f"{classes[actual]} predicted as {classes[predicted]}: {percent(share)}, {count:,} of {total:,}"
            chart.bar((predicted, predicted + 1), (-actual - 1, -actual), f"mark cell heat{round(10 * share)}", says)
            if not many:
                place = chart.x(predicted + 0.5), chart.y(-actual - 0.5)
                chart.text(*place, f"{100 * share:.0f}", "number middle light" if share > 0.55 else "number middle")
    return chart


def reliability(run: Run) -> Chart:
    """Accuracy against confidence, before and after calibration."""
    axis = ticks(0, 1, "{:.0%}".format)
    chart = Chart((0, 1), (0, 1), x_ticks=axis, y_ticks=axis, label="Reliability", x_title="confidence")
    chart.line([(0, 0), (1, 1)], "ideal")
    for when in ("before", "after"):
        of = run.details["reliability"][when]
        known = list(zip(of["confidence"], of["accuracy"], of["count"], strict=True))
        chart.line([(confidence, accuracy) for confidence, accuracy, _ in known], f"thread {when}")
        total = sum(of["count"])
        for confidence, accuracy, count in known:
            says = f"{when}: confidence {percent(confidence)}, right {percent(accuracy)}, {count:,} predictions"
            chart.dot(confidence, accuracy, f"bin {when}", says, round(2.5 + 9 * (count / total) ** 0.5, 2))
    return chart


def by_degree(run: Run) -> Chart:
    """Accuracy of nodes with similar numbers of neighbours."""
    groups = run.details["by_degree"]
    names = [degrees(int(of["low"]), int(of["high"])) for of in groups]
    spans = [(number + 0.12, number + 0.88) for number in range(len(groups))]
    marks = [(number + 0.5, name) for number, name in enumerate(names)]
    if len(groups) > MOST_NAMES:  # they would overlap, so each group's least number stands at its left
        marks = [(float(number), str(int(of["low"]))) for number, of in enumerate(groups)]
    says = [f"{name} neighbours" for name in names]
    return _groups(groups, spans, says, (0, len(groups)), marks, "neighbours")


def by_l1_error(run: Run) -> Chart | None:
    """Accuracy of nodes with similar L1 error of their rows; None where no such node has a row."""
    groups = run.details["by_l1_error"]
    if not groups:
        return None
    right = max(1.05 * groups[-1]["high"], 0.01)
    spans = [(of["low"], of["high"]) for of in groups]
    says = [f"L1 error {of['low']:.4f} to {of['high']:.4f}" for of in groups]
    return _groups(groups, spans, says, (0, right), ticks(0, right, "{:g}".format), "L1 error of the node's row")


def degrees(low: int, high: int) -> str:
    """How a group of degrees is named, from low to below high.

    >>> degrees(1, 2), degrees(4, 8)
    ('1', '4–7')
    """
    return str(low) if high - low == 1 else f"{low}–{high - 1}"


def interval(of: Mapping[str, float]) -> tuple[float, float]:
    """95 %, of the shares that there are."""
    half = of.get("ci95", 0.0)
    return max(of["mean"] - half, 0.0), min(of["mean"] + half, 1.0)


def _groups(
    groups: Sequence[dict[str, Any]],
    spans: Sequence[tuple[float, float]],
    says: Sequence[str],
    x: tuple[float, float],
    x_ticks: list[tuple[float, str]],
    title: str,
) -> Chart:
    low = max(0.0, min(interval(of)[0] for of in groups) - 0.04)
    chart = Chart(
        x,
        (low, 1),
        x_ticks=x_ticks,
        y_ticks=ticks(low, 1, "{:.0%}".format),
        label=f"Accuracy by {title}",
        x_title=title,
    )
    for of, span, name in zip(groups, spans, says, strict=True):
        middle = sum(span) / 2
        chart.line([(middle, end) for end in interval(of)], "whisker found")
        chart.line([(span[0], of["mean"]), (span[1], of["mean"])], "span")
        chart.dot(middle, of["mean"], "group", f"{name}: {percent(of['mean'])} of {of['nodes']:g} nodes")
    return chart


def _named(number: int, name: str, many: bool) -> str:
    if many or name == str(number):
        return str(number)
    return f"{name if len(name) <= 14 else f'{name[:13]}…'} {number}"
