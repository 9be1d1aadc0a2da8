"""The studies of propagation's parameters, and what their cases take."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cases import Case, prepare
from experiments.trials import Row, score_trial
from grandplus.propagation.gfpush import gfpush

FOLDER = Path(__file__).parent
SECONDS = FOLDER / "seconds.csv"
COLUMNS = ("dataset", "matrix", "change", "push", "train and infer")
# Where single is smoothed too much its loss falls ever more slowly; the others end by themselves in a tenth of that.
DATASETS = {"pubmed": (), "twin-mag-scholar-c": (("synthetic.scale", 0.01), ("train.max_epochs", 500))}
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
    push, nodes = prepared.settings.gfpush, prepared.rows.node
    options: dict[str, Any] = {"weights": prepared.rows.info.weights, "rmax": push.rmax, "top_k": push.top_k}
    gfpush(prepared.graph, nodes[:1], **options)  # compiles, or reads what is compiled
    start = time.process_time()
    gfpush(prepared.graph, nodes, **options)
    pushed = time.process_time()
    row = score_trial(trials, case, trial)
    seconds = (f"{pushed - start:.2f}", f"{time.process_time() - pushed:.2f}")
    with SECONDS.open("a", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerow((case.dataset, case.matrix, case.change, *seconds))
    return row


def read_seconds(cases: list[Case]) -> Times:
    """The last that was measured of each case; a line that a kill has cut short is left out."""
    whole = SECONDS.read_text(encoding="utf-8").rpartition("\n")[0]
    lines = csv.reader(whole.splitlines()[1:])
    found = {(dataset, matrix, change): (float(push), float(rest)) for dataset, matrix, change, push, rest in lines}
    named = {case: (case.dataset, case.matrix, case.change) for case in cases}
    return {case: found[name] for case, name in named.items()}
