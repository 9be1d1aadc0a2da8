"""One stage of the search: rounds of trials, proposed, pruned and kept by Optuna, trained in worker processes.

A round is proposed and pruned by the results of the rounds before it alone, so a search is the same for any number
of workers, and after a kill. Each seed's accuracy is in the storage as soon as it is known.
"""

from __future__ import annotations

import functools
from concurrent.futures import Executor
from typing import Any

import numpy as np
import optuna
import torch
from optuna.trial import FrozenTrial, Trial, TrialState

from experiments.cases import Case, prepare
from experiments.search.space import Space, changed, own_values, suggest
from experiments.trials import train_blind
from grandplus.errors import GrandPlusError
from grandplus.execution import map_in_order
from grandplus.progress import Progress

SEEDS = 3  # the pipeline's first trials
ROUND = 8  # trials proposed at a time, and so trained side by side at most
FAILED = "failed"  # attribute of a trial that could not be trained: why


def complete(study: optuna.Study, stage: str, space: Space, case: Case, trials: int, pool: Executor) -> FrozenTrial:
    """Run what is missing of so many trials, and give the best of all: the first of equals.

    Parameters
    ----------
    stage : its name in ``STAGES``
    case : what all trials have in common; the first trial leaves it as it is

    Raises
    ------
    GrandPlusError : none of them could be trained.
    """
    own = own_values(stage, case.settings(SEEDS))
    with Progress(f"search, {stage}", SEEDS * trials, "training", done=_trainings(study)) as bar:
        for first in range(0, trials, ROUND):
            numbers = range(first, min(first + ROUND, trials))
            begun = [_begun(study, number, own) for number in numbers]
            cases = {trial.number: changed(case, suggest(trial, space, case.settings(SEEDS))) for trial in begun}
            _run_round(study, begun, cases, pool, bar)
    scored = study.get_trials(states=(TrialState.COMPLETE,))
    if not scored:
        raise GrandPlusError(f"none of {trials} trials could be trained: {study.trials[0].user_attrs[FAILED]}")
    return max(scored, key=lambda trial: trial.value or 0.0)


def _begun(study: optuna.Study, number: int, own: dict[str, Any]) -> Trial:
    """The trial of that number, proposed if it isn't there."""
    there = [trial for trial in study.trials if trial.state != TrialState.WAITING]
    if number < len(there):
        return Trial(study, there[number]._trial_id)
    if number == 0:
        study.enqueue_trial(own, skip_if_exists=True)
    # Seeded by number, and without regard to unfinished trials, it proposes the same after a kill.
    study.sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=ROUND, constant_liar=False)
    return study.ask()


def _run_round(study: optuna.Study, trials: list[Trial], cases: dict[int, Case], pool: Executor, bar: Progress) -> None:
    unfinished = [trial for trial in trials if not _now(study, trial).state.is_finished()]
    for trial in unfinished:
        prepare(cases[trial.number], SEEDS)  # rows are made here, by all threads, and read by the processes
    for seed in range(SEEDS):
        live = [trial for trial in unfinished if not _now(study, trial).state.is_finished()]
        _score(study, live, cases, seed, pool, bar)
        if any(_now(study, trial).state == TrialState.COMPLETE for trial in trials):
            continue  # all that live were spared, be it before a kill: only then does one become complete
        for trial in live:
            if not _now(study, trial).state.is_finished() and trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                bar.update(SEEDS - 1 - seed)


def _score(
    study: optuna.Study, trials: list[Trial], cases: dict[int, Case], seed: int, pool: Executor, bar: Progress
) -> None:
    """Train each with a seed, unless the storage has that, from a trial of the same values or from before a kill."""
    known: dict[Any, float | str] = {
        _values(trial): trial.intermediate_values[seed] for trial in study.trials if seed in trial.intermediate_values
    }
    missing = {_values(trial): cases[trial.number] for trial in trials if _values(trial) not in known}
    scores = map_in_order(
        pool, functools.partial(validation, seed), ((case,) for case in missing.values()), ahead=ROUND
    )
    for trial in trials:
        if _values(trial) not in known:
            known[_values(trial)] = next(scores)
        score = known[_values(trial)]
        if isinstance(score, str):
            trial.set_user_attr(FAILED, score)
            study.tell(trial, state=TrialState.FAIL)
            bar.update(SEEDS - seed)
            continue
        if seed not in _now(study, trial).intermediate_values:
            trial.report(score, seed)
            bar.update()
        if seed == SEEDS - 1:
            study.tell(trial, float(np.mean(list(_now(study, trial).intermediate_values.values()))))


def validation(seed: int, case: Case) -> float | str:
    """Best validation accuracy of the pipeline's trial of that number, or why it has none; no test label is read."""
    torch.set_num_threads(1)
    prepared = prepare(case, SEEDS)
    try:
        trained = train_blind(prepared, prepared.splits.of(seed), seed)
    except GrandPlusError as error:
        return str(error)
    return float(trained.model.info["val_accuracy"])


def _values(trial: Trial | FrozenTrial) -> frozenset[tuple[str, Any]]:
    return frozenset(trial.params.items())


def _now(study: optuna.Study, trial: Trial) -> FrozenTrial:
    return study.get_trials(deepcopy=False)[trial.number]


def _trainings(study: optuna.Study) -> int:
    """Those that are done, or that a finished trial need not do."""
    return sum(SEEDS if trial.state.is_finished() else len(trial.intermediate_values) for trial in study.trials)
