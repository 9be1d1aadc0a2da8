"""What runs left, by the names that ``dvc exp show`` has for them: read through DVC, so from its cache too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dvc.api import DVCFileSystem
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.scm import resolve_rev

from grandplus import resources
from grandplus.errors import GrandPlusError
from grandplus.resources import Taken

WORKSPACE = "workspace"


@dataclass(frozen=True, eq=False)
class Run:
    """One run's results.

    details, metrics : ``reports/details.json`` and ``reports/metrics.json``
    resources : what its stages took, of those that ran on this machine
    """

    name: str
    details: dict[str, Any]
    metrics: dict[str, Any]
    resources: dict[str, Taken]

    @property
    def accuracy(self) -> list[float]:
        """One a trial, of test nodes; of validation nodes where no test node has a label."""
        found: list[float] = self.details["accuracy"][self.details["judged_by"]]
        return found

    @property
    def pairs(self) -> list[tuple[object, ...]]:
        """What each trial was made from: trials of two runs with the same one can be compared one by one."""
        run, graph = self.details["run"], self.details["graph"]
        facts = tuple(graph.get(name) for name in ("nodes", "edges", "classes", "unlabelled_nodes"))
        made_from = (*facts, run["seed"], self.details["judged_by"])  # whatever the card is called
        return [(*made_from, split) for split in self.details["splits"]]


def gather(names: Sequence[str]) -> list[Run]:
    """Read runs by the names of experiments or Git revisions; none: the workspace.

    Raises
    ------
    GrandPlusError : there is no such run, or it has no results.
    """
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise GrandPlusError(f"{twice[0]} is named twice", expected="each run once")
    return [_read(name) for name in names or [WORKSPACE]]


def _read(name: str) -> Run:
    revision = None if name == WORKSPACE else name
    try:
        files = DVCFileSystem(rev=revision)
        details, metrics = (_json(files, name, file) for file in ("reports/details.json", "reports/metrics.json"))
    except DvcException as error:
        raise GrandPlusError(f"{error}", where=name, fix="dvc exp show has the names of experiments") from None
    return Run(name, details, metrics, _resources(revision))


def _json(files: DVCFileSystem, name: str, file: str) -> dict[str, Any]:
    where = f"{file} of {name}"
    try:
        found: dict[str, Any] = json.loads(files.read_text(file, encoding="utf-8"))
    except FileNotFoundError:
        fix = "run dvc repro first" if name == WORKSPACE else "it never finished, or its code made none: run it again"
        raise GrandPlusError("no such file", where=where, fix=fix) from None
    except ValueError as error:
        raise GrandPlusError(f"is no JSON: {error}", where=where, fix="run dvc repro evaluate") from None
    return found


def _resources(revision: str | None) -> dict[str, Taken]:
    if revision is None:
        return resources.read(resources.LAST)
    with Repo() as repo:
        wanted = resolve_rev(repo.scm, revision)
        for baseline, experiments in repo.experiments.ls(all_commits=True).items():
            for name, found in experiments:
                if found == wanted:
                    return resources.read(resources.of_experiment(baseline, name))
    return {}  # a commit: stages don't know which one they run for
