"""Work over threads and processes: in what order results come, how many wait, and what ends with an error."""

import math
import multiprocessing
import operator
import os
import signal
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import pytest
from processes import LIMIT_SECONDS, meet

from grandplus.pipeline.yaml_files import read_yaml
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.pools import map_processes, map_threads, processes

MAPS = pytest.mark.parametrize("parallel_map", [map_threads, map_processes])


@pytest.fixture(params=["1", "2", "5"])
def some_workers(request, monkeypatch) -> int:
    monkeypatch.setenv("GRANDPLUS_WORKERS", request.param)
    return int(request.param)


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
    together = threading.Barrier(3, timeout=LIMIT_SECONDS)
    # Only three at once get past the barrier.
    assert len(set(map_threads(lambda _: together.wait() >= 0 and threading.get_ident(), range(3)))) == 3


def test_processes_are_others_and_as_many_as_workers(monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    # Each task ends only when two processes have begun one.
    ids = set(map_processes(meet, [tmp_path] * 6, [2] * 6))
    assert len(ids) == 2
    assert os.getpid() not in ids


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
    begun = []

    def fails_first(number):
        begun.append(number)
        if number == 0:
            raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        list(map_threads(fails_first, range(1000)))
    assert set(begun) <= set(range(8))  # so many wait at a time


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


def test_ctrl_c_is_left_to_the_parent(tmp_path, capfd):
    """A terminal sends it to all processes: a worker that waited for a task ended with "Process SpawnProcess-1:"."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with processes(2) as pool:
        workers = set(pool.map(meet, [tmp_path / "first"] * 2, [2] * 2))
        for worker in workers:
            os.kill(worker, signal.SIGINT)
        assert set(pool.map(meet, [tmp_path / "second"] * 2, [2] * 2)) == workers
    assert capfd.readouterr().err == ""


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
        thread.join(LIMIT_SECONDS)
        assert not thread.is_alive()
    assert uncaught == []


@pytest.mark.parametrize("how", ["__import__('os')._exit(3)", "__import__('os').kill(__import__('os').getpid(), 9)"])
def test_a_worker_that_is_killed_is_reported(monkeypatch, how):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    with pytest.raises(GrandPlusError, match=r"a worker process was killed, .*; set GRANDPLUS_WORKERS lower"):
        list(map_processes(eval, ["1", how, "2", "3"]))
