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
from pathlib import Path
from typing import Any

from dvc.exceptions import NotDvcRepoError
from dvc.repo import Repo
from ruamel.yaml import YAML

from experiments.ending import ending
from grandplus import resources
from grandplus.errors import GrandPlusError
from grandplus.scratch import locked

# Settings of the stages to gfpush.
SHARED = ("dataset", "matrix", "seed", "trials", "synthetic", "preprocess", "gfpush")
CLONE = Path(".grandplus/queue")
POLL_SECONDS = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="experiments side by side, each with GRANDPLUS_WORKERS")
    jobs = parser.parse_args().jobs
    return ending(lambda: run(jobs), "experiments that have begun go on: see dvc queue status, dvc queue stop")


def run(jobs: int) -> int:
    """Run the queue to its end; 1 if an experiment failed."""
    if jobs < 1:
        raise GrandPlusError(f"--jobs is {jobs}", expected="at least 1")
    try:
        repo = Repo()
    except NotDvcRepoError:
        raise GrandPlusError("is no DVC project", where=Path.cwd(), fix="run from the top of the checkout") from None
    queue = repo.experiments.celery_queue
    noted = {entry.stash_rev: resources.of_experiment(entry.baseline_rev, entry.name) for entry in queue.iter_queued()}
    queued = noted.keys()
    if not queued:
        raise GrandPlusError("nothing is queued", fix="queue experiments with dvc exp run --queue")
    settings = {revision: read_settings(revision) for revision in sorted(queued)}
    refuse_unknown_cards(settings)
    start = time.monotonic()
    CLONE.parent.mkdir(exist_ok=True)
    with locked(CLONE.with_suffix(".lock")):
        count = run_shared_stages(repo, settings, noted)
    shared = time.monotonic()
    print(f"rows of {count} settings, for {len(queued)} experiments: {shared - start:.0f} s", flush=True)
    subprocess.run([sys.executable, "-m", "dvc", "queue", "start", "--jobs", str(jobs)], check=True)
    ended: dict[str, str] = {}
    while queued - ended.keys():
        time.sleep(POLL_SECONDS)
        for task in queue.status():
            if task["rev"] in queued - ended.keys() and task["status"] in ("Success", "Failed"):
                ended[task["rev"]] = task["status"]
                name = task["name"] or task["rev"][:7]
                print(f"{len(ended)} of {len(queued)}, {name}: {task['status']}", flush=True)
                if task["status"] == "Failed":
                    print(f"why: dvc queue logs {name}", flush=True)
    seconds = time.monotonic() - shared
    print(f"{len(queued)} experiments: {seconds:.0f} s, {seconds / len(queued):.1f} s each")
    return int("Failed" in ended.values())


def refuse_unknown_cards(queued: dict[str, Any]) -> None:
    """An experiment is a copy of what git knew when it was queued: the card must be in it."""
    for revision, settings in queued.items():
        card = f"data/catalog/{settings.get('dataset')}.yaml"
        if subprocess.run(["git", "cat-file", "-e", f"{revision}:{card}"], capture_output=True).returncode:
            fix = f"git add {card}, git commit it, empty the queue with dvc queue remove --all, and queue them again"
            raise GrandPlusError("is not in git, so queued experiments lack it", where=card, fix=fix)


def read_settings(revision: str) -> dict[str, Any]:
    """What params.yaml has in a revision."""
    text = subprocess.run(["git", "show", f"{revision}:params.yaml"], check=True, capture_output=True, text=True).stdout
    settings: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return settings


def run_shared_stages(repo: Repo, queued: dict[str, Any], noted: dict[str, Path]) -> int:
    """Run the stages up to gfpush in a clone that shares DVC's cache, once for equal settings; how many those are.

    queued : params.yaml of each experiment, by revision
    noted : where it is noted what their stages took
    """
    shutil.rmtree(CLONE, ignore_errors=True)  # of a run that was killed
    _run("git", "clone", "--quiet", "--shared", "--no-checkout", ".", str(CLONE))
    try:
        # The last commit's graph first: without it DVC can't restore another one's rows for an experiment.
        _run_stage("preprocess", "HEAD", repo.cache.local_cache_dir)
        distinct: dict[str, list[str]] = {}
        for revision, of in queued.items():
            distinct.setdefault(str([of.get(key) for key in SHARED]), []).append(revision)
        for revisions in distinct.values():
            taken = CLONE / resources.LAST
            taken.unlink(missing_ok=True)
            _run_stage("gfpush", revisions[0], repo.cache.local_cache_dir)
            for revision in revisions:
                for stage, took in resources.read(taken).items():
                    resources.add(noted[revision], stage, took)
    finally:
        shutil.rmtree(CLONE, ignore_errors=True)
    return len(distinct)


def _run_stage(stage: str, revision: str, cache: str) -> None:
    _run("git", "checkout", "--quiet", "--detach", "--force", revision, folder=CLONE)
    _run(sys.executable, "-m", "dvc", "config", "--local", "cache.dir", cache, folder=CLONE)
    _run(sys.executable, "-m", "dvc", "repro", stage, folder=CLONE)


def _run(*command: str, folder: Path = Path()) -> None:
    # As DVC has it for experiments: unfinished work and relative paths are those of the main checkout.
    if subprocess.run(command, cwd=folder, env=os.environ | {"DVC_ROOT": str(Path.cwd())}).returncode:
        raise GrandPlusError(f"{' '.join(command[-3:])} failed", fix="see above; the experiments stay queued")


if __name__ == "__main__":
    sys.exit(main())
