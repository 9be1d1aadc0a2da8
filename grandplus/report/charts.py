"""The charts of one run, each an SVG; every mark tells its value when it is pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grandplus.evaluation.formats import percent
from grandplus.evaluation.labels import short_names, width_of
from grandplus.report.run import Run
from grandplus.report.svg import LETTER, Chart, Ticks, share_ticks, shares_around, ticks

NAMED_CLASSES = 12  # with more, names and numbers no longer fit in the confusion matrix
SLANTED_LETTERS = 3  # names with more are slanted below it
NAMED_GROUPS = 7  # with more, names like 512–1023 would overlap
PART = {"test": "test", "val": "validation"}


def trials(run: Run) -> Chart:
    """Test and validation accuracy of each trial, by its number."""
    scores = run.details["accuracy"]
    low, high = shares_around((score for part in scores.values() for score in part), least=0.002)
    count = len(run.accuracy)
    chart = Chart(
        (-0.6, count - 0.4),
        (low, high),
        x_ticks=[(number, str(number)) for number in range(0, count, 1 + count // 12)],
        y_ticks=share_ticks(low, high),
        label="Accuracy of each trial",
        x_title="trial",
    )
    for part, values in scores.items():
        for trial, score in enumerate(values):
            chart.dot(trial, score, f"trial {part}", f"trial {trial}, {PART[part]}: {percent(score)}")
    return chart


def losses(run: Run) -> Chart:
    """Training and validation loss, means over trials; the area between them is the generalisation gap."""
    losses = run.details["losses"]
    steps, train, val = losses["step"], losses["train"], losses["val"]
    chart = loss_axes([losses], "Training and validation loss")
    upper, lower = list(zip(steps, val, strict=True)), list(zip(steps, train, strict=True))
    chart.area([*upper, *reversed(lower)], "gap")
    chart.line(lower, "curve train")
    chart.line(upper, "curve val")
    for step, training, validation in zip(steps, train, val, strict=True):
        says = f"step {step}: training {training:.3f}, validation {validation:.3f}, gap {validation - training:.3f}"
        chart.dot(step, validation, "point", says, 5)
    return chart


def loss_axes(curves: Sequence[dict[str, Any]], label: str) -> Chart:
    """An empty chart with room for training and validation losses."""
    right = max(1, *(curve["step"][-1] for curve in curves))
    top = 1.05 * max(loss for curve in curves for part in ("train", "val") for loss in curve[part])
    return Chart(
        (0, right),
        (0, top),
        x_ticks=ticks(0, right),
        y_ticks=ticks(0, top),
        label=label,
        x_title="step",
    )


def confusion(run: Run) -> Chart:
    """The confusion matrix: a row for each actual class, in shares of its nodes."""
    counts, classes = run.details["confusion"], run.details["classes"]
    size, many = len(classes), len(classes) > NAMED_CLASSES
    every = 5 if many else 1  # one in so many has its number
    names = [str(number) for number in range(size)] if many else short_names(classes)
    longest = max(map(width_of, names))
    chart = Chart(
        (0, size),
        (-size, 0),
        x_ticks=[(number + 0.5, names[number]) for number in range(0, size, every)],
        y_ticks=[(-number - 0.5, names[number]) for number in range(0, size, every)],
        label="Confusion matrix",
        x_title="predicted class",
        y_title="actual class",
        height=320 if many else 380,
        left=round(34 + LETTER * longest),
        slanted=longest > SLANTED_LETTERS,
    )
    for actual, row in enumerate(counts):
        total = max(sum(row), 1)
        for predicted, count in enumerate(row):
            share = count / total
            says = f"{classes[actual]} predicted as {classes[predicted]}: {percent(share)}, {count:,} of {total:,}"
            heat = round(10 * share)
            chart.bar((predicted, predicted + 1), (-actual - 1, -actual), f"mark cell heat{heat}", says)
            if not many:
                place = chart.x(predicted + 0.5), chart.y(-actual - 0.5)
                chart.text(*place, f"{100 * share:.0f}", f"number middle on{heat}")
    return chart


def reliability(run: Run) -> Chart:
    """Accuracy against confidence, before and after calibration."""
    axis = share_ticks(0, 1)
    chart = Chart((0, 1), (0, 1), x_ticks=axis, y_ticks=axis, label="Reliability", x_title="confidence")
    chart.line([(0, 0), (1, 1)], "ideal")
    for when in ("before", "after"):
        bins = run.details["reliability"][when]
        filled = list(zip(bins["confidence"], bins["accuracy"], bins["count"], strict=True))
        chart.line([(confidence, accuracy) for confidence, accuracy, _ in filled], f"thread {when}")
        total = sum(bins["count"])
        for confidence, accuracy, count in filled:
            says = f"{when}: confidence {percent(confidence)}, right {percent(accuracy)}, {count:,} predictions"
            chart.dot(confidence, accuracy, f"bin {when}", says, round(2.5 + 9 * (count / total) ** 0.5, 2))
    return chart


def by_degree(run: Run) -> Chart:
    """Accuracy of nodes with similar numbers of neighbours."""
    groups = run.details["by_degree"]
    names = [degrees(int(group["low"]), int(group["high"])) for group in groups]
    spans = [(number + 0.12, number + 0.88) for number in range(len(groups))]
    marks = [(number + 0.5, name) for number, name in enumerate(names)]
    if len(groups) > NAMED_GROUPS:  # each group's least number stands at its left instead
        marks = [(float(number), str(int(group["low"]))) for number, group in enumerate(groups)]
    says = [f"{name} neighbours" for name in names]
    return _groups(groups, spans, says, (0, len(groups)), marks, "neighbours")


def by_l1_error(run: Run) -> Chart | None:
    """Accuracy of nodes whose rows have a similar L1 error; None where no such node has a row."""
    groups = run.details.get("by_l1_error")
    if not groups:
        return None
    right = max(1.05 * groups[-1]["high"], 0.01)
    spans = [(group["low"], group["high"]) for group in groups]
    says = [f"L1 error {group['low']:.4f} to {group['high']:.4f}" for group in groups]
    return _groups(groups, spans, says, (0, right), ticks(0, right), "L1 error of the node's row")


def degrees(low: int, high: int) -> str:
    """Name the group of degrees from ``low`` up to, but not including, ``high``.

    Examples
    --------
    >>> degrees(1, 2), degrees(4, 8)
    ('1', '4–7')
    """
    return str(low) if high - low == 1 else f"{low}–{high - 1}"


def interval(scores: Mapping[str, float]) -> tuple[float, float]:
    """The 95 % interval of a share's mean, within 0 and 1; a single trial has only its mean."""
    half = scores.get("ci95", 0.0)
    return max(scores["mean"] - half, 0.0), min(scores["mean"] + half, 1.0)


def _groups(
    groups: Sequence[dict[str, Any]],
    spans: Sequence[tuple[float, float]],
    says: Sequence[str],
    x: tuple[float, float],
    x_ticks: Ticks,
    title: str,
) -> Chart:
    low = max(0.0, min(interval(group)[0] for group in groups) - 0.04)
    chart = Chart(
        x,
        (low, 1),
        x_ticks=x_ticks,
        y_ticks=share_ticks(low, 1),
        label=f"Accuracy by {title}",
        x_title=title,
    )
    for group, span, name in zip(groups, spans, says, strict=True):
        middle, mean = sum(span) / 2, group["mean"]
        chart.line([(middle, end) for end in interval(group)], "whisker shown")
        chart.line([(span[0], mean), (span[1], mean)], "span")
        chart.dot(middle, mean, "group", f"{name}: {percent(mean)} of {group['nodes']:g} nodes")
    return chart
