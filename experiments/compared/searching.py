"""Which of a system's settings are best on the validation nodes of a graph's first split."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch

from experiments.compared.space import BUDGET, candidates
from experiments.notes import note
from experiments.trials import Row, Scoring, best_on_validation, fill, read_rows, rows_of
from grandplus.pipeline.cases import Case, prepare, train_blind
from grandplus.runtime.errors import GrandPlusError, ShortageError

COLUMNS = ("dataset", "model", "matrix", "change", "trial", "validation", "seconds", "inputs")
FINALISTS, SEEDS = 3, 3


def searched(
    file: Path, chosen: Path, dataset: str, model: str, *, budget: int = BUDGET, with_own: bool = False
) -> Case:
    """Compare all candidates with one seed and the best three with three; the highest mean is noted, and returned.

    Of equal ones it is the earlier candidate: a system's own settings stay unless others are better.

    Parameters
    ----------
    file : Path
        CSV of trainings, of ``COLUMNS``; those that it has are not made again.
    chosen : Path
        CSV of what was chosen for each graph and system.
    dataset, model : str
    budget : int
        How many candidates there are.
    with_own : bool
        Whether the system's own settings have three seeds however they do with one.
    """
    scoring = Scoring(score_on_first_split, COLUMNS)
    named = {case.change: case for case in candidates(dataset, model, budget)}
    first = fill(file, list(named.values()), 1, scoring)
    ranked = sorted(first, key=lambda row: -row["validation"])  # of equals the first
    finalists = {row["change"] for row in [*ranked[:FINALISTS], *first[: int(with_own)]]}  # the first is the own one
    rows = fill(file, [case for change, case in named.items() if change in finalists], SEEDS, scoring)
    best = best_on_validation(rows)
    mean = np.mean([row["validation"] for row in rows_of(rows, named[best])])
    mine = [row for row in read_rows(file) if (row["dataset"], row["model"]) == (dataset, model)]
    found = {"change": best, "validation": f"{mean:.4f}", "seconds": round(sum(row["seconds"] for row in mine))}
    note(chosen, {"dataset": dataset, "model": model} | found, key=("dataset", "model"))
    return named[best]


def score_on_first_split(trials: int, case: Case, seed: int) -> Row:
    """Train on the first split, and score its validation nodes.

    Parameters
    ----------
    trials : int
        How many seeds there are.
    case : Case
    seed : int

    Returns
    -------
    dict
        Of ``COLUMNS``, trial being the seed. Settings that can't be trained get an accuracy of 0.
    """
    torch.set_num_threads(1)
    prepared = prepare(case, trials)
    begun = time.process_time()
    try:
        accuracy = train_blind(prepared, prepared.splits.of(0), seed).model.info["val_accuracy"]
    except ShortageError:  # no trait of the settings
        raise
    except GrandPlusError:
        accuracy = 0.0
    return {
        "dataset": case.dataset,
        "model": case.model,
        "matrix": case.matrix,
        "change": case.change,
        "trial": seed,
        "validation": round(accuracy, 4),
        "seconds": round(time.process_time() - begun, 2),
        "inputs": prepared.inputs,
    }
