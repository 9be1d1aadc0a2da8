"""What the parameters of propagation do: the paper's Figures 4 and 5, and its appendix on the size of U'.

    python -m experiments.parameters

On Pubmed, and on a hundredth of MAG-Scholar-C's twin, which is made on the spot. Resumable: finished trials are kept
in trials.csv, and what the first of a case takes in seconds.csv (CPU time). Writes rmax_and_k.png (Figure 4),
order.png (Figure 5), unlabelled.png and table.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from experiments.cases import Case, prepare
from experiments.figures import half_width, save
from experiments.trials import Row, fill, score_trial
from grandplus.propagation.gfpush import gfpush
from grandplus.scratch import finished_whole

FOLDER = Path(__file__).parent
SECONDS = FOLDER / "seconds.csv"
COLUMNS = ("dataset", "matrix", "change", "push", "train and infer")
DATASETS = {"pubmed": (), "twin-mag-scholar-c": (("synthetic.scale", 0.01),)}
MATRICES = ("ppr", "avg", "single")
Times = dict[Case, tuple[float, float]]  # CPU seconds: GFPush; training and inference


@dataclass(frozen=True)
class Study:
    """A line for each value of one parameter, over the values of another.

    paper : its finding, which stands above what is found here
    x : by dataset
    """

    file: str
    paper: str
    names: tuple[str, str]
    lines: tuple[Any, ...]
    x: dict[str, tuple[Any, ...]]
    case: Callable[[str, Any, Any], Case]

    def cases(self) -> list[Case]:
        return [self.case(name, line, x) for name in DATASETS for line in self.lines for x in self.x[name]]


def changed(dataset: str, matrix: str, **changes: Any) -> Case:
    """A case with changes by the last part of their names."""
    section = {"rmax": "gfpush", "top_k": "gfpush", "order": "gfpush", "unlabelled": "preprocess"}
    pairs = tuple((f"{section[key]}.{key}", value) for key, value in changes.items())
    return Case(dataset, matrix, (*DATASETS[dataset], *pairs))


STUDIES = (
    Study(
        "rmax_and_k",
        "The paper's Figure 4, on MAG-Scholar-C: accuracy and time rise as r_max falls, and as k grows;\n"
        "from k = 128 to 32 the time is halved, and accuracy falls by about 2 points",
        ("r_max", "k"),
        (1e-4, 1e-5, 1e-6),
        dict.fromkeys(DATASETS, (16, 32, 64, 128)),
        lambda dataset, rmax, k: changed(dataset, "single", rmax=rmax, top_k=k),
    ),
    Study(
        "order",
        "The paper's Figure 5, on MAG-Scholar-C: single is the best at N = 2 and drops as N grows;\n"
        "ppr and avg gain from a larger N; time grows with N",
        ("matrix", "N"),
        MATRICES,
        dict.fromkeys(DATASETS, (2, 4, 6, 10, 20)),
        lambda dataset, matrix, order: changed(dataset, matrix, order=order),
    ),
    Study(
        "unlabelled",
        "The paper's appendix, on three large graphs: 1,000 unlabelled nodes help much at hardly a cost;\n"
        "beyond 10,000 accuracy rises little, and time much",
        ("matrix", "size of U'"),
        ("single",),
        {"pubmed": (0, 1000, 10_000, "all"), "twin-mag-scholar-c": (0, 1000, 10_000, 100_000)},
        lambda dataset, matrix, size: changed(dataset, matrix, unlabelled=size),
    ),
)


def score_and_time(trials: int, case: Case, trial: int) -> Row:
    """``score_trial``, which notes the CPU seconds of a case's first trial."""
    if trial:
        return score_trial(trials, case, trial)
    prepared = prepare(case, trials)
    start, push = time.process_time(), prepared.settings.gfpush
    gfpush(prepared.graph, prepared.rows.node, weights=prepared.rows.info.weights, rmax=push.rmax, top_k=push.top_k)
    pushed = time.process_time()
    row = score_trial(trials, case, trial)
    seconds = (f"{pushed - start:.2f}", f"{time.process_time() - pushed:.2f}")
    with SECONDS.open("a", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerow((case.dataset, case.matrix, case.change, *seconds))
    return row


def read_seconds(cases: list[Case]) -> Times:
    """The last that was measured of each case."""
    with SECONDS.open(encoding="utf-8", newline="") as lines:
        found = {tuple(line[:3]): (float(line[3]), float(line[4])) for line in csv.reader(lines) if len(line) == 5}
    named = {case: (case.dataset, case.matrix, case.change) for case in cases}
    return {case: found[name] for case, name in named.items()}


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10, help="at least 2")
    trials = parser.parse_args().trials
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
    with finished_whole(FOLDER / "table.md", alone=True) as partial:
        partial.write_text(table(scores, times), encoding="utf-8")
    print(table(scores, times))


if __name__ == "__main__":
    main()
