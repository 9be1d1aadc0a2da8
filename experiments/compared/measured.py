"""Trials with what they take: seconds of a core, and memory of the process; and with the nodes that they have right."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from experiments.compared.apart import peak_memory
from experiments.compared.figures import SYSTEMS
from experiments.compared.right import Right
from experiments.trials import Row, Scoring, fill, scored
from grandplus.methods.registry import NAMES
from grandplus.pipeline.card import USUAL_MATRIX
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare

COLUMNS = (
    "dataset", "model", "matrix", "change", "trial", "validation", "test", "steps", "seconds", "memory", "inputs",
)  # fmt: skip


def complete(file: Path, case: Case, trials: int) -> list[Row]:
    """Make ``file`` hold the trials of a case, and ``<file>-<dataset>.parquet`` their bits.

    They run in fresh processes, so that the memory of these is the case's alone.

    Parameters
    ----------
    file : Path
        A CSV file of ``COLUMNS``.
    case : Case
    trials : int

    Returns
    -------
    list of dict
        Trial by trial.
    """
    beside = functools.partial(Right, bits_file(file, case.dataset))
    scoring = Scoring(score_measured, COLUMNS, apart=True, beside=beside)
    return fill(file, [case], trials, scoring)


def bits_file(file: Path, dataset: str) -> Path:
    """Where the bits of a graph are.

    >>> bits_file(Path("citation.csv"), "cora").name
    'citation-cora.parquet'
    """
    return file.with_name(f"{file.stem}-{dataset}.parquet")


def score_measured(trials: int, case: Case, trial: int) -> Row:
    """Train a trial, predict all nodes, and measure both; preprocessing and rows of Π are there before.

    Parameters
    ----------
    trials : int
        How many there are.
    case : Case
    trial : int
        Its number.

    Returns
    -------
    dict
        Of ``COLUMNS``, with seconds of a core and the peak of the process's memory so far in MiB, and for
        ``Right.add``.
    """
    prepared = prepare(case, trials)
    begun = time.process_time()
    row, split, right = scored(prepared, case, trial)
    taken = {"seconds": round(time.process_time() - begun, 2), "memory": peak_memory() // 2**20}
    nodes = {"nodes": split.test, "labels": prepared.graph.labels[split.test], "right": right[split.test]}
    return row | {"model": case.model} | taken | nodes


def own_case(dataset: str, model: str) -> Case:
    """A system with its own settings; GRAND+ with the paper's best matrix, or that of a run which chooses none."""
    return Case(dataset, BEST_MATRIX.get(dataset, USUAL_MATRIX), model=model)


def present(models: Iterable[str]) -> list[str]:
    """Those of the systems that there are methods of, in the order of ``SYSTEMS``."""
    chosen = set(models)
    return [model for model in SYSTEMS if model in chosen and model in NAMES]


def seconds_of(rows: list[Row]) -> float:
    """Of a core, of a typical trial: one of the first in a process also loads or compiles what all use."""
    return float(np.median([row["seconds"] for row in rows]))


def memory_of(rows: list[Row]) -> int:
    """MiB that a process took at most."""
    return max(int(row["memory"]) for row in rows)
