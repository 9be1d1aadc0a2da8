"""Results of runs by the names that ``dvc exp show`` has for them, read through DVC, so from its cache too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from dvc.api import DVCFileSystem
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.scm import NoSCM
from scmrepo.exceptions import RevError

from grandplus.pipeline import usage
from grandplus.pipeline.evaluated import check_one_run
from grandplus.pipeline.repository import check_git, open_repo
from grandplus.report.read import details_of, findings_of, metrics_of
from grandplus.report.run import Run
from grandplus.report.workspace import notes_on_workspace
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sums import SUMS
from grandplus.runtime.validation import did_you_mean

WORKSPACE = "workspace"
DIAGNOSIS = "reports/diagnosis.json"
Experiments: TypeAlias = dict[str, dict[str, str]]  # by name, their commits, by the commit that each is based on


def gather(names: Sequence[str]) -> list[Run]:
    """Read the results of runs.

    Parameters
    ----------
    names : sequence of str
        Of experiments or Git revisions; none stands for the workspace.

    Raises
    ------
    GrandPlusError
        There is no such run, it has no results, or its name means two things; there is no repository here.
    """
    repeated = [name for number, name in enumerate(names) if name in names[:number]]
    if repeated:
        raise GrandPlusError(f"{repeated[0]} is named twice", expected="each run once")
    with open_repo() as repo:
        if names:
            check_git(repo, fix="name no run: that is the workspace")
        experiments = _experiments(repo)
        return [_read(repo, name, experiments) for name in names or [WORKSPACE]]


def _read(repo: Repo, name: str, experiments: Experiments) -> Run:
    """Read one run."""
    revision, commits = None if name == WORKSPACE else name, experiments.get(name, {})
    _check_one_meaning(repo, name, commits)
    try:
        files = DVCFileSystem(rev=revision)
        texts = {file: _text(files, name, f"reports/{file}") for file in ("details.json", "metrics.json")}
        details, metrics = details_of(*texts["details.json"]), metrics_of(*texts["metrics.json"])
        if revision and files.exists(f"reports/{SUMS}"):  # results of older code have none
            sums, _ = _text(files, name, f"reports/{SUMS}")
            check_one_run(sums.encode(), {file: text.encode() for file, (text, _) in texts.items()}, name)
        diagnosed = files.exists(DIAGNOSIS)
        findings = findings_of(*_text(files, name, DIAGNOSIS)) if diagnosed else None
    except DvcException as error:
        raise _unknown(repo, name, error, experiments) from None
    if revision:
        # A Git commit has no times, as stages don't know which one they run for.
        taken = [usage.read(usage.of_experiment(baseline, name)) for baseline in commits]
        return Run(name, details, metrics, taken[0] if taken else {}, findings)
    notes = notes_on_workspace()
    taken_here = {} if notes else usage.read(usage.LAST)  # else some are of another run
    return Run(name, details, metrics, taken_here, findings, notes)


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


def _experiments(repo: Repo) -> Experiments:
    """All experiments; this takes DVC seconds."""
    commits: Experiments = {}
    if not isinstance(repo.scm, NoSCM):
        for baseline, experiments in repo.experiments.ls(all_commits=True).items():
            for name, revision in experiments:
                commits.setdefault(name, {})[baseline] = revision
    return commits


def _check_one_meaning(repo: Repo, name: str, commits: dict[str, str]) -> None:
    if not commits:
        return
    if len(commits) > 1:
        raise _several(repo, name, commits)
    other = "the workspace" if name == WORKSPACE else ""
    with contextlib.suppress(RevError):
        if repo.scm.resolve_rev(name) not in commits.values():
            other = "a Git revision"
    if other:
        meanings = f"{name} is the name of an experiment and of {other}"
        raise GrandPlusError(meanings, expected="a name of its own", fix=f"dvc exp rename {name} to another name")


def _several(repo: Repo, name: str, commits: dict[str, str]) -> GrandPlusError:
    """For a name of several experiments; DVC renames the one on the present commit, if it has one."""
    present = repo.scm.get_rev()
    said = [
        f"{revision[:7]} on {'the present ' * (base == present)}commit {base[:7]}" for base, revision in commits.items()
    ]
    fix = f"name one by its hash, as {next(iter(commits.values()))[:7]}"
    if present in commits:
        fix += f", or dvc exp rename {name} to another name, which renames the one on the present commit"
    meanings = f"{name} is the name of {len(commits)} experiments: {', '.join(said)}"
    return GrandPlusError(meanings, expected="the name of one", fix=fix)


def _unknown(repo: Repo, name: str, error: DvcException, known: Iterable[str]) -> GrandPlusError:
    for task in repo.experiments.celery_queue.status():
        if name in (task["name"], task["rev"][:7]):
            fix = {"Failed": f"see dvc queue logs {name}", "Queued": "grandplus queue runs it"}
            state = "has failed" if task["status"] == "Failed" else f"has no results: it is {task['status'].lower()}"
            return GrandPlusError(state, where=name, fix=fix.get(task["status"], "wait for its end"))
    nearest = did_you_mean(name, [*known, WORKSPACE])
    where, listed = name or "a run without a name", "grandplus experiments lists all experiments"
    return GrandPlusError(f"{error}", where=where, fix=f"{nearest} {listed}")
