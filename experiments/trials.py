"""Trials of a case, each scored once and kept in a CSV file: a run that is killed goes on where it was."""

from __future__ import annotations

import csv
import functools
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.cases import Case, check_cpu, prepare, train_blind
from grandplus.runtime import pools
from grandplus.runtime.storage import finished_whole

COLUMNS = ("dataset", "matrix", "change", "trial", "validation", "test", "train_loss", "val_loss", "steps", "inputs")
Row = dict[str, Any]
CASES_TO_SHARE = 4
_shared: dict[Case, Any] = {}  # what the trials of a case share in inference; of the last cases


def fill(file: Path, cases: list[Case], trials: int) -> list[Row]:
    """Make ``file`` hold ``trials`` trials of each case, and give those.

    Trial by trial over all cases, so that a table of few trials is there early. Lines whose inputs
    (settings and graph) are no longer those of the case are made anew.

    Parameters
    ----------
    file : Path
        A CSV file; it may not be there yet.
    cases : list of Case
    trials : int

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
    wanted = [(case, trial) for trial in range(trials) for case in cases]
    inputs = {(case.dataset, case.matrix, case.change): prepare(case, trials).inputs for case in cases}
    kept = {_key(row): row for row in read_rows(file) if inputs.get(_key(row)[:3], row["inputs"]) == row["inputs"]}
    write_rows(file, kept.values())
    missing = [task for task in wanted if _name(*task) not in kept]
    bar = tqdm(total=len(wanted), initial=len(wanted) - len(missing), unit="trial", disable=None)
    with file.open("a", encoding="utf-8") as out:
        task = functools.partial(score_trial, trials)
        for row in pools.map_processes(task, *zip(*missing, strict=True)) if missing else ():
            out.write(_line(row))
            out.flush()
            os.fsync(out.fileno())
            kept[_key(row)] = row
            bar.update()
    write_rows(file, kept.values())
    return [kept[_name(*task)] for task in wanted]


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
    torch.set_num_threads(1)
    prepared = prepare(case, trials)
    split = prepared.splits.of(trial)
    trained = train_blind(prepared, split, trial)
    labels = prepared.graph.labels
    if case not in _shared:
        while len(_shared) >= CASES_TO_SHARE:
            _shared.pop(next(iter(_shared)))
        _shared[case] = trained.model.shared_inputs(prepared.graph)
    predicted = trained.model.predict_proba(prepared.graph, _shared[case]).argmax(axis=1)
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

    Test scores are not looked at.
    """
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["change"], []).append(row["validation"])
    return max(scores, key=lambda change: float(np.mean(scores[change])))
