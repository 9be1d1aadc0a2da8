"""Where work runs: how many workers, in what order results come, and what dies with what."""

import math
import multiprocessing
import operator
import os
import signal
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import psutil
import pytest
from processes import PATIENCE, is_alive, python, wait_until

from grandplus.runtime import environment
from grandplus.runtime.environment import cache_folder, device, memory, workers
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.pools import map_processes, map_threads, processes
from grandplus.runtime.yaml_files import read_yaml

MAPS = pytest.mark.parametrize("parallel_map", [map_threads, map_processes])
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


@pytest.fixture(params=["1", "2", "5"])
def some_workers(request, monkeypatch) -> int:
    monkeypatch.setenv("GRANDPLUS_WORKERS", request.param)
    return int(request.param)


# --- Environment variables -------------------------------------------------------------------


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("7", 7), (" 12\n", 12), ("007", 7)])
def test_workers_are_as_many_as_wanted(monkeypatch, value, expected):
    monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    assert workers() == expected


@pytest.mark.parametrize("value", [None, "", "  "])
def test_workers_are_by_default_the_cores_that_may_be_used(monkeypatch, value):
    monkeypatch.delenv("GRANDPLUS_WORKERS", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 4, 5}, raising=False)
    assert workers() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert workers() == 6


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "1e1", "two", "1,2", "²", "+2", "0x2"])
def test_workers_that_are_no_number(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    with pytest.raises(GrandPlusError, match="expected a whole number of at least 1") as refused:
        workers()
    assert f"GRANDPLUS_WORKERS is {value!r}" in str(refused.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("8GiB", 8 * 2**30), ("500MB", 500_000_000), (" 1.5 kib\n", 1536), ("123", 123), ("2T", 2 * 10**12), ("7B", 7)],
)
def test_memory_is_what_is_allowed(monkeypatch, value, expected):
    monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    assert memory() == expected


@pytest.mark.parametrize("value", ["", "  ", None])
def test_memory_is_by_default_what_is_free(monkeypatch, value):
    monkeypatch.delenv("GRANDPLUS_MEMORY", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    assert 2**20 < memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("value", ["-1GiB", "much", "8 GiB or so", "0x10", "1e9", "GiB", "5PB"])
def test_memory_that_is_no_size(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    with pytest.raises(GrandPlusError, match="expected a size like 8GiB or 500MB") as refused:
        memory()
    assert f"GRANDPLUS_MEMORY is {value!r}" in str(refused.value)


@pytest.mark.parametrize(
    ("value", "has_gpu", "expected"),
    [
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("", False, "cpu"),
        (" cuda ", True, "cuda"),
        (None, True, "cuda"),
        (None, False, "cpu"),
    ],
)
def test_device(monkeypatch, value, has_gpu, expected):
    monkeypatch.delenv("GRANDPLUS_DEVICE", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_DEVICE", value)
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_gpu)
    assert device() == expected


@pytest.mark.parametrize("value", ["gpu", "CPU", "cuda:0", "cpu,cuda"])
def test_a_device_that_does_not_exist(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_DEVICE", value)
    with pytest.raises(GrandPlusError, match=f"GRANDPLUS_DEVICE is '{value}'; expected auto, cpu or cuda"):
        device()


def test_a_gpu_that_is_wanted_but_not_there(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(GrandPlusError, match="torch finds no usable GPU; unset it, or install a CUDA build"):
        device()


def test_the_cache_folder_is_shared_by_all_checkouts(tmp_path, monkeypatch):
    monkeypatch.delenv("GRANDPLUS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder("kernels") == tmp_path / "home/.cache/grandplus/kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder("kernels") == tmp_path / "xdg/grandplus/kernels"
    monkeypatch.setenv("GRANDPLUS_CACHE", "~/mine")
    assert cache_folder("downloads") == tmp_path / "home/mine/downloads"
    assert cache_folder("downloads").is_dir()


def test_a_cache_folder_that_can_not_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "file"))
    with pytest.raises(GrandPlusError, match="can't be made: Not a directory; set GRANDPLUS_CACHE") as refused:
        cache_folder("kernels")
    assert str(refused.value).startswith(f"{tmp_path / 'file' / 'kernels'}: ")


@pytest.mark.parametrize(
    ("own", "files"),
    [
        (  # version 2: what is left to the group and to the one around it
            "0::/batch/job",
            {
                "batch/job": {"memory.max": "max", "memory.current": "50", "memory.stat": "anon 20\nfile 30"},
                "batch": {"memory.max": "1000", "memory.current": "600", "memory.stat": "anon 500\nfile 100"},
                ".": {"memory.stat": "file 1"},  # as at the root, which has no limit
            },
        ),
        (  # version 1, in a container, which sees its own group as the root
            "5:cpu:/x\n4:memory,hugetlb:/docker/0123\n0::/",
            {
                "memory": {
                    "memory.limit_in_bytes": "1000",
                    "memory.usage_in_bytes": "600",
                    "memory.stat": "cache 1\ntotal_cache 100",
                }
            },
        ),
    ],
)
def test_limits_of_control_groups_leave_what_is_not_in_use_but_for_files(tmp_path, own, files):
    for folder, contents in files.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (tmp_path / folder / name).write_text(content + "\n")
    assert list(environment._left_by_groups(own.splitlines(), tmp_path)) == [500]


# --- Maps ------------------------------------------------------------------------------------


def test_threads_keep_the_order(some_workers):
    def square(number):
        time.sleep(0.01 * (number % 3 == 0))  # so that later ones are done earlier
        return number * number

    assert list(map_threads(square, range(100))) == [number * number for number in range(100)]


def test_processes_keep_the_order(some_workers):
    assert list(map_processes(math.isqrt, range(50))) == [math.isqrt(number) for number in range(50)]


@MAPS
def test_several_arguments_end_with_the_shortest(parallel_map, some_workers):
    assert list(parallel_map(operator.sub, [5, 7, 9], [1, 2, 3])) == [4, 5, 6]
    assert list(parallel_map(operator.sub, [5, 7, 9], [1, 2])) == [4, 5]
    assert list(parallel_map(operator.sub, [], [])) == []


def test_threads_are_as_many_as_workers(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "3")
    together = threading.Barrier(3, timeout=PATIENCE)
    # Only three at once get past the barrier.
    assert len(set(map_threads(lambda _: together.wait() >= 0 and threading.get_ident(), range(3)))) == 3


def test_processes_are_others_and_as_many_as_workers(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    found = set(map_processes(eval, ["(__import__('time').sleep(.05), __import__('os').getpid())[1]"] * 20))
    assert len(found) == 2
    assert os.getpid() not in found


def test_one_task_or_one_worker_needs_no_other_process(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "4")
    assert list(map_processes(lambda _: os.getpid(), [0])) == [os.getpid()]
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    assert list(map_processes(lambda _: os.getpid(), [0, 1])) == [os.getpid()] * 2


def test_only_a_few_tasks_wait_at_a_time(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    taken = []

    def tasks():
        for number in range(1000):
            taken.append(number)
            yield number

    results = map_threads(abs, tasks())
    assert next(results) == 0
    assert len(taken) <= 10
    results.close()
    assert len(taken) <= 10


@MAPS
def test_an_error_in_a_worker_is_raised_here(parallel_map, some_workers):
    results = parallel_map(int, ["1", "2", "three", "4"])
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ValueError, match="'three'"):
        next(results)


@MAPS
def test_an_error_of_ours_keeps_its_words(parallel_map, some_workers, tmp_path):
    files = [tmp_path / "params.yaml"] * 2
    with pytest.raises(GrandPlusError) as refused:
        list(parallel_map(read_yaml, files))
    assert str(refused.value) == f"{files[0]}: no such file; run from the top of the checkout"


def test_threads_stop_after_an_error(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    run = []

    def fails_first(number):
        run.append(number)
        if number == 0:
            raise ValueError("first")
        time.sleep(0.3)

    with pytest.raises(ValueError, match="first"):
        list(map_threads(fails_first, range(1000)))
    assert len(run) < 8  # so many wait at a time


@pytest.mark.parametrize("error", [GrandPlusError("no"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_what_others_are_at_is_not_waited_for(error):
    """This test would end in an hour."""
    tasks = []

    def work():
        with processes(2) as pool:
            tasks.append(pool.submit(time.sleep, 3600))
            assert pool.submit(abs, -1).result() == 1
            raise error

    with pytest.raises(type(error)):
        work()
    assert isinstance(tasks[0].exception(), BrokenProcessPool)
    assert multiprocessing.active_children() == []


def test_workers_that_are_stopped_leave_no_error_behind(monkeypatch):
    """Tasks that waited had been cancelled, which the pool's thread took for a mistake when it failed them."""
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    uncaught = []
    monkeypatch.setattr(threading, "excepthook", uncaught.append)
    before = set(threading.enumerate())
    results = map_processes(time.sleep, [0, *[3600] * 20])
    next(results)
    pool_threads = set(threading.enumerate()) - before
    results.close()
    for thread in pool_threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert uncaught == []


@pytest.mark.parametrize("how", ["__import__('os')._exit(3)", "__import__('os').kill(__import__('os').getpid(), 9)"])
def test_a_worker_that_is_killed_is_reported(monkeypatch, how):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    with pytest.raises(GrandPlusError, match=r"a worker process was killed, .*; set GRANDPLUS_WORKERS lower"):
        list(map_processes(eval, ["1", how, "2", "3"]))


# --- What dies with what ---------------------------------------------------------------------


def kill(*processes: int) -> None:
    """What a failed test leaves."""
    for process in filter(is_alive, processes):
        os.kill(process, signal.SIGKILL)


WORKERS = """
import os, sys, time
from grandplus.execution import map_processes

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
            wait_until(lambda: not any(map(is_alive, started)), "workers die with their parent")
        finally:
            kill(*started)


STAGE = """
import os, time
from grandplus.execution import die_with_dvc

die_with_dvc()
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
            wait_until(lambda: not is_alive(stage), "the stage dies with dvc")
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
            wait_until(lambda: not is_alive(stage), "the stage dies with dvc")
        finally:
            kill(dvc_process, stage)
