"""All experiments of this checkout in one table: what differs, and what came out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo.experiments.serialize import ExpState
from dvc.scm import Git

from grandplus.pipeline.card import PARAMS
from grandplus.pipeline.evaluated import SETTINGS, remarks
from grandplus.pipeline.repository import check_git, open_repo
from grandplus.pipeline.settings import SECTIONS
from grandplus.report.gather import WORKSPACE
from grandplus.report.run import matrix_of
from grandplus.report.scores import score_columns
from grandplus.report.table import table, value
from grandplus.runtime.errors import GrandPlusError

METRICS = "reports/metrics.json"


def experiments_table() -> str:
    """A line for the workspace, the last commit, and each experiment on it or on an earlier commit.

    Of a run's settings it has those that params.yaml sets, as ``dvc exp run -S`` takes them.

    Raises
    ------
    GrandPlusError
        There is no repository of DVC or of Git here, or DVC can't list its experiments.
    """
    with open_repo() as repo:
        check_git(repo)
        try:
            baselines = [repo.scm.get_rev(), *repo.experiments.ls(all_commits=True)]
            states = repo.experiments.show(revs=list(dict.fromkeys(baselines)))
        except DvcException as error:  # for example, the folder of one that begins or ends just now is incomplete
            raise GrandPlusError(f"{error}", fix="if experiments run just now, try again") from None
    return table([row for state in states for row in _rows(state)])


def _rows(state: Any) -> Iterator[dict[str, str]]:
    """The row of a commit, and those of its experiments."""
    name = state.name or (state.rev[:7] if Git.is_sha(state.rev) else state.rev)
    yield _row(name, state, "not run to its end with these settings" if name == WORKSPACE and _is_behind() else "")
    for experiment in state.experiments or []:
        latest = experiment.revs[0]
        progress = experiment.executor.state.lower() if experiment.executor else "success"
        yield _row(f"  {latest.name or latest.rev[:7]}", latest, "" if progress == "success" else progress)


def _row(name: str, state: ExpState, unfinished: str) -> dict[str, str]:
    params, metrics = ({}, {}) if state.data is None else (state.data.params, state.data.metrics)
    settings = params.get(PARAMS, {}).get("data", {})
    # For an experiment that is queued, runs or has failed, DVC has the metrics that lay in the workspace then.
    scores = {} if unfinished else metrics.get(METRICS, {}).get("data", {})
    return {
        "run": name,
        "dataset": value(settings.get("dataset", "")),
        "model": value(settings.get("model", "")),
        "matrix": matrix_of(settings),
        "trials": value(settings.get("trials", "")),
        "settings": _overrides(settings),
        **score_columns(scores, intervals=False),
        "state": unfinished,
    }


def _is_behind() -> bool:
    """Whether the results in the workspace are of an earlier run than its settings or files."""
    if not SETTINGS.exists():
        return False
    try:
        return bool(remarks())
    except GrandPlusError:  # a run, or grandplus results, says what is wrong
        return True


def _overrides(settings: dict[str, Any]) -> str:
    """The settings that params.yaml itself sets."""
    given = {
        f"{section}.{key}": setting
        for section in SECTIONS
        for key, setting in (settings.get(section) or {}).items()
        if setting is not None and (section, key, setting) != ("synthetic", "scale", 1)
    }
    seed = {"seed": settings["seed"]} if settings.get("seed") else {}
    return " ".join(f"{key}={value(setting)}" for key, setting in (seed | given).items())
