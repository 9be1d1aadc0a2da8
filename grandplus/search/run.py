"""The search: both stages, one after the other, in studies that are kept as they grow."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import optuna

from grandplus.methods.settings import GraphSize
from grandplus.pipeline.card import CATALOG, OWN_METHOD
from grandplus.pipeline.cases import STORE, Case, check_cpu, prepare
from grandplus.pipeline.commands import run_command
from grandplus.pipeline.trials import trials_at_once
from grandplus.runtime import environment, pools
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.storage import finished_whole, locked
from grandplus.search import results
from grandplus.search.space import STAGES, changed, space_of, without_too_wide
from grandplus.search.study import SEEDS, complete

FOLDER = Path("experiments/search")


def search(dataset: str, matrix: str, trials: dict[str, int], model: str = OWN_METHOD) -> None:
    """Run both stages, write the history and the winner's card, and print what was found.

    Parameters
    ----------
    dataset : str
        A card in data/catalog.
    matrix : str
        The family of Π to tune.
    trials : dict of {str: int}
        Trials of each stage.
    model : str
        The method. One that does not propagate by GRAND+'s rows has the first stage alone.

    Raises
    ------
    GrandPlusError
        A setting is impossible, nothing can be trained, or the file with the trials of an earlier search is damaged.
    """
    for stage, count in trials.items():
        if count < 1:
            raise ArgumentError(f"--{stage} is {count}", expected="at least 1")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    case, name = Case(dataset, matrix, model=model), f"{dataset}-{matrix if model == OWN_METHOD else model}"
    check_cpu()
    workers = environment.workers()
    prepared = prepare(case, SEEDS)
    graph, split = prepared.graph, prepared.splits.of(0)
    trials_at_once(graph, split, prepared.settings)
    size = GraphSize.of(graph, split)
    database = STORE.absolute() / f"search-{name}.db"
    with locked(database.with_suffix(".lock")), pools.processes(workers) as pool, _database_errors(database):
        outcome: results.Outcome = {}
        for stage in STAGES:
            settings = case.settings(SEEDS)
            space = without_too_wide(space_of(stage, settings), size._replace(top_k=settings.gfpush.top_k), settings)
            if not space:
                continue
            study = _study(database, stage, space, case)
            best = complete(study, stage, space, case, trials[stage], pool)
            outcome[stage] = study, best
            case = changed(case, best.params)
    print(results.summary(outcome, case))
    if stays := results.better_before(case, outcome):
        print(stays)
    else:
        results.save_winner(case, outcome)
        folder = _write_history(outcome, name)
        print(f"history: {folder}/table.md, history.png")
        files = f"{CATALOG / f'{dataset}.yaml'} {CATALOG / f'{results.card_name(case)}.yaml'} {folder}"
        print(f"to keep it: git add {files} && git commit -m 'Dataset {results.card_name(case)}' {files}")
    command = run_command(results.card_name(case), model=model, matrix=matrix if model == OWN_METHOD else None)
    print(f"to run it: {command}")


@contextmanager
def _database_errors(database: Path) -> Iterator[None]:
    """Errors of SQLite in this block, as errors of this file."""
    try:
        yield
    except Exception as error:
        reason: BaseException | None = error
        while reason is not None and not isinstance(reason, sqlite3.DatabaseError):
            reason = reason.__cause__  # Optuna and SQLAlchemy have errors of their own for it
        if reason is None:
            raise
        fix = "move it away; the search begins anew then, as its finished trials are lost"
        if isinstance(reason, sqlite3.OperationalError):  # the system's, not the file's
            fix = "make room, and the file and its folder writable; finished trials are kept"
        raise GrandPlusError(f"can't be used: {reason}", where=database, fix=fix) from None


def _study(database: Path, stage: str, space: object, case: Case) -> optuna.Study:
    """A stage's study; another one for other settings or another graph."""
    inputs = hashlib.sha256(f"{prepare(case, SEEDS).inputs} {space} exact".encode()).hexdigest()[:12]
    return optuna.create_study(
        storage=f"sqlite:///{database}",
        study_name=f"{stage}-{inputs}",
        direction="maximize",
        pruner=optuna.pruners.MedianPruner(),
        load_if_exists=True,
    )


def _write_history(outcome: results.Outcome, name: str) -> Path:
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    results.plot(outcome, f"{name}: search on validation nodes", folder / "history.png")
    with finished_whole(folder / "table.md", alone=True) as partial:
        partial.write_text(results.table(outcome), encoding="utf-8")
    return folder
