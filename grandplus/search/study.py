"""One stage of the search: rounds of trials, proposed, pruned and kept by Optuna, trained in worker processes.

A round is proposed and pruned by the results of the rounds before it alone, so a search is the same for any number
of workers, and after a kill. Each seed's accuracy is in the storage as soon as it is known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np
import optuna
import torch
from optuna.trial import FrozenTrial, Trial, TrialState

from grandplus.pipeline.cases import Case, prepare, train_blind
from grandplus.pipeline.trials import trials_at_once
from grandplus.runtime.errors import GrandPlusError, ShortageError
from grandplus.runtime.pools import map_in_order
from grandplus.runtime.progress import Progress
from grandplus.search.space import Space, changed, own_values, suggest

SEEDS = 3  # the pipeline's first trials
ROUND = 8  # trials proposed at a time, and so trained side by side at most
FAILED = "failed"  # attribute of a trial that could not be trained: why


def complete(study: optuna.Study, stage: str, space: Space, case: Case, trials: int, pool: Executor) -> FrozenTrial:
    """Run what is missing of so many trials, and give the best of all: the first of equals.

    Parameters
    ----------
    study : optuna.Study
    stage : str
        Its name in ``STAGES``.
    space : Space
    case : Case
        What all trials have in common. The first trial leaves it as it is.
    trials : int
    pool : Executor
        Of worker processes.

    Raises
    ------
    GrandPlusError
        None of them could be trained.
    """
    settings = case.settings(SEEDS)
    own = own_values(stage, settings)
    with Progress(f"search, {stage}", SEEDS * trials, "training", done=_trainings(study)) as bar:
        for first in range(0, trials, ROUND):
            begun, cases = [], {}
            for number in range(first, min(first + ROUND, trials)):
                begun.append(_begun(study, number, own))
                cases[number] = changed(case, suggest(begun[-1], space, settings))
            _run_round(study, begun, cases, pool, bar)
    scored = study.get_trials(states=(TrialState.COMPLETE,))
    if not scored:
        raise GrandPlusError(f"none of {trials} trials could be trained: {study.trials[0].user_attrs[FAILED]}")
    return max(scored, key=lambda trial: trial.value or 0.0)


def _begun(study: optuna.Study, number: int, own: dict[str, Any]) -> Trial:
    """The trial of that number, begun if it isn't."""
    study.sampler = optuna.samplers.TPESampler(
        seed=number,  # and without regard to unfinished trials, so it proposes the same after a kill
        constant_liar=False,
        n_startup_trials=ROUND,
        n_ei_candidates=1,  # in spaces as small as these the best of several is mostly a trial that was
    )
    begun = [trial for trial in study.trials if trial.state != TrialState.WAITING]
    if number < len(begun):
        return Trial(study, begun[number]._trial_id)
    if number == 0:
        study.enqueue_trial(own, skip_if_exists=True)
    return study.ask()


def _run_round(study: optuna.Study, trials: list[Trial], cases: dict[int, Case], pool: Executor, bar: Progress) -> None:
    before = study.trials
    live = [trial for trial in trials if not before[trial.number].state.is_finished()]
    # A trial is complete only after all of its round that live were spared, as they are again after a kill.
    spared = any(before[trial.number].state == TrialState.COMPLETE for trial in trials)
    for trial in live:
        prepare(cases[trial.number], SEEDS)  # rows are made here, by all threads, and read by the processes
    had: dict[int, list[float]] = {trial.number: [] for trial in live}
    for seed in range(SEEDS):
        trained = []
        for trial, score in zip(live, _scores(study, live, cases, seed, pool), strict=True):
            if isinstance(score, str):
                trial.set_user_attr(FAILED, score)
                study.tell(trial, state=TrialState.FAIL)
                bar.update(SEEDS - seed)
                continue
            if seed not in before[trial.number].intermediate_values:
                trial.report(score, seed)
                bar.update()
            had[trial.number].append(score)
            if seed == SEEDS - 1:
                study.tell(trial, float(np.mean(had[trial.number])))
            trained.append(trial)
        live = trained
        if seed < SEEDS - 1 and not spared:
            pruned = [trial for trial in live if trial.should_prune()]
            for trial in pruned:
                study.tell(trial, state=TrialState.PRUNED)
                bar.update(SEEDS - 1 - seed)
            live = [trial for trial in live if trial not in pruned]


def _scores(
    study: optuna.Study, trials: list[Trial], cases: dict[int, Case], seed: int, pool: Executor
) -> Iterator[float | str]:
    """Each one's with a seed; trained unless the storage has it, by a trial of the same values too."""
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
        yield known[_values(trial)]


def validation(seed: int, case: Case) -> float | str:
    """Validation accuracy of the pipeline's trial of that number, or why it has none; no test label is read.

    By exact inference, as the pipeline's metrics have it, not by the rows that are trained on, some cut short.

    Parameters
    ----------
    seed : int
        The trial's number.
    case : Case
    """
    torch.set_num_threads(1)
    prepared = prepare(case, SEEDS)
    split = prepared.splits.of(seed)
    trials_at_once(prepared.graph, split, prepared.settings)  # refuses what memory is too small for
    try:
        trained = train_blind(prepared, split, seed)
    except ShortageError:  # no trait of the values
        raise
    except GrandPlusError as error:
        return str(error)
    predicted = trained.model.predict_proba(prepared.graph)[split.val].argmax(axis=1)
    return float((predicted == prepared.graph.labels[split.val]).mean())


def _values(trial: Trial | FrozenTrial) -> frozenset[tuple[str, Any]]:
    return frozenset(trial.params.items())


def _trainings(study: optuna.Study) -> int:
    """Those that are done, or that a finished trial need not do."""
    return sum(SEEDS if trial.state.is_finished() else len(trial.intermediate_values) for trial in study.trials)
