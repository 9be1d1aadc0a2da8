"""The pipeline's work on a Dask cluster: a real scheduler and two worker processes on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import CHECKOUT, LIMIT_SECONDS, is_alive, wait_for
from stages_in_process import make_graph_folders, run_stage

from grandplus.graph.adjacency import adjacency_at, build_adjacency
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.runtime import cluster, tasks
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import remove_unfinished

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


class Cluster:
    """A scheduler and two workers, which are processes; a folder below is what they share."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        wait_for(lambda: self._address() is not None, "the scheduler's address", self.scheduler)
        self.address = self._address()
        options = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--name")
        self.workers = [self._start("worker", *options, str(number)) for number in range(workers)]
        self.client = distributed.Client(self.address, set_as_default=False)
        self.client.wait_for_workers(workers, timeout=LIMIT_SECONDS)
        self.names = {address: worker["name"] for address, worker in self.alive().items()}

    def alive(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of its workers, by address."""
        return self.client.scheduler_info(n_workers=-1)["workers"]

    def kill_a_worker(self) -> int:
        """A busy one, if any is; its process id, once it is dead."""
        processing = self.client.processing()
        busy = next((worker for worker, tasks in processing.items() if tasks), next(iter(processing)))
        worker = self.workers[int(self.names[busy])]
        worker.kill()
        worker.wait(LIMIT_SECONDS)
        return worker.pid

    def stop(self) -> None:
        self.client.close(timeout=1)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _address(self) -> str | None:
        """None while the scheduler has not written its file in full."""
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return json.loads((self.folder / "scheduler.json").read_text())["address"]
        return None

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", "scheduler.json", "--no-dashboard"]
        with open(self.folder / f"{kind}.log", "ab") as log:
            # Workers work elsewhere: what tasks name must be named in full.
            return subprocess.Popen(
                [*command, *options],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": str(CHECKOUT), "GRANDPLUS_WORKERS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@pytest.fixture
def two_workers(tmp_path, monkeypatch) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    monkeypatch.setenv("GRANDPLUS_SCHEDULER", found.address)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def settings() -> Settings:
    # Trials of a second, six tasks of rows, and 100 columns to propagate, which are seven tasks.
    train = {"max_epochs": 12, "patience": 1000}
    synthetic, push = {"scale": 0.01}, {"order": 10, "rmax": 1e-5}
    return load_settings(
        CHECKOUT, dataset="twin-aminer-cs", matrix="avg", trials=4, train=train, synthetic=synthetic, gfpush=push
    )


@pytest.fixture(scope="module")
def stages(settings, tmp_path_factory) -> tuple[Callable[[str, Path], None], Path]:
    """Runs gfpush, train or infer into a folder, from the outputs of those before; and their folder, made here."""
    base = tmp_path_factory.mktemp("local")
    make_graph_folders(settings, base)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GRANDPLUS_SCHEDULER", raising=False)
        patch.setenv("GRANDPLUS_DEVICE", "cpu")
        for stage in ("gfpush", "train", "infer"):
            run_stage(stage, settings, base, base / stage)
    return lambda stage, out: run_stage(stage, settings, base, out), base


def digest_of(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("stage", ["gfpush", "train", "infer"])
def test_a_worker_dies_among_the_tasks_and_the_bytes_are_those_of_a_local_run(
    stage, stages, two_workers, tmp_path, monkeypatch
):
    killed, results = [], []
    map_on = cluster.map_on

    def watched(*arguments):
        for result in map_on(*arguments):
            if not killed:  # after the first result
                killed.append(two_workers.kill_a_worker())
            results.append(result)
            yield result

    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    # Two tasks are out at a time, so some are not given out yet when a worker dies.
    monkeypatch.setattr(cluster, "TASKS_A_THREAD", 1)
    monkeypatch.setattr(cluster, "SPARE_TASKS", 0)
    monkeypatch.setattr(cluster, "map_on", watched)
    run, local = stages
    run(stage, tmp_path / "cluster")
    assert len(results) >= 4
    assert killed
    assert not is_alive(killed[0])
    assert len(two_workers.alive()) == 1
    assert digest_of(tmp_path / "cluster") == digest_of(local / stage)


# --- What can go wrong -----------------------------------------------------------------------


@pytest.mark.parametrize("value", ["192.168.0.1:8786", "tcp://host", "http://host:8786", "tcp://a b:1", "tcp://h:1/x"])
def test_an_address_that_is_none(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_SCHEDULER", value)
    with pytest.raises(GrandPlusError, match="expected an address like tcp://") as refused:
        tasks.map_tasks(str, [1])
    assert f"GRANDPLUS_SCHEDULER is {value!r}" in str(refused.value)


def test_without_an_address_work_is_done_here(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_SCHEDULER", " ")
    assert list(tasks.map_tasks(lambda number: (number, os.getpid()), [1, 2], at_most=1)) == [
        (1, os.getpid()),
        (2, os.getpid()),
    ]


def test_no_scheduler_answers(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    monkeypatch.setenv("GRANDPLUS_SCHEDULER", "tcp://127.0.0.1:1")
    with pytest.raises(GrandPlusError, match="no Dask scheduler answers") as refused:
        list(tasks.map_tasks(str, [1]))
    assert "GRANDPLUS_SCHEDULER=tcp://127.0.0.1:1: " in str(refused.value)
    assert "unset GRANDPLUS_SCHEDULER to work on this machine" in str(refused.value)


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv("GRANDPLUS_SCHEDULER", "tcp://127.0.0.1:1")
    with pytest.raises(GrandPlusError, match=r"Dask is not installed; pip install 'grandplus\[cluster\]'"):
        list(tasks.map_tasks(str, [1]))


def test_the_workers_go_and_then_the_scheduler(two_workers, monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    for worker in two_workers.workers:
        worker.kill()
    wait_for(lambda: not two_workers.alive(), "the scheduler has no worker", two_workers.scheduler)
    with pytest.raises(GrandPlusError, match="the Dask scheduler has no worker; start one on each machine: "):
        list(tasks.map_tasks(str, [1]))
    two_workers.scheduler.kill()
    with pytest.raises(GrandPlusError, match="no Dask scheduler answers"):
        list(tasks.map_tasks(str, [1]))


@pytest.mark.parametrize("status", ["connecting", "closed"])
def test_the_scheduler_dies_while_a_task_waits_for_a_worker(status, two_workers, monkeypatch):
    """The client tries to connect again for some seconds, and then closes itself."""
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 3)

    def wait_until_the_scheduler_is_dead():
        with cluster._executor(two_workers.address) as (client, _):
            two_workers.scheduler.kill()
            wait_for(lambda: client.status in (status, "closed"), f"the client is {status}")
            cluster._wait_for_worker(client, two_workers.address)

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(GrandPlusError, match="the Dask scheduler went away; start it and its workers again"),
    ):
        wait_until_the_scheduler_is_dead()


def test_the_scheduler_dies_under_a_run_and_a_later_one_completes_it(stages, two_workers, tmp_path, monkeypatch):
    run, local = stages
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 5)
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    map_on = cluster.map_on

    def watched(*arguments):
        for result in map_on(*arguments):
            yield result
            two_workers.scheduler.kill()

    with monkeypatch.context() as patch, dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        patch.setattr(cluster, "map_on", watched)
        with pytest.raises(GrandPlusError, match="the Dask scheduler went away"):
            run("train", tmp_path / "run")
    for worker in two_workers.workers:
        worker.wait(LIMIT_SECONDS)  # it ends its trial first, and writes the trial's files
    remove_unfinished(tmp_path / "run")
    finished = digest_of(tmp_path / "run")
    assert finished
    monkeypatch.delenv("GRANDPLUS_SCHEDULER")
    run("train", tmp_path / "run")
    assert digest_of(tmp_path / "run") == digest_of(local / "train")
    assert finished.items() <= digest_of(tmp_path / "run").items()


def test_a_worker_with_other_code(two_workers, monkeypatch):
    monkeypatch.setattr(cluster, "_source_of_package", lambda: "0123456789abcdef")
    with pytest.raises(GrandPlusError, match="a worker of the cluster runs another version of GRAND"):
        list(tasks.map_tasks(str, [1]))


def test_a_task_that_fails_for_a_reason_says_it(two_workers):
    with pytest.raises(GrandPlusError, match=r"no/such/params\.yaml: no such file"):
        list(tasks.map_tasks(load_settings, ["no/such"]))


def test_a_task_that_fails_with_a_timeout_of_its_own_ends_the_run(two_workers):
    def slow_disk(number):
        raise TimeoutError(110, "Connection timed out", f"rows-{number}")

    with pytest.raises(TimeoutError, match="Connection timed out: 'rows-1'"):
        list(tasks.map_tasks(slow_disk, [1]))


def test_a_worker_with_another_graph(two_workers, tmp_path):
    (tmp_path / "graph").mkdir()
    build_adjacency(np.array([[0], [1]]), 2)[0].save(tmp_path / "graph")
    with pytest.raises(GrandPlusError, match="holds another graph") as refused:
        list(tasks.map_tasks(adjacency_at, [tmp_path / "graph"], ["0" * 64]))
    assert str(tmp_path / "graph") in str(refused.value)
