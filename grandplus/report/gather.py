"""What runs left, by the names that ``dvc exp show`` has for them: read through DVC, so from its cache too."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dvc.api import DVCFileSystem
from dvc.exceptions import DvcException, NotDvcRepoError
from dvc.repo import Repo
from dvc.scm import NoSCM
from scmrepo.exceptions import RevError

from grandplus.pipeline import usage
from grandplus.pipeline.usage import Taken
from grandplus.report.read import details_of, metrics_of
from grandplus.runtime.errors import GrandPlusError

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
    def settings(self) -> dict[str, Any]:
        """Those that differ from the card's, and a seed that isn't 0."""
        seed = {"seed": self.details["run"]["seed"]} if self.details["run"]["seed"] else {}
        return seed | {key: used for key, (_, used) in self.details["changed"].items()}

    @property
    def subject(self) -> tuple[object, ...]:
        """What its accuracy is of: runs of different ones can't be compared. Whatever the card is called."""
        graph = self.details["graph"]
        facts = tuple(graph.get(name) for name in ("nodes", "edges", "classes", "unlabelled_nodes"))
        return (*facts, self.details["judged_by"])

    @property
    def pairs(self) -> list[tuple[object, ...]]:
        """What each trial was made from: trials of two runs with the same one can be compared one by one."""
        return [(self.details["run"]["seed"], split) for split in self.details["splits"]]


def gather(names: Sequence[str]) -> list[Run]:
    """Read runs by the names of experiments or Git revisions; none: the workspace.

    Raises
    ------
    GrandPlusError : there is no such run, it has no results, or its name says two things.
    """
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise GrandPlusError(f"{twice[0]} is named twice", expected="each run once")
    try:
        with Repo() as repo:
            if names and isinstance(repo.scm, NoSCM):
                raise GrandPlusError("there is no Git repository here", fix="name no run: that is the workspace")
            experiments = _experiments(repo)
            return [_read(repo, name, experiments.get(name, {})) for name in names or [WORKSPACE]]
    except NotDvcRepoError as error:
        raise GrandPlusError(f"{error}", fix="run from the top of the checkout") from None


def _read(repo: Repo, name: str, experiments: dict[str, str]) -> Run:
    """experiments : those of that name, their commits by what they are based on."""
    revision = None if name == WORKSPACE else name
    _refuse_two_meanings(repo, name, experiments)
    try:
        files = DVCFileSystem(rev=revision)
        details = details_of(*_text(files, name, "reports/details.json"))
        metrics = metrics_of(*_text(files, name, "reports/metrics.json"))
    except DvcException as error:
        raise _unknown(repo, name, error) from None
    # A commit has none, as stages don't know which one they run for.
    taken = [usage.read(usage.of_experiment(baseline, name)) for baseline in experiments]
    return Run(name, details, metrics, taken[0] if taken else {} if revision else usage.read(usage.LAST))


def _text(files: DVCFileSystem, name: str, file: str) -> tuple[str, str]:
    where = f"{file} of {name}"
    try:
        return files.read_text(file, encoding="utf-8"), where
    except FileNotFoundError:
        fix = "run dvc repro first"
        if name != WORKSPACE:
            fix = "it never finished, or DVC's cache here lacks its results: dvc pull, or run it again"
        raise GrandPlusError("no such file", where=where, fix=fix) from None
    except ValueError as error:
        raise GrandPlusError(f"is no text: {error}", where=where, fix="run it again") from None


def _experiments(repo: Repo) -> dict[str, dict[str, str]]:
    """By name, their commits by what they are based on; DVC takes its time to list them."""
    found: dict[str, dict[str, str]] = {}
    if not isinstance(repo.scm, NoSCM):
        for baseline, experiments in repo.experiments.ls(all_commits=True).items():
            for name, revision in experiments:
                found.setdefault(name, {})[baseline] = revision
    return found


def _refuse_two_meanings(repo: Repo, name: str, experiments: dict[str, str]) -> None:
    if not experiments:
        return
    other = "the workspace" if name == WORKSPACE else ""
    with contextlib.suppress(RevError):
        if repo.scm.resolve_rev(name) not in experiments.values():
            other = "a Git revision"
    if len(experiments) > 1:
        other = f"one on commit {list(experiments)[1][:7]}"
    if other:
        found = f"{name} is an experiment, and {other} too"
        raise GrandPlusError(found, expected="one thing of a name", fix=f"dvc exp rename {name} to another name")


def _unknown(repo: Repo, name: str, error: DvcException) -> GrandPlusError:
    for task in repo.experiments.celery_queue.status():
        if name in (task["name"], task["rev"][:7]):
            fix = {"Failed": f"see dvc queue logs {name}", "Queued": "python -m experiments.queue runs it"}
            found = "has failed" if task["status"] == "Failed" else f"has no results: it is {task['status'].lower()}"
            return GrandPlusError(found, where=name, fix=fix.get(task["status"], "wait for its end"))
    return GrandPlusError(f"{error}", where=name or "a run without a name", fix="dvc exp show has the names")
