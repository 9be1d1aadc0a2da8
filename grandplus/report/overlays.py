"""The charts of several runs, each an SVG with a colour for each run."""

from __future__ import annotations

from collections.abc import Sequence

from grandplus.report.charts import PART, degrees, interval, loss_axes
from grandplus.report.comparison import Comparison
from grandplus.report.gather import Run
from grandplus.report.svg import Chart, around, shares_around, ticks
from grandplus.report.table import percent, points, with_interval

ROW = 34  # pixels of a row of a chart with names on its left
COLOURS = 8  # of runs, in the page's style; then from the first again, with hollow marks
_LANES = (0.0, 0.22, -0.22, 0.11, -0.11)  # of trials with similar scores


def accuracies(runs: Sequence[Run]) -> Chart:
    """Every trial of every run, with mean and interval."""
    means = [run.metrics[run.details["judged_by"]]["accuracy"] for run in runs]
    spans = [(of["mean"] - of.get("ci95", 0.0), of["mean"] + of.get("ci95", 0.0)) for of in means]
    shown = [score for run, span in zip(runs, spans, strict=True) for score in (*run.accuracy, *span)]
    low, high = shares_around(shown, least=0.002)
    rows = [(-float(row), run.name) for row, run in enumerate(runs)]
    judged = " or ".join(dict.fromkeys(PART[run.details["judged_by"]] for run in runs))
    chart = Chart(
        (low, high),
        (-len(runs) + 0.5, 0.5),
        x_ticks=ticks(low, high, "{:.1%}".format, 8),
        y_ticks=rows,
        label="Accuracy of each trial of each run",
        x_title=f"{judged} accuracy: a dot a trial, mean and its 95 % interval",
        width=920,
        height=ROW * len(runs) + 64,
        left=_room([run.name for run in runs]),
    )
    for (at, name), (row, run) in zip(rows, enumerate(runs), strict=True):
        kind = colour(row)
        for trial, score in enumerate(run.accuracy):
            says = f"{name}, trial {trial}: {percent(score)}"
            chart.dot(score, at + _LANES[trial % len(_LANES)], f"trial {kind}", says)
        mean = means[row]["mean"]
        chart.bar(spans[row], (at - 0.36, at + 0.36), f"interval {kind}", f"{name}: {with_interval(means[row])}")
        chart.line([(mean, at - 0.36), (mean, at + 0.36)], f"mean {kind}")
    return chart


def differences(runs: Sequence[Run], comparisons: Sequence[Comparison]) -> Chart:
    """The difference of every two runs, with its interval."""
    names = [f"{runs[of.first].name} − {runs[of.second].name}" for of in comparisons]
    low, high = around([0.0, *(end for of in comparisons for end in (of.test.low, of.test.high))], least=0.002)
    rows = [(-float(row), name) for row, name in enumerate(names)]
    chart = Chart(
        (low, high),
        (-len(rows) + 0.5, 0.5),
        x_ticks=ticks(low, high, points, 8),
        y_ticks=rows,
        label="Differences of accuracy between runs",
        x_title="difference of accuracy in points, with its 95 % interval",
        width=920,
        height=ROW * len(rows) + 64,
        left=_room(names),
    )
    chart.line([(0, -len(rows) + 0.5), (0, 0.5)], "zero")
    for (at, name), of in zip(rows, comparisons, strict=True):
        kind = "found" if of.differs else "chance"
        chart.line([(of.test.low, at), (of.test.high, at)], f"whisker {kind}")
        chart.dot(of.test.difference, at, f"difference {kind}", f"{name}: {points(of.test.difference)}", 5)
    return chart


def losses(runs: Sequence[Run]) -> Chart:
    """Means over trials of training and validation loss of every run."""
    curves = [run.details["losses"] for run in runs]
    chart = loss_axes(curves, "Training and validation loss of each run")
    for number, (run, of) in enumerate(zip(runs, curves, strict=True)):
        for part in ("train", "val"):
            chart.line(zip(of["step"], of[part], strict=True), f"curve {part} {colour(number)}")
        gap = of["val"][-1] - of["train"][-1]
        says = f"{run.name}: validation {of['val'][-1]:.3f}, gap {gap:.3f} at the end"
        chart.dot(of["step"][-1], of["val"][-1], f"end {colour(number)}", says)
    return chart


def by_degree(runs: Sequence[Run]) -> Chart:
    """Accuracy of nodes with similar numbers of neighbours, of every run."""
    groups = [{(of["low"], of["high"]): of for of in run.details["by_degree"]} for run in runs]
    spans = sorted({span for of in groups for span in of})
    shown = [end for run in groups for of in run.values() for end in interval(of)]
    low = max(0.0, min(shown) - 0.04)
    chart = Chart(
        (0, len(spans)),
        (low, 1),
        x_ticks=[(float(at), str(int(least))) for at, (least, _) in enumerate(spans)],
        y_ticks=ticks(low, 1, "{:.0%}".format),
        label="Accuracy by degree of each run",
        x_title="neighbours, from each mark to the next",
    )
    for number, (run, found) in enumerate(zip(runs, groups, strict=True)):
        for at, span in enumerate(spans):
            if span in found:
                of, x = found[span], at + (number + 1) / (len(runs) + 1)
                chart.line([(x, end) for end in interval(of)], f"whisker {colour(number)}")
                says = f"{run.name}, {degrees(*map(int, span))} neighbours: {percent(of['mean'])}"
                chart.dot(x, of["mean"], f"group {colour(number)}", says, 3)
    return chart


def by_class(runs: Sequence[Run]) -> Chart | None:
    """Of each class, which share of its nodes each run found; None where classes are not the same."""
    classes = runs[0].details["classes"]
    if any(run.details["classes"] != classes for run in runs):
        return None
    found = [[row[number] / max(sum(row), 1) for number, row in enumerate(run.details["confusion"])] for run in runs]
    low, high = shares_around((share for shares in found for share in shares), least=0.01)
    chart = Chart(
        (low, high),
        (-len(classes) + 0.5, 0.5),
        x_ticks=ticks(low, high, "{:.0%}".format, 8),
        y_ticks=[(-float(number), name) for number, name in enumerate(classes)],
        label="Share of each class that each run found",
        x_title="share of the class that was found",
        width=920,
        height=24 * len(classes) + 64,
        left=_room(classes),
    )
    for number, (run, shares) in enumerate(zip(runs, found, strict=True)):
        lane = 0.3 - 0.6 * (number + 0.5) / len(runs)
        for at, (name, share) in enumerate(zip(classes, shares, strict=True)):
            chart.dot(share, lane - at, f"found {colour(number)}", f"{run.name}, {name}: {percent(share)}")
    return chart


def colour(number: int) -> str:
    """The style of a run's marks.

    >>> colour(2), colour(10)
    ('run2', 'run2 hollow')
    """
    return f"run{number % COLOURS}" + " hollow" * (number >= COLOURS)


def _room(names: Sequence[str]) -> int:
    """Pixels for names on the left."""
    return min(360, 24 + 7 * max(map(len, names)))
