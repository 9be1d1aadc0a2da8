"""Trials of a case, each scored once and kept in a CSV file: a run that is killed goes on where it was."""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from grandplus import execution
from grandplus.datasets.fetch import fetch
from grandplus.datasets.raw import read
from grandplus.graph import Graph
from grandplus.inference import infer, model_inputs
from grandplus.preprocess import preprocess
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import Rows
from grandplus.propagation.weights import weights
from grandplus.scratch import finished_whole
from grandplus.settings import CATALOG, Settings, load_settings
from grandplus.splits import Split, Splits
from grandplus.training.trainer import Trained, train

COLUMNS = ("dataset", "matrix", "change", "trial", "validation", "test", "train_loss", "val_loss", "steps", "inputs")
BEST_MATRIX = {"cora": "ppr", "citeseer": "ppr", "pubmed": "avg"}  # by the paper's Table 2
Row = dict[str, Any]
_inputs: dict[Case, NDArray[np.float32]] = {}  # of every node, which the trials of a case share


@dataclass(frozen=True)
class Case:
    """A dataset and a matrix with what differs from the card's settings, as ("train.lr", 0.1) pairs."""

    dataset: str
    matrix: str
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def change(self) -> str:
        """As ``dvc exp run`` takes it.

        >>> Case("cora", "ppr", (("train.lr", 0.1), ("gfpush.top_k", 8))).change
        'train.lr=0.1 gfpush.top_k=8'
        """
        return " ".join(f"{key}={value}" for key, value in self.changes)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that the trials of a case have in common.

    inputs : a digest of the settings and the graph
    """

    settings: Settings
    graph: Graph
    splits: Splits
    rows: Rows
    inputs: str


def fill(file: Path, cases: list[Case], trials: int) -> list[Row]:
    """Make ``file`` hold ``trials`` trials of each case, and give those.

    Trial by trial over all cases, so that a table of few trials is there early. Lines whose inputs
    (settings and graph) are no longer those of the case are made anew.
    """
    wanted = [(case, trial) for trial in range(trials) for case in cases]
    inputs = {(case.dataset, case.matrix, case.change): prepare(case).inputs for case in cases}
    kept = {_key(row): row for row in read_rows(file) if inputs.get(_key(row)[:3], row["inputs"]) == row["inputs"]}
    write_rows(file, kept.values())
    missing = [task for task in wanted if _name(*task) not in kept]
    bar = tqdm(total=len(wanted), initial=len(wanted) - len(missing), unit="trial", disable=None)
    with file.open("a", encoding="utf-8") as out:
        for row in execution.map_processes(score, *zip(*missing, strict=True)) if missing else ():
            out.write(_line(row))
            out.flush()
            os.fsync(out.fileno())
            kept[_key(row)] = row
            bar.update()
    write_rows(file, kept.values())
    return [kept[_name(*task)] for task in wanted]


def score(case: Case, trial: int) -> Row:
    """Train a trial and score it, exactly as the pipeline's trial of that number."""
    torch.set_num_threads(1)
    prepared = prepare(case)
    split = prepared.splits.of(trial)
    trained = train_blind(prepared, split, trial)
    labels = prepared.graph.labels
    if case not in _inputs and not trained.model.multiplies_first:
        _inputs[case] = model_inputs(prepared.graph, trained.model)
    predicted = infer(prepared.graph, trained.model, inputs=_inputs.get(case)).argmax(axis=1)
    best = trained.history["step"].index(trained.model.info["best_step"])
    return {
        "dataset": case.dataset,
        "matrix": case.matrix,
        "change": case.change,
        "trial": trial,
        "validation": round(trained.model.info["val_accuracy"], 4),
        "test": round(float((predicted[split.test] == labels[split.test]).mean()), 4),
        "train_loss": round(trained.history["train_loss"][best], 5),
        "val_loss": round(trained.history["val_loss"][best], 5),
        "steps": trained.model.info["steps"],
        "inputs": prepared.inputs,
    }


def train_blind(prepared: Prepared, split: Split, trial: int, labels: NDArray[np.int64] | None = None) -> Trained:
    """Train with the labels of everything but training and validation nodes hidden (-1)."""
    given = prepared.graph.labels if labels is None else labels
    seen = np.full_like(given, -1)
    for nodes in (split.train, split.val):
        seen[nodes] = given[nodes]
    settings = prepared.settings
    return train(
        prepared.graph.features,
        seen,
        prepared.rows,
        split,
        settings.train,
        classes=prepared.graph.classes,
        seed=[settings.seed, trial],
    )


@functools.lru_cache(maxsize=16)
def prepare(case: Case) -> Prepared:
    """Download, preprocess and push, as the stages of the pipeline do."""
    changes: dict[str, dict[str, Any]] = {"preprocess": {}, "gfpush": {}, "train": {}}
    for key, value in case.changes:
        section, name = key.split(".")
        changes[section][name] = value
    settings = load_settings(dataset=case.dataset, matrix=case.matrix, seed=0, trials=1000, **changes)
    with tempfile.TemporaryDirectory() as folder:
        fetch(settings.source, Path(folder), catalog=CATALOG, report=lambda _: None)
        graph, splits = preprocess(read(Path(folder), settings.source, CATALOG), settings)
    push = settings.gfpush
    w = weights(settings.matrix, order=push.order, alpha=push.alpha, custom=push.weights)
    nodes = np.arange(graph.adjacency.nodes)
    rows = gfpush(graph, nodes, weights=w, rmax=push.rmax, top_k=push.top_k, matrix=settings.matrix)
    # Without defaults, so that a setting which is new and unused doesn't make finished trials worthless.
    sections = {"dataset", "matrix", "seed", "preprocess", "gfpush", "train"}
    used = settings.model_dump_json(include=sections, exclude_defaults=True)
    digest = hashlib.sha256(used.encode())
    digest.update(graph.adjacency.fingerprint.encode())
    digest.update(graph.labels.data)
    return Prepared(settings, graph, splits, rows, digest.hexdigest()[:12])


def read_rows(file: Path) -> list[Row]:
    """The whole lines of the file; one that a kill has cut short is left out."""
    if not file.exists():
        return []
    whole = file.read_text(encoding="utf-8").rpartition("\n")[0]
    rows: list[Row] = list(csv.DictReader(io.StringIO(whole)))
    for row in rows:
        row |= {name: int(row[name]) for name in ("trial", "steps")}
        row |= {name: float(row[name]) for name in ("validation", "test", "train_loss", "val_loss")}
    return rows


def write_rows(file: Path, rows: Iterable[Row]) -> None:
    """Write the file whole, in order."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with finished_whole(file, alone=True) as partial:
        partial.write_text(",".join(COLUMNS) + "\n" + "".join(map(_line, sorted(rows, key=_key))), encoding="utf-8")


def _line(row: Row) -> str:
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, lineterminator="\n").writerow(row)
    return text.getvalue()


def _key(row: Row) -> tuple[str, str, str, int]:
    return row["dataset"], row["matrix"], row["change"], row["trial"]


def _name(case: Case, trial: int) -> tuple[str, str, str, int]:
    return case.dataset, case.matrix, case.change, trial


def best_on_validation(rows: Iterable[Row]) -> str:
    """The change whose trials have the highest mean validation accuracy; the first of equals.

    Test scores are not looked at.
    """
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["change"], []).append(row["validation"])
    return max(scores, key=lambda change: float(np.mean(scores[change])))
