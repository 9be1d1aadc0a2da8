"""The charts of several runs, each an SVG with a colour for each run."""

from __future__ import annotations

from collections.abc import Sequence

from grandplus.evaluation.formats import percent, points
from grandplus.evaluation.labels import short_names, width_of
from grandplus.report.charts import PART, degrees, interval, loss_axes
from grandplus.report.comparison import Comparison
from grandplus.report.run import Run
from grandplus.report.svg import LETTER, Chart, around, share_ticks, shares_around

NAME_WIDTH = 40  # letters, in a chart with names on its left
ROW_HEIGHT = 34  # pixels, in a chart with names on its left
COLOURS = 8  # of runs, in the page's style; the ninth run has the first colour again, with hollow marks
_LANES = (0.0, 0.22, -0.22, 0.11, -0.11)  # heights of one trial after the other, so that equal scores are told apart


def accuracies(runs: Sequence[Run]) -> Chart:
    """Every trial of every run, with the mean and its interval."""
    means = [run.metrics[run.details["judged_by"]]["accuracy"] for run in runs]
    spans = [interval(scores) for scores in means]
    shown = [score for run, span in zip(runs, spans, strict=True) for score in (*run.accuracy, *span)]
    low, high = shares_around(shown, least=0.002)
    names = short_names([run.name for run in runs], NAME_WIDTH)
    rows = [(-float(row), name) for row, name in enumerate(names)]
    judged = " or ".join(dict.fromkeys(PART[run.details["judged_by"]] for run in runs))
    chart = Chart(
        (low, high),
        (-len(runs) + 0.5, 0.5),
        x_ticks=share_ticks(low, high, 8),
        y_ticks=rows,
        label="Accuracy of each trial of each run",
        x_title=f"{judged} accuracy: a dot a trial, mean and its 95 % interval",
        width=920,
        height=ROW_HEIGHT * len(runs) + 64,
        left=_room(names),
    )
    for (height, _), (row, run) in zip(rows, enumerate(runs), strict=True):
        kind, ends = colour(row), (height - 0.36, height + 0.36)
        for trial, score in enumerate(run.accuracy):
            says = f"{run.name}, trial {trial}: {percent(score)}"
            chart.dot(score, height + _LANES[trial % len(_LANES)], f"trial {kind}", says)
        chart.bar(spans[row], ends, f"interval {kind}", f"{run.name}: {percent.summary(means[row])}")
        chart.line([(means[row]["mean"], end) for end in ends], f"mean {kind}")
    return chart


def differences(runs: Sequence[Run], comparisons: Sequence[Comparison]) -> Chart:
    """The difference of every two runs, with its interval over trials, and a thin one over nodes and trials."""
    short = short_names([run.name for run in runs], NAME_WIDTH // 2)
    names = [f"{short[pair.first]} − {short[pair.second]}" for pair in comparisons]
    tests = [test for pair in comparisons for test in (pair.test, pair.beyond) if test]
    ends = [end for test in tests for end in test.interval]
    low, high = around([0.0, *ends], least=0.002)
    rows = [(-float(row), name) for row, name in enumerate(names)]
    chart = Chart(
        (low, high),
        (-len(rows) + 0.5, 0.5),
        x_ticks=[(tick, f"{'+' * (tick > 0)}{label.removesuffix('%')}") for tick, label in share_ticks(low, high, 8)],
        y_ticks=rows,
        label="Differences of accuracy between runs",
        x_title="difference of accuracy in points, with 95 % intervals: over trials, and thin over nodes and trials",
        width=920,
        height=ROW_HEIGHT * len(rows) + 64,
        left=_room(names),
    )
    chart.line([(0, -len(rows) + 0.5), (0, 0.5)], "zero")
    for (height, _), pair in zip(rows, comparisons, strict=True):
        name = f"{runs[pair.first].name} − {runs[pair.second].name}"
        kind = "shown" if pair.differs else "chance"
        if pair.beyond:
            chart.line(
                [(end, height) for end in pair.beyond.interval],
                f"whisker thin {'shown' if pair.differs_beyond else 'chance'}",
            )
        chart.line([(end, height) for end in pair.test.interval], f"whisker {kind}")
        chart.dot(pair.test.difference, height, f"difference {kind}", f"{name}: {points(pair.test.difference)}", 5)
    return chart


def losses(runs: Sequence[Run]) -> Chart:
    """Training and validation loss of every run, means over trials."""
    curves = [run.details["losses"] for run in runs]
    chart = loss_axes(curves, "Training and validation loss of each run")
    for number, (run, curve) in enumerate(zip(runs, curves, strict=True)):
        for part in ("train", "val"):
            chart.line(zip(curve["step"], curve[part], strict=True), f"curve {part} {colour(number)}")
        last, gap = curve["val"][-1], curve["val"][-1] - curve["train"][-1]
        says = f"{run.name}: validation {last:.3f}, gap {gap:.3f} at the end"
        chart.dot(curve["step"][-1], last, f"end {colour(number)}", says)
    return chart


def by_degree(runs: Sequence[Run]) -> Chart:
    """Accuracy of nodes with similar numbers of neighbours, of every run."""
    by_span = [{(group["low"], group["high"]): group for group in run.details["by_degree"]} for run in runs]
    spans = sorted({span for groups in by_span for span in groups})
    shown = [end for groups in by_span for group in groups.values() for end in interval(group)]
    low = max(0.0, min(shown) - 0.04)
    chart = Chart(
        (0, len(spans)),
        (low, 1),
        x_ticks=[(float(place), str(int(least))) for place, (least, _) in enumerate(spans)],
        y_ticks=share_ticks(low, 1),
        label="Accuracy by degree of each run",
        x_title="neighbours, from each mark to the next",
    )
    for number, (run, groups) in enumerate(zip(runs, by_span, strict=True)):
        for place, span in enumerate(spans):
            if span in groups:
                group, x = groups[span], place + (number + 1) / (len(runs) + 1)
                chart.line([(x, end) for end in interval(group)], f"whisker {colour(number)}")
                says = f"{run.name}, {degrees(*map(int, span))} neighbours: {percent(group['mean'])}"
                chart.dot(x, group["mean"], f"group {colour(number)}", says, 3)
    return chart


def by_class(runs: Sequence[Run]) -> Chart | None:
    """The recall of each class in each run; None where classes are not the same."""
    classes = runs[0].details["classes"]
    if any(run.details["classes"] != classes for run in runs):
        return None
    names = short_names(classes, NAME_WIDTH)
    recalls = [[row[number] / max(sum(row), 1) for number, row in enumerate(run.details["confusion"])] for run in runs]
    low, high = shares_around((share for shares in recalls for share in shares), least=0.01)
    chart = Chart(
        (low, high),
        (-len(classes) + 0.5, 0.5),
        x_ticks=share_ticks(low, high, 8),
        y_ticks=[(-float(number), name) for number, name in enumerate(names)],
        label="Recall of each class in each run",
        x_title="share of the class's nodes that were predicted right (recall)",
        width=920,
        height=24 * len(classes) + 64,
        left=_room(names),
    )
    for number, (run, shares) in enumerate(zip(runs, recalls, strict=True)):
        lane = 0.3 - 0.6 * (number + 0.5) / len(runs)
        for place, (name, share) in enumerate(zip(classes, shares, strict=True)):
            chart.dot(share, lane - place, f"recall {colour(number)}", f"{run.name}, {name}: {percent(share)}")
    return chart


def colour(number: int) -> str:
    """The style of a run's marks.

    Examples
    --------
    >>> colour(2), colour(10)
    ('run2', 'run2 hollow')
    """
    return f"run{number % COLOURS}" + " hollow" * (number >= COLOURS)


def _room(names: Sequence[str]) -> int:
    """How many pixels names on the left take."""
    return round(24 + LETTER * max(map(width_of, names)))
