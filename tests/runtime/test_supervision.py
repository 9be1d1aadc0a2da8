"""Which processes end with which: workers with their parent, a stage with the DVC that started it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from processes import is_alive, python, wait_for

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


def kill(*processes: int) -> None:
    """What a failed test leaves."""
    for process in filter(is_alive, processes):
        os.kill(process, signal.SIGKILL)


WORKERS = """
import os, sys, time
from grandplus.runtime.pools import map_processes

def work(number):
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    list(map_processes(work, range(2)))
"""


@needs_proc
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_worker_processes_die_with_their_parent(tmp_path, sent):
    script = tmp_path / "parent.py"
    script.write_text(WORKERS)
    with python(script, GRANDPLUS_WORKERS="2") as parent:
        started = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(is_alive(worker) for worker in started)
        assert len({parent.pid, *started}) == 3
        parent.send_signal(sent)
        parent.wait()
        try:
            wait_for(lambda: not any(map(is_alive, started)), "workers die with their parent")
        finally:
            kill(*started)


STAGE = """
import os, time
from grandplus.runtime.supervision import end_with_starter

if "DVC_STAGE" in os.environ:
    end_with_starter()
print(os.getpid(), flush=True)
time.sleep(600)
"""
# What DVC does: run the stage's command in the user's shell, with DVC_STAGE set.
DVC = """
import os, subprocess, sys
environment = os.environ | ({"DVC_STAGE": "train"} if sys.argv[1] == "dvc" else {})
subprocess.run([os.environ["SHELL"], "-c", sys.argv[2]], env=environment)
"""
BETWEEN = {"no shell between": "exec {}", "a shell between": "{}; exit $?"}


@pytest.fixture
def dvc(tmp_path):
    """Something that runs a stage as DVC does, under DVC's name: ``dvc("dvc", "exec {}")``."""
    (tmp_path / "stage.py").write_text(STAGE)
    script = tmp_path / "dvc"
    script.write_text(f"#!{sys.executable}\n{DVC}")
    script.chmod(0o755)
    command = f"'{sys.executable}' '{tmp_path / 'stage.py'}'"
    return lambda starter, form: python(script, starter, form.format(command), SHELL="/bin/sh")


@needs_proc
@pytest.mark.parametrize("form", BETWEEN.values(), ids=BETWEEN.keys())
def test_a_stage_dies_with_dvc(dvc, form):
    with dvc("dvc", form) as process:
        stage = int(process.stdout.readline())
        time.sleep(0.3)
        assert is_alive(stage)
        process.kill()
        process.wait()
        try:
            wait_for(lambda: not is_alive(stage), "the stage dies with dvc")
        finally:
            kill(stage)


@needs_proc
@pytest.mark.parametrize("form", BETWEEN.values(), ids=BETWEEN.keys())
def test_a_stage_started_by_hand_outlives_what_started_it(dvc, form):
    with dvc("hand", form) as process:
        stage = int(process.stdout.readline())
        process.kill()
        process.wait()
        time.sleep(0.5)
        try:
            assert is_alive(stage)
        finally:
            kill(stage)


LAUNCHER = """
import subprocess, sys, time
dvc = subprocess.Popen(sys.argv[1:])  # by its own name, as a user's shell does
print(dvc.pid, flush=True)
time.sleep(600)
"""


@needs_proc
@pytest.mark.parametrize("form", BETWEEN.values(), ids=BETWEEN.keys())
@pytest.mark.usefixtures("dvc")
def test_a_stage_outlives_the_terminal_that_dvc_was_started_from(tmp_path, form):
    # As with `nohup dvc repro &` and a log-out: DVC goes on, under another parent.
    launcher = tmp_path / "launcher.py"
    launcher.write_text(LAUNCHER)
    command = form.format(f"'{sys.executable}' '{tmp_path / 'stage.py'}'")
    with python(launcher, tmp_path / "dvc", "dvc", command, SHELL="/bin/sh") as terminal:
        dvc_process, stage = (int(terminal.stdout.readline()) for _ in range(2))
        try:
            terminal.kill()
            time.sleep(0.5)
            assert is_alive(dvc_process)
            assert is_alive(stage)
            os.kill(dvc_process, signal.SIGKILL)
            wait_for(lambda: not is_alive(stage), "the stage dies with dvc")
        finally:
            kill(dvc_process, stage)
