"""The studies of propagation's parameters, and what their cases take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from experiments.notes import note_all, read_notes
from grandplus.pipeline.cases import Case, Prepared, prepare, train_blind
from grandplus.propagation.gfpush import gfpush

FOLDER = Path(__file__).parent
SECONDS = FOLDER / "seconds.csv"
COLUMNS = ("dataset", "matrix", "change", "gfpush, s", "step, ms")
STEPS = 100  # of training that are measured
# Where single is smoothed too much its loss falls ever more slowly; the others end by themselves in a tenth of that.
DATASETS = {"pubmed": (), "twin-mag-scholar-c": (("synthetic.scale", 0.01), ("train.max_epochs", 500))}
MATRICES = ("ppr", "avg", "single")
Times = dict[Case, tuple[float, float]]  # CPU time: seconds of GFPush; milliseconds of a step, validation included


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


def measure(cases: list[Case], trials: int) -> Times:
    """What each case takes; those that are measured already are read from seconds.csv."""
    torch.set_num_threads(1)
    times = _read_seconds()
    for case in tqdm(cases, unit="case", disable=None):
        key = case.dataset, case.matrix, case.change
        if key not in times:
            times[key] = _measure(prepare(case, trials))
            taken = (f"{value:.3f}" for value in times[key])
            note_all(SECONDS, [dict(zip(COLUMNS, (*key, *taken), strict=True))], COLUMNS[:3], COLUMNS)
    return {case: times[case.dataset, case.matrix, case.change] for case in cases}


def _read_seconds() -> dict[tuple[str, ...], tuple[float, float]]:
    rows = (tuple(row[name] for name in COLUMNS) for row in read_notes(SECONDS))
    return {tuple(named): (float(push), float(step)) for *named, push, step in rows}


def _measure(prepared: Prepared) -> tuple[float, float]:
    settings, nodes = prepared.settings, prepared.splits.needing_rows()
    push: dict[str, Any] = {
        "weights": settings.matrix.weights(),
        "rmax": settings.gfpush.rmax,
        "top_k": settings.gfpush.top_k,
    }
    gfpush(prepared.graph, nodes[:1], **push)  # compiles, or reads what is compiled
    start = time.process_time()
    gfpush(prepared.graph, nodes, **push)
    pushed = time.process_time() - start
    times: dict[int, float] = {}  # CPU time of each validation, by its step; by the first one all is compiled
    long_enough = settings.train.model_copy(update={"max_epochs": STEPS + 1, "patience": STEPS})
    train_blind(
        replace(prepared, settings=settings.model_copy(update={"train": long_enough})),
        prepared.splits.of(0),
        0,
        watch=lambda scores: times.update({int(scores["step"]): time.process_time()}),
    )
    return pushed, 1000 * (times[STEPS] - times[0]) / STEPS
