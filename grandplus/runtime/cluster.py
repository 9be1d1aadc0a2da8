"""Tasks on the machines of a Dask cluster, which ``GRANDPLUS_SCHEDULER`` names.

Large inputs and outputs of a task are files of a file system that all machines share; only paths, node numbers and
finished rows are sent. A task whose worker dies is given to another one.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.pools import map_in_order
from grandplus.runtime.storage import digest_of_code

Result = TypeVar("Result")
PACKAGE = Path(__file__).resolve().parents[1]
ANSWER_SECONDS = 15  # in which a scheduler must answer, and a cluster without a worker must get one
TASKS_A_THREAD, SPARE_TASKS = 4, 64  # that wait at a worker; and for workers that come later
START_WORKER = "start one on each machine: dask worker {}"


def map_on(address: str, function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """``function(*task)`` of each task on the workers of a cluster.

    Parameters
    ----------
    address : str
        Of the scheduler.
    function : callable
        It and its arguments are pickled.
    tasks : iterable of tuple

    Yields
    ------
    The results, in order.

    Raises
    ------
    GrandPlusError
        Dask is not installed, no scheduler answers or it goes away, there is no worker, workers run other code, or
        several workers died over the same task.
    """
    with _executor(address) as (client, executor):

        def result_of(future: Future[Result]) -> Result:
            while True:
                try:
                    return future.result(timeout=ANSWER_SECONDS)
                except NotYet:
                    if future.done():  # meanwhile, or with a TimeoutError of the task's own, which is raised here
                        return future.result()
                    _wait_for_worker(client, address)

        task = functools.partial(_with_same_code, _source_of_package(), function)
        ahead = TASKS_A_THREAD * sum(client.nthreads().values()) + SPARE_TASKS
        try:
            yield from map_in_order(executor, task, tasks, ahead=ahead, result_of=result_of)
        finally:
            executor.shutdown(wait=False)  # cancels what waits


@contextmanager
def _executor(address: str) -> Iterator[tuple[Any, Executor]]:
    distributed = _dask()
    try:
        # Its own reports of what it can't reach would come before our error.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        client = distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, NotYet, ValueError) as error:
        raise GrandPlusError(
            f"no Dask scheduler answers: {error}",
            where=f"GRANDPLUS_SCHEDULER={address}",
            fix="start one with dask scheduler, or unset GRANDPLUS_SCHEDULER to work on this machine",
        ) from None
    try:
        _wait_for_worker(client, address)
        yield client, client.get_executor(pure=False)
    except CancelledError:
        raise _went_away(address) from None
    except distributed.KilledWorker as error:
        raise GrandPlusError(
            f"{error.allowed_failures + 1} workers died over the same task, most often for want of memory",
            fix="give a worker more memory, or fewer threads; finished work is kept",
        ) from None
    finally:
        client.close(timeout=1)


def _wait_for_worker(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except _dask().exceptions.WorkerStartTimeoutError:
        fix = START_WORKER.format(address)
        raise GrandPlusError(
            "the Dask scheduler has no worker", where=f"GRANDPLUS_SCHEDULER={address}", fix=fix
        ) from None
    except (OSError, AttributeError):  # a client that gave up to reconnect has closed itself: its scheduler is None
        raise _went_away(address) from None


def _went_away(address: str) -> GrandPlusError:
    return GrandPlusError(
        "the Dask scheduler went away",
        where=f"GRANDPLUS_SCHEDULER={address}",
        fix="start it and its workers again; finished work is kept, so running it again goes on from there",
    )


@functools.cache
def _source_of_package() -> str:
    """The digest of all code of this package, as this process has found it at first."""
    return digest_of_code([PACKAGE])


def _with_same_code(source: str, function: Callable[..., Result], *task: Any) -> Result:
    """The result of a task, if this worker has the code of the run: else results could differ."""
    if source != _source_of_package():
        raise GrandPlusError(
            "a worker of the cluster runs another version of GRAND+",
            where=PACKAGE,
            expected="the code that the run was started with",
            fix="update it there, and start its dask worker again",
        )
    return function(*task)


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise GrandPlusError(
            "GRANDPLUS_SCHEDULER is set, but Dask is not installed", fix="pip install 'grandplus[cluster]'"
        ) from None
    return distributed
