"""Runs what is queued: first the stages that experiments share, each once, then all the experiments.

DVC would run a stage of several experiments in each of them, if they run side by side or if its cache lacks the graph
of the last commit. Here both are in its cache before, and the experiments find them there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grandplus.pipeline import usage
from grandplus.pipeline.card import CATALOG, PARAMS
from grandplus.pipeline.repository import check_git, open_repo
from grandplus.pipeline.yaml_files import yaml_mapping
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.storage import locked

SHARED = (
    "dataset",
    "model",
    "matrix",
    "seed",
    "trials",
    "synthetic",
    "preprocess",
    "gfpush",
)  # settings of the stages before training
CLONE = Path(".grandplus/queue")
POLL_SECONDS = 1.0
QUIET_POLLS = 30  # without any sign of a worker or of an experiment, until the queue is given up


@dataclass(frozen=True)
class Queued:
    """An experiment that waits.

    Attributes
    ----------
    name : str
    revision : str
        Its commit.
    settings : dict
        What its params.yaml has.
    taken : Path
        The file that says what its stages took.
    """

    name: str
    revision: str
    settings: dict[str, Any]
    taken: Path


def run_queue(jobs: int) -> bool:
    """Run all queued experiments, and print how each ends.

    Parameters
    ----------
    jobs : int
        Experiments side by side.

    Returns
    -------
    bool
        Whether one failed.

    Raises
    ------
    GrandPlusError
        There is no repository of DVC or of Git here or nothing is queued, a card is not in git, or no worker is left.
    """
    if jobs < 1:
        raise ArgumentError(f"--jobs is {jobs}", expected="at least 1")
    repo = open_repo()
    check_git(repo)
    queue = repo.experiments.celery_queue
    queued = [_queued(entry) for entry in queue.iter_queued()]
    if not queued:
        raise GrandPlusError("nothing is queued", fix="queue experiments with dvc exp run --queue")
    check_cards_in_git(queued)
    start = time.monotonic()
    CLONE.parent.mkdir(exist_ok=True)
    with locked(CLONE.with_suffix(".lock")):
        count = run_shared_stages(queued, repo.cache.local_cache_dir)
    shared = time.monotonic()
    print(f"rows of {count} settings, for {len(queued)} experiments: {shared - start:.0f} s", flush=True)
    subprocess.run([sys.executable, "-m", "dvc", "queue", "start", "--jobs", str(jobs)], check=True)
    failed = wait_for({experiment.revision: experiment.name for experiment in queued}, queue)
    seconds = time.monotonic() - shared
    print(f"{len(queued)} experiments: {seconds:.0f} s, {seconds / len(queued):.1f} s each")
    return failed


def read_settings(revision: str) -> dict[str, Any]:
    """What params.yaml has in a commit.

    Parameters
    ----------
    revision : str

    Raises
    ------
    GrandPlusError
        It is no YAML mapping.
    """
    command = ["git", "show", f"{revision}:{PARAMS}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return yaml_mapping(text, f"{PARAMS} of {revision[:7]}")


def check_cards_in_git(queued: list[Queued]) -> None:
    """Refuse experiments whose card is here but not in their commit: they run in a copy of that.

    If a card is nowhere, DVC says so when the experiment's turn comes, and the others are run.

    Parameters
    ----------
    queued : list of Queued

    Raises
    ------
    GrandPlusError
        A card is not in git.
    """
    lacking: dict[Path, list[str]] = {}
    for experiment in queued:
        card = CATALOG / f"{experiment.settings.get('dataset')}.yaml"
        known = ["git", "cat-file", "-e", f"{experiment.revision}:{card}"]
        if card.exists() and subprocess.run(known, capture_output=True).returncode:
            lacking.setdefault(card, []).append(experiment.name)
    for card, names in lacking.items():
        fix = f"git add {card}, git commit it, dvc queue remove {' '.join(names)}, and queue them again"
        raise GrandPlusError(f"is not in git, so {', '.join(names)} would lack it", where=card, fix=fix)


def run_shared_stages(queued: list[Queued], cache: str) -> int:
    """Run the stages before training in a clone that shares DVC's cache, once for equal settings.

    What fails here fails again when its turn comes, and must not keep the others from theirs.

    Parameters
    ----------
    queued : list of Queued
    cache : str
        The folder of DVC's cache.

    Returns
    -------
    int
        How many different settings there are.
    """
    shutil.rmtree(CLONE, ignore_errors=True)  # of a run that was killed
    _run("git", "clone", "--quiet", "--shared", "--no-checkout", ".", str(CLONE))
    distinct: dict[str, list[Queued]] = {}
    for experiment in queued:
        distinct.setdefault(str([experiment.settings.get(key) for key in SHARED]), []).append(experiment)
    try:
        # The last commit's graph first: without it DVC can't restore another one's rows for an experiment.
        _run_stages("HEAD", cache, "preprocess")
        for number, alike in enumerate(distinct.values(), 1):
            print(f"rows of {number} of {len(distinct)} settings: {_names(alike)}", flush=True)
            _make_rows(alike, cache)
    finally:
        shutil.rmtree(CLONE, ignore_errors=True)
    return len(distinct)


def wait_for(names: dict[str, str], queue: Any) -> bool:
    """Wait until all experiments have ended, and print how each ends.

    Parameters
    ----------
    names : dict of {str: str}
        Of the experiments, by their commits.
    queue : LocalCeleryQueue
        DVC's.

    Returns
    -------
    bool
        Whether one failed.

    Raises
    ------
    GrandPlusError
        The rest won't be run: they were taken from the queue, or no worker is left.
    """
    left, failed, quiet = dict(names), False, 0
    while left:
        time.sleep(POLL_SECONDS)
        status = {task["rev"]: task["status"] for task in queue.status()}
        for revision in [revision for revision in left if status.get(revision) in ("Success", "Failed")]:
            name = left.pop(revision)
            print(f"{len(names) - len(left)} of {len(names)}, {name}: {status[revision]}", flush=True)
            if status[revision] == "Failed":
                failed = True
                print(f"why: dvc queue logs {name}", flush=True)
        at_work = left.keys() & status.keys() and queue.worker_status()
        quiet = 0 if at_work else quiet + 1
        if left and quiet >= QUIET_POLLS:
            fix = "run grandplus queue again" if left.keys() & status.keys() else "queue them again"
            raise GrandPlusError(f"{', '.join(left.values())} won't be run: no longer queued, or no worker", fix=fix)
    return failed


def _queued(entry: Any) -> Queued:
    taken = usage.of_experiment(entry.baseline_rev, entry.name or "")
    return Queued(entry.name or entry.stash_rev[:7], entry.stash_rev, read_settings(entry.stash_rev), taken)


def _names(queued: list[Queued]) -> str:
    return ", ".join(experiment.name for experiment in queued)


def _make_rows(alike: list[Queued], cache: str) -> None:
    """Run the stages before training of experiments with the same rows, and note for each what they took."""
    taken = CLONE / usage.LAST
    taken.unlink(missing_ok=True)
    if not _run_stages(alike[0].revision, cache, "gfpush", "baselines"):
        print(f"{_names(alike)}: no rows can be made, so it will fail; the others go on", flush=True)
    for experiment in alike:
        for stage, took in usage.read(taken).items():
            usage.add(experiment.taken, stage, took)


def _run_stages(revision: str, cache: str, *stages: str) -> bool:
    _run("git", "checkout", "--quiet", "--detach", "--force", revision, folder=CLONE)
    _run(sys.executable, "-m", "dvc", "config", "--local", "cache.dir", cache, folder=CLONE)
    return _code(sys.executable, "-m", "dvc", "repro", "--quiet", *stages, folder=CLONE) == 0


def _run(*command: str, folder: Path = Path()) -> None:
    if _code(*command, folder=folder):
        raise GrandPlusError(f"{' '.join(command[-3:])} failed", fix="see above; the experiments stay queued")


def _code(*command: str, folder: Path) -> int:
    # As DVC has it for experiments: unfinished work and relative paths are those of the main checkout.
    return subprocess.run(command, cwd=folder, env=os.environ | {"DVC_ROOT": str(Path.cwd())}).returncode
