"""A copy of the project to kill runs in, and a view of which processes of which run live."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from processes import LIMIT_SECONDS, POLL_SECONDS, wait_for
from project import copy_project
from ruamel.yaml import YAML

from grandplus.runtime import environment

STAGES = ("download", "preprocess", "gfpush", "baselines", "train", "infer", "evaluate")
# What gets which signal: all processes of the run, the stage's main one alone, DVC alone, all as by Ctrl-C.
VICTIMS = {"group": signal.SIGKILL, "main": signal.SIGKILL, "dvc": signal.SIGKILL, "terminal": signal.SIGINT}
# Real, with a few seconds a stage; more trials than workers, so that a finished one is resumed.
SETTINGS = {"dataset": "cora", "matrix": "ppr", "trials": 3, "gfpush": {"rmax": 1e-5}, "train": {"max_epochs": 6}}
Note = Callable[[object, str, str, str, str, "list[str]", str], None]  # a line of the table
MARK = "GRANDPLUS_FAULTS_RUN"  # in the environment of each process of a run: workspace and number


class Workspace:
    """A checkout of its own with a run that nobody disturbed, to compare others with.

    Parameters
    ----------
    folder : empty, for the checkout, a cache folder and logs
    mirror : Cora's files, which then come through an empty download cache each time;
        None: the user's download cache has them
    """

    def __init__(self, folder: Path, mirror: Path | None) -> None:
        self.checkout, self.logs, self._cache = folder / "checkout", folder / "logs", folder / "cache"
        self._mirror = mirror
        self._runs = 0
        self.logs.mkdir()
        self._make_cache()
        copy_project(self.checkout, SETTINGS)
        self.seconds = self._measure()  # a stage takes
        self.undisturbed = self.files()

    def kill_and_rerun(self, stage: str, victim: str, delay: float) -> list[str] | None:
        """What is wrong after ``stage`` was killed and rerun at once; None: it ended before the kill."""
        self.stop()  # what an earlier test that failed has left
        self._forget(stage)
        killed = self.start("repro", "--single-item", stage)
        if not self._kill(killed, stage, victim, delay):
            self._check(killed)
            return None
        problems = self._rerun(stage)
        if _wait(killed) == 0:  # the main process was at its very end
            return None
        return problems + self._leftovers() + self._differences()

    def damage_and_rerun(self, stage: str, file: str, damage: Callable[[Path], None]) -> list[str]:
        """What is wrong after ``stage`` met a damaged file, and after the rerun that follows.

        The damage leaves time, size and mode as they were, as a disk's does, so DVC sees nothing of it.
        """
        self.stop()
        path = self.checkout / file
        before = path.stat()
        path.chmod(0o644)
        damage(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        path.chmod(stat.S_IMODE(before.st_mode))
        code, said = self.run("repro", "--single-item", "--force", stage), self.log.read_text()
        told = f"error: {Path(file).parent}/" in said and ": is damaged" in said and "Traceback" not in said
        unclear = [] if code and told else [f"it said {said}"]
        return unclear + self._rerun_alone()

    def run_two_at_once(self) -> list[str]:
        """What is wrong after two runs of all stages: DVC lets one in, and the other is told so or comes after it."""
        self.stop()
        self._forget(*STAGES)
        runs, logs = [], []
        for _ in range(2):
            runs.append(self.start("repro"))
            logs.append(self.log)
        codes = [_wait(run) for run in runs]
        said = "".join(log.read_text() for log in logs)
        told = codes == [0, 0] or (min(codes) == 0 and ("Unable to acquire lock" in said or "is busy" in said))
        return ([] if told else [f"they ended with {codes}: {said}"]) + self._rerun_alone()

    def run(self, *arguments: str) -> int:
        """DVC to its end; its exit code."""
        return _wait(self.start(*arguments))

    def stop(self) -> None:
        """Kill whatever of this workspace is alive."""
        for process in self.alive():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """DVC in a process group of its own, with the stages and their workers in it."""
        self._runs += 1
        command = [Path(sys.executable).with_name("dvc"), *arguments]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                command,
                cwd=self.checkout,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Ctrl-C reaches it even where this process was started in the background, and ignores that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    @property
    def log(self) -> Path:
        """What the latest run prints."""
        return self.logs / f"{self._runs}.txt"

    def alive(self, *, earlier: bool = False) -> list[psutil.Process]:
        """Processes of this workspace that run; with ``earlier`` those of the latest run left out."""
        latest = f"{self.checkout}:{self._runs}"
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):  # it is gone, or another user's
                mark = process.environ().get(MARK, "")
                if mark.rpartition(":")[0] == str(self.checkout) and not (earlier and mark == latest):
                    found.append(process)
        return found

    def files(self) -> dict[str, str]:
        """SHA-256 of each file that the stages wrote, times aside."""
        found = {}
        for folder in ("data", "reports"):
            for file in sorted((self.checkout / folder).rglob("*")):
                name = str(file.relative_to(self.checkout))
                if file.is_file() and not name.startswith(("data/catalog/", "reports/resources.")):
                    found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        return found

    def digest(self) -> str:
        """One SHA-256 for all of them."""
        return hashlib.sha256(repr(sorted(self.files().items())).encode()).hexdigest()

    def _kill(self, dvc: subprocess.Popen[bytes], stage: str, victim: str, delay: float) -> bool:
        """Kill the victim at ``delay``; False if the stage has ended by then."""
        main = _main_of(dvc, stage)
        assert main, f"{stage} was not run: {self.log.read_text()}"
        start = time.monotonic()
        with contextlib.suppress(psutil.TimeoutExpired):
            main.wait(delay)
        if not _runs_stage(main, stage):
            self.seconds[stage] = time.monotonic() - start  # the first run compiled kernels, perhaps
            return False
        if victim == "main":
            main.kill()
            return True  # and DVC is left to itself, as by a user who starts the next one at once
        os.kill(dvc.pid, signal.SIGKILL) if victim == "dvc" else os.killpg(dvc.pid, VICTIMS[victim])
        dvc.wait()  # as the user's shell does; DVC takes a zombie for alive
        return True

    def _rerun(self, stage: str) -> list[str]:
        dvc = self.start("repro")
        main = _main_of(dvc, stage)
        if main:  # those of the killed run have until it writes to notice that their parent is gone
            gone = f"the processes of the run whose {stage} was killed end"
            wait_for(lambda: not (self.alive(earlier=True) and main.is_running()) or main.pid in self._writers(), gone)
        earlier = [f"{process} of an earlier run is alive beside the rerun" for process in self.alive(earlier=True)]
        failed = [f"the rerun failed:\n{self.log.read_text()}"] if _wait(dvc) else []
        idle = [] if main else [f"the rerun did not run {stage}"]
        _, orphans = psutil.wait_procs(self.alive(), timeout=LIMIT_SECONDS)  # one that is just ending is none
        return earlier + failed + idle + [f"{process} is an orphan" for process in orphans]

    def _rerun_alone(self) -> list[str]:
        failed = [f"the rerun failed:\n{self.log.read_text()}"] if self.run("repro") else []
        return failed + self._leftovers() + self._differences()

    def _writers(self) -> set[int]:
        """Processes that hold the lock of a scratch folder."""
        inodes = {lock.stat().st_ino for lock in self._scratch.glob("*.lock")}
        held = re.findall(r"^\d+: FLOCK +\S+ +WRITE (\d+) \w+:\w+:(\d+)", Path("/proc/locks").read_text(), re.MULTILINE)
        return {int(process) for process, inode in held if int(inode) in inodes}

    def _leftovers(self) -> list[str]:
        left = [file for file in self._scratch.iterdir() if file.suffix != ".lock" and file.name != "trials"]
        left += self._scratch.glob("trials/*.partial")
        left += [file for name in ("data", "reports") for file in (self.checkout / name).rglob("*.partial")]
        return [f"{file.relative_to(self.checkout)} is left" for file in left]

    def _differences(self) -> list[str]:
        now = self.files()
        names = sorted(now.keys() | self.undisturbed.keys())
        return [f"{name} differs" for name in names if now.get(name) != self.undisturbed.get(name)]

    def _forget(self, *stages: str) -> None:
        """Make DVC forget that it ever ran these stages, so that it neither skips nor restores them."""
        lock, yaml = self.checkout / "dvc.lock", YAML()
        content = yaml.load(lock)
        for stage in stages:
            content["stages"].pop(stage, None)
        yaml.dump(content, lock)
        shutil.rmtree(self.checkout / ".dvc" / "cache" / "runs", ignore_errors=True)
        if "train" in stages:  # else a kill would meet trials that are found, and none that is trained
            shutil.rmtree(self._scratch / "trials", ignore_errors=True)
        if "download" in stages and self._mirror:
            shutil.rmtree(self._cache / "downloads", ignore_errors=True)

    def _measure(self) -> dict[str, float]:
        dvc, seconds = self.start("repro"), {}
        for stage in STAGES:
            main = _main_of(dvc, stage)
            assert main, f"{stage} was not run: {self.log.read_text()}"
            start = time.monotonic()
            main.wait(LIMIT_SECONDS)
            seconds[stage] = time.monotonic() - start
        self._check(dvc)
        return seconds

    def _check(self, dvc: subprocess.Popen[bytes]) -> None:
        assert _wait(dvc) == 0, self.log.read_text()

    @property
    def _scratch(self) -> Path:
        return self.checkout / ".grandplus" / "scratch"

    def _environment(self) -> dict[str, Any]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRANDPLUS_", "DVC_", "GIT_"))}
        clean |= {"GRANDPLUS_MIRROR": str(self._mirror)} if self._mirror else {}
        return clean | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "GRANDPLUS_CACHE": str(self._cache),
            "GRANDPLUS_DEVICE": "cpu",
            "GRANDPLUS_WORKERS": "2",  # worker processes on any machine
            MARK: f"{self.checkout}:{self._runs}",
        }

    def _make_cache(self) -> None:
        """The user's compiled kernels, but downloads apart where there is a mirror to get them from."""
        self._cache.mkdir()
        for name in ("kernels",) if self._mirror else ("kernels", "downloads"):
            (self._cache / name).symlink_to(environment.cache_folder(name))


def _main_of(dvc: subprocess.Popen[bytes], stage: str) -> psutil.Process | None:
    """The stage's main process as soon as it is there; None if DVC ends without one."""
    while dvc.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(dvc.pid).children(recursive=True):
                if _runs_stage(process, stage):
                    return process
        time.sleep(POLL_SECONDS)
    return None


def _runs_stage(process: psutil.Process, stage: str) -> bool:
    """Whether it is the stage's main process and lives: one that is ending has no command line."""
    try:
        return process.is_running() and process.cmdline()[-2:] == ["-m", f"stages.{stage}"]
    except psutil.Error:
        return False


def _wait(dvc: subprocess.Popen[bytes]) -> int:
    """Its exit code; that of a killed process if it does not end."""
    try:
        return dvc.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(dvc.pid, signal.SIGKILL)
        return dvc.wait()
