"""Systems that are made for large graphs on the twins of the paper's: seconds, memory, and where each one ends.

    python -m experiments.compared.large
    python -m experiments.compared.large --models sgc grandplus --graphs twin-aminer-cs --scales 0.01 --minutes 2

One trial each, in a process of its own: 15 minutes from the preparation on, and 16 GiB. After a small twin comes one
of full size, and if a system doesn't finish there, smaller ones. Resumable: what was measured is kept in large.csv.
What fails for another reason than time or memory, like a full disk, is no result, and ends the run. Writes large.md
and large.png. Take a machine that does nothing else: the seconds are of a clock.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from experiments.compared.apart import Tell, run_apart
from experiments.compared.figures import PAPER_LARGE, TWINS
from experiments.compared.large_table import plot, table
from experiments.compared.measured import present
from experiments.notes import note, read_notes, write_page
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.cases import Case, Prepared, graph_folder, inputs_key, train_blind
from grandplus.pipeline.ending import ending
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.trials import trials_at_once
from grandplus.propagation.rows import Rows
from grandplus.runtime.storage import key_of

FILE = Path(__file__).parent / "large.csv"
MATRIX = "single"  # of GRAND+, its fastest one in the paper
SCALES = {  # a small one first, on which a system compiles its kernels; then from the largest one on
    "twin-aminer-cs": (0.01, 1.0),
    "twin-amazon2m": (0.01, 1.0),
    "twin-mag-scholar-c": (0.01, 1.0, 0.3, 0.1, 0.03),
}
# What the authors use for a large graph, Reddit, where their defaults are for small ones.
FOR_LARGE: dict[str, tuple[tuple[str, Any], ...]] = {
    "fastgcn": (
        ("train.hidden", 128),
        ("train.weight_decay", 1e-4),
        ("train.batch_labelled", 256),
        ("train.samples", 200),
    ),
}
# Weights of 128 columns for 2.8 million features don't fit into the memory: these are as wide as GRAND+'s and PPRGo's.
ON_MAG = dict.fromkeys(("fastgcn", "graphsaint"), (("train.hidden", 32),))
MINUTES, GIB = 15.0, 16.0
KEY = ("dataset", "scale", "model")
MEASURED = ("preparation", "training", "inference", "validation", "test", "steps")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(PAPER_LARGE), choices=PAPER_LARGE)
    parser.add_argument("--graphs", nargs="+", default=list(TWINS), choices=TWINS)
    parser.add_argument(
        "--scales", nargs="+", type=float, help="of the graphs' nodes and edges: the smallest, then from the largest on"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"by default {MINUTES:g}")
    parser.add_argument("--memory", type=float, default=GIB, metavar="GIB", help=f"by default {GIB:g}")
    given = parser.parse_args()
    limits = {"seconds": 60 * given.minutes, "memory": int(given.memory * 2**30)}
    return ending(lambda: make(FILE, given.models, given.graphs, given.scales, **limits))


def make(
    file: Path, models: list[str], graphs: list[str], scales: list[float] | None, *, seconds: float, memory: int
) -> None:
    """Measure what is missing, each system at the first scale, and then at the others until it finishes at one."""
    for dataset in graphs:
        for model in present(models):
            for number, scale in enumerate(scales or SCALES[dataset]):
                ended = _measured(file, case_of(dataset, model, scale), scale, seconds, memory)["ended"]
                if bool(ended) == (number == 0):
                    break
        write(file)
    print(file.with_suffix(".md").read_text(encoding="utf-8"))


def case_of(dataset: str, model: str, scale: float) -> Case:
    """A system on a twin."""
    changes = [("synthetic.scale", scale)] * (scale != 1)
    of_graph = ON_MAG.get(model, ()) if dataset == "twin-mag-scholar-c" else ()
    return Case(dataset, MATRIX, (*changes, *FOR_LARGE.get(model, ()), *of_graph), model)


def _measured(file: Path, case: Case, scale: float, seconds: float, memory: int) -> dict[str, Any]:
    """What is known of a case, or found out now."""
    key = {"dataset": case.dataset, "scale": f"{scale:g}", "model": case.model}
    settings = key_of(case.settings(1).model_dump(mode="json", exclude_defaults=True), "")
    limits = {"settings": settings, "limit_seconds": f"{seconds:g}", "limit_memory": str(memory)}
    for row in read_notes(file):
        if row.items() >= (key | limits).items():
            return row
    outcome = run_apart(check, case, memory=memory)
    if not outcome.ended:
        outcome = run_apart(make_graph, case)
    if not outcome.ended:
        outcome = run_apart(measure, case, seconds=seconds, memory=memory)
    taken = {name: outcome.told.get(name, "") for name in MEASURED}
    row = key | taken | {"memory": outcome.memory // 2**20, "ended": outcome.ended} | limits
    note(file, row, KEY)
    return row


def check(case: Case, tell: Tell) -> None:
    """Refuse what can't fit before its graph is made."""
    check_resources(case.settings(1), Path())


def make_graph(case: Case, tell: Tell) -> None:
    """Make the graph, which all systems share; it counts in nobody's seconds."""
    graph_folder(case.settings(1))


def measure(case: Case, tell: Tell) -> None:
    """Train one trial and predict all nodes, and tell the seconds of each part.

    Preparation is pushing the rows of Π, and what happens before the first step of training: the time of the first
    validation less what a later step takes.
    """
    torch.set_num_threads(1)
    settings = case.settings(1)
    folder = graph_folder(settings)
    graph, splits = Graph.load(folder), Splits.load(folder)
    trials_at_once(graph, splits.of(0), settings)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        begun, validated = time.monotonic(), list[tuple[float, float]]()  # the step of each validation, and when
        rows = _rows(settings, graph, splits, Path(scratch))
        prepared = Prepared(settings, graph, splits, rows, inputs_key(settings, graph))
        split = splits.of(0)
        trained = train_blind(prepared, split, 0, watch=lambda now: validated.append((now["step"], time.monotonic())))
        ended = time.monotonic()
        steps, seconds = (last - first for first, last in zip(validated[0], validated[-1], strict=True))
        preparation = max(0.0, validated[0][1] - begun - seconds / max(1, steps))
        tell({"preparation": round(preparation, 2), "training": round(ended - begun - preparation, 2)})
        tell({"steps": trained.model.info["steps"], "validation": round(trained.model.info["val_accuracy"], 4)})
        predicted = trained.model.predict_proba(graph).argmax(axis=1)
        tell({"inference": round(time.monotonic() - ended, 2)})
    tell({"test": round(float((predicted[split.test] == graph.labels[split.test]).mean()), 4)})


def _rows(settings: Settings, graph: Graph, splits: Splits, folder: Path) -> Rows | None:
    if not settings.needs_rows:
        return None
    nodes = splits.needing_rows(unlabelled=settings.train.uses_unlabelled)
    for _ in make_rows(settings, graph.adjacency, nodes, folder):
        pass
    return Rows.load(folder, graph.adjacency.fingerprint)


def write(file: Path) -> None:
    """Write the table and the plot of all that was measured."""
    rows = read_notes(file)
    write_page(file.with_suffix(".md"), table(rows))
    plot(rows, file.with_suffix(".png"))


if __name__ == "__main__":
    sys.exit(main())
