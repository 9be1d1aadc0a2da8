"""All experiments of this checkout in one table: what differs, and what came out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.repo.experiments.serialize import ExpState
from dvc.scm import Git

from grandplus.errors import GrandPlusError
from grandplus.report.table import percent, table, value, with_interval
from grandplus.settings import PARAMS

METRICS = "reports/metrics.json"
SECTIONS = ("synthetic", "preprocess", "gfpush", "train")


def print_experiments() -> None:
    """Print a row for the workspace, the commit, and each experiment on it or on an earlier commit.

    Of a run's settings there are those that differ from the card's, as ``dvc exp run -S`` takes them.
    """
    try:
        with Repo() as repo:
            baselines = [repo.scm.get_rev(), *repo.experiments.ls(all_commits=True)]
            states = repo.experiments.show(revs=list(dict.fromkeys(baselines)))
    except DvcException as error:
        raise GrandPlusError(f"{error}", fix="run from the top of the checkout") from None
    print(table([row for state in states for row in _rows(state)]))


def _rows(state: Any) -> Iterator[dict[str, str]]:
    """A commit's own row, if it has results, and those of its experiments."""
    yield _row(state.name or (state.rev[:7] if Git.is_sha(state.rev) else state.rev), state, "")
    for experiment in state.experiments or []:
        found = experiment.revs[0]
        progress = experiment.executor.state.lower() if experiment.executor else "success"
        yield _row(f"  {found.name or found.rev[:7]}", found, "" if progress == "success" else progress)


def _row(name: str, state: ExpState, unfinished: str) -> dict[str, str]:
    params, metrics = ({}, {}) if state.data is None else (state.data.params, state.data.metrics)
    settings = params.get(PARAMS, {}).get("data", {})
    # Of one that is queued, runs or failed, DVC shows the metrics that lay in the workspace then.
    scores = {} if unfinished else metrics.get(METRICS, {}).get("data", {})
    test, val = scores.get("test", {}), scores.get("val", {})
    ece = test.get("ece", {})
    return {
        "run": name,
        "dataset": value(settings.get("dataset", "")),
        "matrix": value(settings.get("matrix", "")),
        "trials": value(settings.get("trials", "")),
        "settings": _overrides(settings),
        "test accuracy": with_interval(test["accuracy"]) if test else "",
        "validation": with_interval(val["accuracy"]) if val else "",
        "macro-F1": percent(test["macro_f1"]["mean"]) if test else "",
        "ECE": f"{ece['mean']:.3f}" if ece else "",
        "calibrated": f"{ece['calibrated']:.3f}" if "calibrated" in ece else "",
        "L1 error": f"{scores['rows']['l1_error']['mean']:.4f}" if scores else "",
        "state": unfinished,
    }


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
