"""What the parameters of propagation do: the paper's Figures 4 and 5, and its appendix on the size of U'.

    python -m experiments.parameters

On Pubmed, and on a hundredth of MAG-Scholar-C's twin, which is made on the spot. Resumable: finished trials are kept
in trials.csv, and CPU times, taken when all trials are done, in seconds.csv. Writes rmax_and_k.png (Figure 4),
order.png (Figure 5), unlabelled.png and table.md.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from matplotlib import pyplot as plt

from experiments.notes import write_page
from experiments.parameters.studies import DATASETS, FOLDER, STUDIES, Study, Times, measure
from experiments.trials import fill, rows_of
from grandplus.evaluation.figures import save
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending


def plot(study: Study, scores: dict[Case, list[float]], times: Times) -> None:
    """Test accuracy of each trial and a line through the means, and times, a row of panels for each dataset."""
    figure, axes = plt.subplots(len(DATASETS), 3, figsize=(11, 5.6), layout="constrained")
    for (accuracy, push, step), dataset in zip(axes, DATASETS, strict=True):
        x = study.x[dataset]
        for number, line in enumerate(study.lines):
            places = np.arange(len(x)) + 0.1 * (number - (len(study.lines) - 1) / 2)  # dots beside one another
            cases = [study.case(dataset, line, value) for value in x]
            label = f"{study.names[0]} {line:g}" if isinstance(line, float) else line
            accuracy.plot(places, [np.mean(scores[case]) for case in cases], color=f"C{number}", label=label)
            for place, case in zip(places, cases, strict=True):
                accuracy.plot([place] * len(scores[case]), scores[case], "o", color=f"C{number}", alpha=0.6, ms=3.5)
            push.plot(places, [times[case][0] for case in cases], "o-", ms=3.5)
            step.plot(places, [times[case][1] for case in cases], "o-", ms=3.5)
        for axis, title in zip(
            (accuracy, push, step), ("test accuracy, %", "GFPush, CPU s", "a step, CPU ms"), strict=True
        ):
            axis.set_ylabel(title)
            axis.set_xticks(range(len(x)), [f"{value:,}" if isinstance(value, int) else value for value in x])
            axis.set_xlabel(study.names[1])
            axis.set_title(dataset, fontsize="medium")
            axis.grid(alpha=0.3)
        for axis in (push, step):
            axis.set_ylim(bottom=0)
    axes[0][0].legend(frameon=False, fontsize="small")
    figure.suptitle(study.paper, fontsize="medium")
    save(figure, FOLDER / f"{study.file}.png")


def table(scores: dict[Case, list[float]], times: Times) -> str:
    """Markdown: what the pictures show, in numbers."""
    lines = []
    for study in STUDIES:
        lines += [
            f"{' '.join(study.paper.split())}.",
            "",
            f"| dataset | {' | '.join(study.names)} | test accuracy | trials | GFPush, CPU s | a step, CPU ms |",
            "|---|---|---|---|---|---|---|",
        ]
        for dataset in DATASETS:
            for line in study.lines:
                for x in study.x[dataset]:
                    case = study.case(dataset, line, x)
                    mean, deviation = np.mean(scores[case]), np.std(scores[case], ddof=1)
                    accuracy = f"{mean:.2f} ± {deviation:.2f} | {len(scores[case])}"
                    push, step = times[case]
                    lines.append(f"| {dataset} | {line} | {x} | {accuracy} | {push:.2f} | {step:.1f} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10, help="at least 2")
    trials = parser.parse_args().trials
    return ending(lambda: make(trials))


def make(trials: int) -> None:
    """Complete the trials and the times, and write the plots and the table."""
    cases = list(dict.fromkeys(case for study in STUDIES for case in study.cases()))
    rows = fill(FOLDER / "trials.csv", cases, trials)
    scores = {case: [100 * row["test"] for row in rows_of(rows, case)] for case in cases}
    times = measure(cases, trials)
    for study in STUDIES:
        plot(study, scores, times)
    text = table(scores, times)
    write_page(FOLDER / "table.md", text)
    print(text)


if __name__ == "__main__":
    sys.exit(main())
