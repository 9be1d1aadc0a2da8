"""The heat kernel beside the paper's three matrices, and which time suits it.

    python -m experiments.heat

The times are compared by validation accuracy on Citeseer and Pubmed; Cora, which had no part in the choice, shows what
the chosen time is worth beside ppr, avg and single. Resumable: finished trials are kept in trials.csv. Writes
table.md and heat.png.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from experiments.notes import write_page
from experiments.trials import Row, fill
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import percent, points_interval
from grandplus.evaluation.statistics import Difference, Interval, Sample, paired
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending
from grandplus.propagation.matrices import propagation_weights

FOLDER = Path(__file__).parent
CHOOSING, SHOWING = ("citeseer", "pubmed"), "cora"
OTHERS = ("ppr", "avg", "single")
TIMES = (1.0, 2.0, 3.0, 5.0, 8.0)
ORDER = 20  # so that even the longest time leaves less than a thousandth of the heat out
Scores = dict[Case, list[Row]]


def heat(dataset: str, time: float) -> Case:
    """The heat kernel at a time, with the card's other settings."""
    return Case(dataset, "heat", (("gfpush.order", ORDER), ("gfpush.heat_time", time)))


def cases() -> list[Case]:
    """Every time on each dataset, and on the one that shows the result the paper's matrices too."""
    of_heat = [heat(dataset, time) for dataset in (SHOWING, *CHOOSING) for time in TIMES]
    return of_heat + [Case(SHOWING, matrix) for matrix in OTHERS]


def chosen_time(scores: Scores) -> float:
    """The time with the highest mean validation accuracy over the choosing datasets, each in the same weight."""

    def mean(time: float) -> float:
        return float(np.mean([np.mean(_values(scores[heat(name, time)], "validation")) for name in CHOOSING]))

    return max(TIMES, key=mean)


def table(scores: Scores) -> str:
    """Markdown: accuracy at each time, and the chosen one beside the paper's matrices."""
    best = chosen_time(scores)
    lines = ["| dataset | t | validation | test | 95 % CI of the test mean |", "|---|---|---|---|---|"]
    for dataset in (*CHOOSING, SHOWING):
        for time in TIMES:
            validation, test = (_sample(scores[heat(dataset, time)], part) for part in ("validation", "test"))
            mark = " (chosen)" if time == best else ""
            interval = percent.interval(test.interval)
            lines.append(
                f"| {dataset} | {time:g}{mark} | {_mean_and_std(validation)} | {_mean_and_std(test)} | {interval} |"
            )
    lines += ["", f"On {SHOWING}, heat with t = {best:g} beside the paper's matrices, trial by trial:", ""]
    lines += ["| matrix | test | heat minus it, points | 95 % CI |", "|---|---|---|---|"]
    for matrix in OTHERS:
        rows = scores[Case(SHOWING, matrix)]
        difference = _difference(scores[heat(SHOWING, best)], rows)
        interval = points_interval(Interval(difference.low, difference.high))
        lines.append(
            f"| {matrix} | {_mean_and_std(_sample(rows, 'test'))} | {100 * difference.difference:+.2f} | {interval} |"
        )
    return "\n".join(lines) + "\n"


def plot(scores: Scores, file: Path) -> None:
    """The weights of the steps, accuracy over the time, and the chosen time beside the paper's matrices."""
    best = chosen_time(scores)
    figure, (steps, times, matrices) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    _plot_weights(steps, best)
    for dataset in (*CHOOSING, SHOWING):
        samples = [_sample(scores[heat(dataset, time)], "validation") for time in TIMES]
        _error_bars(times, np.arange(len(TIMES)), samples, dataset)
    times.set(xlabel="t", ylabel="validation accuracy, %, with 95 % intervals", title="accuracy over the time")
    times.set_xticks(range(len(TIMES)), [f"{time:g}" for time in TIMES])
    times.legend(frameon=False)
    shown = [heat(SHOWING, best), *(Case(SHOWING, matrix) for matrix in OTHERS)]
    _error_bars(matrices, np.arange(len(shown)), [_sample(scores[case], "test") for case in shown], SHOWING)
    matrices.set_xticks(range(len(shown)), [f"heat, t = {best:g}", *OTHERS])
    matrices.set(ylabel="test accuracy, %, with 95 % intervals", title=f"{SHOWING}, whose labels chose nothing")
    for axis in (times, matrices):
        axis.grid(axis="y", alpha=0.3)
    save(figure, file)


def _plot_weights(axis: Axes, best: float) -> None:
    kinds = {
        f"heat, t = {best:g}": propagation_weights("heat", order=ORDER, heat_time=best),
        "ppr, α = 0.2": propagation_weights("ppr", order=ORDER, alpha=0.2),
        "avg, N = 4": propagation_weights("avg", order=4),
    }
    for name, w in kinds.items():
        axis.plot(w, "o-", ms=3.5, label=name)
    axis.set(xlabel="steps n", ylabel="weight wₙ", title="how far each matrix looks")
    axis.legend(frameon=False)
    axis.grid(alpha=0.3)


def _error_bars(axis: Axes, x: np.ndarray, samples: list[Sample], label: str) -> None:
    means, halves = ([100 * getattr(sample, name) for sample in samples] for name in ("mean", "half_width"))
    axis.errorbar(x, means, yerr=halves, fmt="o", capsize=3, label=label)


def _mean_and_std(sample: Sample) -> str:
    return percent.with_std(sample.mean, sample.std)


def _values(rows: list[Row], part: str) -> list[float]:
    return [row[part] for row in rows]


def _sample(rows: list[Row], part: str) -> Sample:
    return Sample.of(_values(rows, part))


def _difference(first: list[Row], second: list[Row]) -> Difference:
    return paired(_values(first, "test"), _values(second, "test"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10, help="at least 2")
    trials = parser.parse_args().trials
    return ending(lambda: make(max(trials, 2)))


def make(trials: int) -> None:
    """Complete the trials, and write the table and the picture."""
    wanted = cases()
    rows = fill(FOLDER / "trials.csv", wanted, trials)
    scores: Scores = {case: rows[number :: len(wanted)] for number, case in enumerate(wanted)}
    write_page(FOLDER / "table.md", table(scores))
    plot(scores, FOLDER / "heat.png")
    print(table(scores))


if __name__ == "__main__":
    sys.exit(main())
