"""What the parameters of propagation do: the paper's Figures 4 and 5, and its appendix on the size of U'.

    python -m experiments.parameters

On Pubmed, and on a hundredth of MAG-Scholar-C's twin, which is made on the spot. Resumable: finished trials are kept
in trials.csv, and what the first of a case takes in seconds.csv (CPU time). Writes rmax_and_k.png (Figure 4),
order.png (Figure 5), unlabelled.png and table.md.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from matplotlib import pyplot as plt

from experiments.cases import Case
from experiments.ending import ending
from experiments.figures import half_width, save
from experiments.parameters.studies import (
    COLUMNS,
    DATASETS,
    FOLDER,
    SECONDS,
    STUDIES,
    Study,
    Times,
    read_seconds,
    score_and_time,
)
from experiments.trials import fill
from grandplus.scratch import finished_whole


def plot(study: Study, scores: dict[Case, list[float]], times: Times) -> None:
    """Mean test accuracy with its 95 % interval, and time, a row of panels for each dataset."""
    figure, axes = plt.subplots(len(DATASETS), 2, figsize=(8.5, 6), layout="constrained")
    for (accuracy, seconds), dataset in zip(axes, DATASETS, strict=True):
        x = study.x[dataset]
        for number, line in enumerate(study.lines):
            at = np.arange(len(x)) + 0.06 * (number - (len(study.lines) - 1) / 2)  # intervals beside one another
            cases = [study.case(dataset, line, value) for value in x]
            means = [np.mean(scores[case]) for case in cases]
            widths = [half_width(np.std(scores[case], ddof=1), len(scores[case])) for case in cases]
            label = f"{study.names[0]} {line:g}" if isinstance(line, float) else line
            accuracy.errorbar(at, means, yerr=widths, fmt="o-", capsize=3, markersize=4, label=label)
            seconds.plot(at, [sum(times[case]) for case in cases], "o-", markersize=4)
        accuracy.set_ylabel("test accuracy, %")
        seconds.set_ylabel("CPU seconds of a trial, with GFPush")
        seconds.set_ylim(bottom=0)
        for axis in (accuracy, seconds):
            axis.set_xticks(range(len(x)), [f"{value:,}" if isinstance(value, int) else value for value in x])
            axis.set_xlabel(study.names[1])
            axis.set_title(dataset)
            axis.grid(alpha=0.3)
    axes[0][0].legend(frameon=False)
    figure.suptitle(study.paper, fontsize="medium")
    save(figure, FOLDER / f"{study.file}.png")


def table(scores: dict[Case, list[float]], times: Times) -> str:
    """Markdown: what the pictures show, in numbers."""
    lines = []
    for study in STUDIES:
        lines += [
            f"{' '.join(study.paper.split())}.",
            "",
            f"| dataset | {' | '.join(study.names)} | test accuracy | trials | GFPush, s | the rest, s |",
            "|---|---|---|---|---|---|---|",
        ]
        for dataset in DATASETS:
            for line in study.lines:
                for x in study.x[dataset]:
                    case = study.case(dataset, line, x)
                    mean, deviation = np.mean(scores[case]), np.std(scores[case], ddof=1)
                    accuracy = f"{mean:.2f} ± {deviation:.2f} | {len(scores[case])}"
                    push, rest = times[case]
                    lines.append(f"| {dataset} | {line} | {x} | {accuracy} | {push:.1f} | {rest:.1f} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10, help="at least 2")
    trials = parser.parse_args().trials
    return ending(lambda: make(trials))


def make(trials: int) -> None:
    """Complete the trials, and write the plots and the table."""
    if not SECONDS.exists():
        SECONDS.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    cases = list(dict.fromkeys(case for study in STUDIES for case in study.cases()))
    rows = fill(FOLDER / "trials.csv", cases, trials, score_and_time)
    scores = {
        case: [100 * row["test"] for row in rows if (row["dataset"], row["matrix"], row["change"]) == named]
        for case in cases
        for named in [(case.dataset, case.matrix, case.change)]
    }
    times = read_seconds(cases)
    for study in STUDIES:
        plot(study, scores, times)
    text = table(scores, times)
    with finished_whole(FOLDER / "table.md", alone=True) as partial:
        partial.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
