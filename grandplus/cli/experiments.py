"""``grandplus experiments``: all experiments of this checkout in one table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grandplus.pipeline.card import PARAMS
from grandplus.pipeline.settings import load_settings
from grandplus.report.read import at
from grandplus.report.table import percent, table, value, with_interval
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.yaml_files import read_yaml

if TYPE_CHECKING:
    from dvc.repo.experiments.serialize import ExpState

METRICS = "reports/metrics.json"
SETTINGS = Path("reports/settings.yaml")  # of the last run
SECTIONS = ("synthetic", "preprocess", "gfpush", "train")


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    words = "all experiments of this checkout: what differs and what came out"
    commands.add_parser("experiments", help=words, description=words).set_defaults(run=run)


def run(_: argparse.Namespace) -> None:
    """Print the table.

    Raises
    ------
    GrandPlusError
        There is no DVC repository here, or it can't be read.
    """
    print_experiments()


def print_experiments() -> None:
    """Print a row for the workspace, the commit, and each experiment on it or on an earlier commit.

    Of a run's settings there are those that params.yaml sets, as ``dvc exp run -S`` takes them.
    """
    from dvc.exceptions import DvcException, NotDvcRepoError  # here, as DVC takes a second
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            baselines = [repo.scm.get_rev(), *repo.experiments.ls(all_commits=True)]
            states = repo.experiments.show(revs=list(dict.fromkeys(baselines)))
    except NotDvcRepoError as error:
        raise GrandPlusError(f"{error}", fix="run from the top of the checkout") from None
    except DvcException as error:  # as where an experiment that begins or ends just then has half a folder
        raise GrandPlusError(f"{error}", fix="if experiments run just now, try again") from None
    print(table([row for state in states for row in _rows(state)]))


def _rows(state: Any) -> Iterator[dict[str, str]]:
    """A commit's own row, if it has results, and those of its experiments."""
    from dvc.scm import Git

    from grandplus.report.gather import WORKSPACE

    name = state.name or (state.rev[:7] if Git.is_sha(state.rev) else state.rev)
    yield _row(name, state, "not run with these settings" if name == WORKSPACE and _is_behind() else "")
    for experiment in state.experiments or []:
        found = experiment.revs[0]
        progress = experiment.executor.state.lower() if experiment.executor else "success"
        yield _row(f"  {found.name or found.rev[:7]}", found, "" if progress == "success" else progress)


def _row(name: str, state: ExpState, unfinished: str) -> dict[str, str]:
    params, metrics = ({}, {}) if state.data is None else (state.data.params, state.data.metrics)
    settings = params.get(PARAMS, {}).get("data", {})
    # Of one that is queued, runs or failed, DVC shows the metrics that lay in the workspace then.
    scores = {} if unfinished else metrics.get(METRICS, {}).get("data", {})
    return {
        "run": name,
        "dataset": value(settings.get("dataset", "")),
        "matrix": value(settings.get("matrix", "")),
        "trials": value(settings.get("trials", "")),
        "settings": _overrides(settings),
        "test accuracy": _accuracy(scores, "test"),
        "validation": _accuracy(scores, "val"),
        "macro-F1": _number(scores, "test.macro_f1.mean", percent),
        "ECE": _number(scores, "test.ece.mean", "{:.3f}".format),
        "calibrated": _number(scores, "test.ece.calibrated", "{:.3f}".format),
        "L1 error": _number(scores, "rows.l1_error.mean", "{:.4f}".format),
        "state": unfinished,
    }


def _accuracy(scores: Any, part: str) -> str:
    known = _number(scores, f"{part}.accuracy.mean", percent)
    return with_interval(scores[part]["accuracy"]) if known else ""


def _number(scores: Any, key: str, words: Callable[[float], str]) -> str:
    """Nothing where there is none, as in results of older code."""
    found = at(scores, key)
    return words(found) if isinstance(found, float | int) else ""


def _is_behind() -> bool:
    """Whether the results in the workspace are of other settings than params.yaml has now."""
    if not SETTINGS.exists():
        return False
    try:
        now = load_settings().flat()
    except GrandPlusError:  # a run would say what is wrong with it
        return True
    return now != read_yaml(SETTINGS)


def _overrides(settings: dict[str, Any]) -> str:
    """What params.yaml sets itself."""
    given = {
        f"{section}.{key}": setting
        for section in SECTIONS
        for key, setting in (settings.get(section) or {}).items()
        if setting is not None and (section, key, setting) != ("synthetic", "scale", 1)
    }
    seed = {"seed": settings["seed"]} if settings.get("seed") else {}
    return " ".join(f"{key}={value(setting)}" for key, setting in (seed | given).items())
