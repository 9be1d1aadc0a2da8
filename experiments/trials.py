"""Trials of a case, each scored once and kept in a CSV file: a run that is killed goes on where it was."""

from __future__ import annotations

import csv
import functools
import io
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from experiments.notes import held, read_notes, write_page
from grandplus.evaluation.statistics import Sample
from grandplus.graph.splits import Split
from grandplus.pipeline.cases import Case, Prepared, check_cpu, prepare, train_blind
from grandplus.runtime import pools

COLUMNS = ("dataset", "matrix", "change", "trial", "validation", "test", "train_loss", "val_loss", "steps", "inputs")
WHOLE, PARTS = ("trial", "steps", "memory"), ("validation", "test", "train_loss", "val_loss", "seconds")  # numbers
Row = dict[str, Any]
CASES_TO_SHARE = 4
ROUNDED = 1e-4  # by which rounding a score to four digits may change the difference of two
_shared: dict[Case, Any] = {}  # what the trials of a case share in inference; of the last cases


class Beside(Protocol):
    """What is kept of trials beside their lines."""

    def add(self, row: Row) -> None:
        """Keep what belongs to a row; its line is written after that."""

    def has(self, row: Row) -> bool:
        """Whether it is kept; else the trial is made anew."""


@dataclass(frozen=True)
class Scoring:
    """How trials are scored.

    Attributes
    ----------
    score : callable
        A function of a module that is given the number of trials, a case and a trial's number, and returns the row.
    columns : tuple of str
        What the file has of a row.
    apart : bool
        Whether trials run in processes of their own even if there is one only: a process's memory is then theirs.
    beside : callable, optional
        Reads what is kept beside the lines.
    """

    score: Callable[[int, Case, int], Row]
    columns: tuple[str, ...] = COLUMNS
    apart: bool = False
    beside: Callable[[], Beside] | None = None


class Scored(NamedTuple):
    """A trial that was scored.

    Attributes
    ----------
    row : dict
        Of ``COLUMNS``.
    split : Split
    right : bool (n,)
        Which nodes are predicted right.
    """

    row: Row
    split: Split
    right: NDArray[np.bool_]


def fill(file: Path, cases: list[Case], trials: int, scoring: Scoring | None = None) -> list[Row]:
    """Make ``file`` hold ``trials`` trials of each case, and give those.

    Trial by trial over all cases, so that a table of few trials is there early. Lines whose inputs
    (settings and graph) are no longer those of the case are made anew. Another process that fills the same file waits.

    Parameters
    ----------
    file : Path
        A CSV file; it may not be there yet.
    cases : list of Case
    trials : int
    scoring : Scoring, optional
        By default ``score_trial``.

    Returns
    -------
    list of dict
        Trial by trial, the cases of each in their order.

    Raises
    ------
    GrandPlusError
        A GPU is asked for; a case has impossible settings; a trial can't be trained.
    """
    check_cpu()
    with held(file):
        return _fill(file, cases, trials, scoring or Scoring(score_trial))


def score_trial(trials: int, case: Case, trial: int) -> Row:
    """Train a trial and score it, exactly as the pipeline's trial of that number.

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
        Of ``COLUMNS``.
    """
    return scored(prepare(case, trials), case, trial).row


def scored(prepared: Prepared, case: Case, trial: int) -> Scored:
    """The same of a case that is prepared, with the nodes that are predicted right."""
    torch.set_num_threads(1)
    split = prepared.splits.of(trial)
    trained = train_blind(prepared, split, trial)
    labels = prepared.graph.labels
    if case not in _shared:
        while len(_shared) >= CASES_TO_SHARE:
            _shared.pop(next(iter(_shared)))
        _shared[case] = trained.model.shared_inputs(prepared.graph)
    right = trained.model.predict_proba(prepared.graph, _shared[case]).argmax(axis=1) == labels
    best = trained.history["step"].index(trained.model.info["best_step"])
    row = {
        "dataset": case.dataset,
        "matrix": case.matrix,
        "change": case.change,
        "trial": trial,
        "validation": round(trained.model.info["val_accuracy"], 4),
        "test": round(float(right[split.test].mean()), 4),
        "train_loss": round(trained.history["train_loss"][best], 5),
        "val_loss": round(trained.history["val_loss"][best], 5),
        "steps": trained.model.info["steps"],
        "inputs": prepared.inputs,
    }
    return Scored(row, split, right)


def read_rows(file: Path) -> list[Row]:
    """The whole lines of the file; one that a kill has cut short is left out."""
    rows: list[Row] = [dict(row) for row in read_notes(file)]
    for row in rows:
        row |= {name: int(row[name]) for name in WHOLE if name in row}
        row |= {name: float(row[name]) for name in PARTS if name in row}
    return rows


def rows_of(rows: Iterable[Row], case: Case) -> list[Row]:
    """Those of a case, trial by trial."""
    return sorted((row for row in rows if _key(row) == _name(case, row["trial"])), key=lambda row: row["trial"])


def write_rows(file: Path, rows: Iterable[Row], columns: tuple[str, ...] = COLUMNS) -> None:
    """Write the file whole, in order."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (_line(row, columns) for row in sorted(rows, key=_key))
    write_page(file, ",".join(columns) + "\n" + "".join(lines))


def _fill(file: Path, cases: list[Case], trials: int, scoring: Scoring) -> list[Row]:
    """``fill`` of a file that is held."""
    columns, beside = scoring.columns, scoring.beside and scoring.beside()
    wanted = [(case, trial) for trial in range(trials) for case in cases]
    inputs = {(case.dataset, case.matrix, case.change): prepare(case, trials).inputs for case in cases}
    kept = {_key(row): row for row in read_rows(file) if inputs.get(_key(row)[:3], row["inputs"]) == row["inputs"]}
    if beside:
        kept = {key: row for key, row in kept.items() if key[:3] not in inputs or beside.has(row)}
    write_rows(file, kept.values(), columns)
    missing = [task for task in wanted if _name(*task) not in kept]
    bar = tqdm(total=len(wanted), initial=len(wanted) - len(missing), unit="trial", disable=None)
    with file.open("a", encoding="utf-8") as out:
        task, arguments = functools.partial(scoring.score, trials), zip(*missing, strict=True)
        for row in pools.map_processes(task, *arguments, apart=scoring.apart) if missing else ():
            if beside:
                beside.add(row)
            out.write(_line(row, columns))
            out.flush()
            os.fsync(out.fileno())
            kept[_key(row)] = row
            bar.update()
    write_rows(file, kept.values(), columns)
    return [kept[_name(*task)] for task in wanted]


def _line(row: Row, columns: tuple[str, ...]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore").writerow(row)
    return text.getvalue()


def _key(row: Row) -> tuple[str, str, str, int]:
    return row["dataset"], row["matrix"], row["change"], row["trial"]


def _name(case: Case, trial: int) -> tuple[str, str, str, int]:
    return case.dataset, case.matrix, case.change, trial


def mean_and_std(scores: list[float]) -> str:
    """The mean of scores in percent ± their standard deviation, which a single one has not.

    >>> mean_and_std([0.85, 0.86, 0.87]), mean_and_std([0.85])
    ('86.00 ± 1.00', '85.00')
    """
    sample = Sample.of(scores)
    deviation = f" ± {100 * sample.std:.2f}" if sample.trials > 1 else ""
    return f"{100 * sample.mean:.2f}{deviation}"


def best_on_validation(rows: Iterable[Row]) -> str:
    """The change whose trials have the highest mean validation accuracy; the first of equals.

    Means that differ by less than ``ROUNDED`` are equal, as files have rounded scores. Test scores are not looked at.
    """
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["change"], []).append(row["validation"])
    means = {change: float(np.mean(of_trials)) for change, of_trials in scores.items()}
    highest = max(means.values())
    return next(change for change, mean in means.items() if mean > highest - ROUNDED)
