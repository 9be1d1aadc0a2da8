"""Runs what is queued: first the stages that experiments share, each once, then all the experiments.

    dvc exp run --queue -S 'train.lr=0.01,0.001'
    python -m experiments.queue

DVC would run a stage of several experiments in each of them, if they are side by side or if its cache lacks the last
commit's graph. Here both are in its cache by then, and experiments find them there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvc.exceptions import NotDvcRepoError
from dvc.repo import Repo
from ruamel.yaml import YAML

from grandplus.pipeline import usage
from grandplus.pipeline.ending import ending
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import locked

# Settings of the stages to gfpush.
SHARED = ("dataset", "matrix", "seed", "trials", "synthetic", "preprocess", "gfpush")
CLONE = Path(".grandplus/queue")
POLL_SECONDS = 1.0
PATIENCE = 30  # polls without any sign of a worker, or of an experiment


@dataclass(frozen=True)
class Queued:
    """An experiment that waits.

    settings : what its params.yaml has
    noted : where it is noted what its stages took
    """

    name: str
    revision: str
    settings: dict[str, Any]
    noted: Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="experiments side by side, each with GRANDPLUS_WORKERS")
    jobs = parser.parse_args().jobs
    words = "what is queued stays so, and what has begun goes on: see dvc queue status, dvc queue stop"
    return ending(lambda: run(jobs), words)


def run(jobs: int) -> int:
    """Run the queue to its end; 1 if an experiment failed."""
    if jobs < 1:
        raise GrandPlusError(f"--jobs is {jobs}", expected="at least 1")
    try:
        repo = Repo()
    except NotDvcRepoError:
        raise GrandPlusError("is no DVC project", where=Path.cwd(), fix="run from the top of the checkout") from None
    queue = repo.experiments.celery_queue
    queued = [
        Queued(entry.name or entry.stash_rev[:7], entry.stash_rev, read_settings(entry.stash_rev), noted)
        for entry in queue.iter_queued()
        for noted in [usage.of_experiment(entry.baseline_rev, entry.name or "")]
    ]
    if not queued:
        raise GrandPlusError("nothing is queued", fix="queue experiments with dvc exp run --queue")
    refuse_cards_that_git_lacks(queued)
    start = time.monotonic()
    CLONE.parent.mkdir(exist_ok=True)
    with locked(CLONE.with_suffix(".lock")):
        count = run_shared_stages(queued, repo.cache.local_cache_dir)
    shared = time.monotonic()
    print(f"rows of {count} settings, for {len(queued)} experiments: {shared - start:.0f} s", flush=True)
    subprocess.run([sys.executable, "-m", "dvc", "queue", "start", "--jobs", str(jobs)], check=True)
    failed = wait_for({of.revision: of.name for of in queued}, queue)
    seconds = time.monotonic() - shared
    print(f"{len(queued)} experiments: {seconds:.0f} s, {seconds / len(queued):.1f} s each")
    return int(failed)


def read_settings(revision: str) -> dict[str, Any]:
    """What params.yaml has in a revision."""
    text = subprocess.run(["git", "show", f"{revision}:params.yaml"], check=True, capture_output=True, text=True).stdout
    settings: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return settings


def refuse_cards_that_git_lacks(queued: list[Queued]) -> None:
    """An experiment is a copy of what git knew when it was queued: the card must be in it.

    Of a card that isn't anywhere DVC tells when the experiment's turn comes, and the others are run.
    """
    lacking: dict[Path, list[str]] = {}
    for of in queued:
        card = Path(f"data/catalog/{of.settings.get('dataset')}.yaml")
        known = ["git", "cat-file", "-e", f"{of.revision}:{card}"]
        if card.exists() and subprocess.run(known, capture_output=True).returncode:
            lacking.setdefault(card, []).append(of.name)
    for card, names in lacking.items():
        fix = f"git add {card}, git commit it, dvc queue remove {' '.join(names)}, and queue them again"
        raise GrandPlusError(f"is not in git, so {', '.join(names)} would lack it", where=card, fix=fix)


def run_shared_stages(queued: list[Queued], cache: str) -> int:
    """Run the stages up to gfpush in a clone that shares DVC's cache, once for equal settings; how many those are.

    What fails here will fail again when its turn comes, and is no reason to keep others from theirs.
    """
    shutil.rmtree(CLONE, ignore_errors=True)  # of a run that was killed
    _run("git", "clone", "--quiet", "--shared", "--no-checkout", ".", str(CLONE))
    distinct: dict[str, list[Queued]] = {}
    for of in queued:
        distinct.setdefault(str([of.settings.get(key) for key in SHARED]), []).append(of)
    try:
        # The last commit's graph first: without it DVC can't restore another one's rows for an experiment.
        _run_stage("preprocess", "HEAD", cache)
        for number, alike in enumerate(distinct.values(), 1):
            names = ", ".join(of.name for of in alike)
            print(f"rows of {number} of {len(distinct)} settings: {names}", flush=True)
            taken = CLONE / usage.LAST
            taken.unlink(missing_ok=True)
            if not _run_stage("gfpush", alike[0].revision, cache):
                print(f"{names}: no rows can be made, so it will fail; the others go on", flush=True)
            for of in alike:
                for stage, took in usage.read(taken).items():
                    usage.add(of.noted, stage, took)
    finally:
        shutil.rmtree(CLONE, ignore_errors=True)
    return len(distinct)


def wait_for(names: dict[str, str], queue: Any) -> bool:
    """Tell how each experiment ends, by its revision; whether one failed.

    Raises
    ------
    GrandPlusError : the rest won't be run: they were taken from the queue, or no worker is left.
    """
    left, failed, quiet = dict(names), False, 0
    while left:
        time.sleep(POLL_SECONDS)
        status = {task["rev"]: task["status"] for task in queue.status()}
        for revision in [of for of in left if status.get(of) in ("Success", "Failed")]:
            name = left.pop(revision)
            print(f"{len(names) - len(left)} of {len(names)}, {name}: {status[revision]}", flush=True)
            if status[revision] == "Failed":
                failed = True
                print(f"why: dvc queue logs {name}", flush=True)
        at_work = left.keys() & status.keys() and queue.worker_status()
        quiet = 0 if at_work else quiet + 1
        if left and quiet >= PATIENCE:
            fix = "run python -m experiments.queue again" if left.keys() & status.keys() else "queue them again"
            raise GrandPlusError(f"{', '.join(left.values())} won't be run: no longer queued, or no worker", fix=fix)
    return failed


def _run_stage(stage: str, revision: str, cache: str) -> bool:
    _run("git", "checkout", "--quiet", "--detach", "--force", revision, folder=CLONE)
    _run(sys.executable, "-m", "dvc", "config", "--local", "cache.dir", cache, folder=CLONE)
    return _code(sys.executable, "-m", "dvc", "repro", "--quiet", stage, folder=CLONE) == 0


def _run(*command: str, folder: Path = Path()) -> None:
    if _code(*command, folder=folder):
        raise GrandPlusError(f"{' '.join(command[-3:])} failed", fix="see above; the experiments stay queued")


def _code(*command: str, folder: Path) -> int:
    # As DVC has it for experiments: unfinished work and relative paths are those of the main checkout.
    return subprocess.run(command, cwd=folder, env=os.environ | {"DVC_ROOT": str(Path.cwd())}).returncode


if __name__ == "__main__":
    sys.exit(main())
