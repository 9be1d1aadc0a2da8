"""Threads and processes of this machine that share work; their results come in the order of the tasks."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from grandplus.runtime.environment import workers
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.supervision import end_with_parent_process

Result = TypeVar("Result")
TASKS_A_WORKER = 4  # that wait at a time


def map_threads(function: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
    """``map(function, *arguments)`` over ``GRANDPLUS_WORKERS`` threads.

    Parameters
    ----------
    function : callable
    *arguments : iterables
        One for each parameter; read only a few tasks ahead of the results.

    Yields
    ------
    The results, in order.
    """
    with ThreadPoolExecutor(workers()) as pool:
        try:
            yield from map_in_order(pool, function, zip(*arguments, strict=False), ahead=TASKS_A_WORKER * workers())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def map_processes(
    function: Callable[..., Result], *arguments: Iterable[Any], at_most: int | None = None, apart: bool = False
) -> Iterator[Result]:
    """``map(function, *arguments)`` over ``GRANDPLUS_WORKERS`` spawned processes, which end with this one.

    Parameters
    ----------
    function : callable
        It and its arguments are pickled, so it is a function of a module.
    *arguments : iterables
        One for each parameter.
    at_most : int, optional
        Processes, where memory allows no more. With one process or one task the work is done here.
    apart : bool
        Whether a process is started even then.

    Yields
    ------
    The results, in order.

    Raises
    ------
    GrandPlusError
        A process was killed.
    """
    tasks = list(zip(*arguments, strict=False))
    count = min(at_most or workers(), workers(), len(tasks))
    if count <= 1 and not (apart and tasks):
        yield from (function(*task) for task in tasks)
        return
    with processes(count) as pool:
        yield from map_in_order(pool, function, tasks, ahead=TASKS_A_WORKER * workers())


@contextlib.contextmanager
def processes(count: int) -> Iterator[Executor]:
    """A pool of spawned processes, which end with this one.

    Parameters
    ----------
    count : int

    Yields
    ------
    Executor
        If the block ends with an error or Ctrl-C, its processes are killed.

    Raises
    ------
    GrandPlusError
        A process was killed by something else.
    """
    context, others = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    try:
        with ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent_process) as pool:
            try:
                yield pool
            except BaseException:
                for worker in set(multiprocessing.active_children()) - others:
                    worker.kill()  # else the pool would wait until their tasks end
                raise
    except BrokenProcessPool:
        raise GrandPlusError(
            "a worker process was killed, most often by the system for want of memory",
            fix="set GRANDPLUS_WORKERS lower, and let a script of your own start work only below "
            '`if __name__ == "__main__":`; finished work is kept, so running it again goes on from there',
        ) from None


def map_in_order(
    pool: Executor,
    function: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    *,
    ahead: int,
    result_of: Callable[[Future[Result]], Result] = Future.result,
) -> Iterator[Result]:
    """``function(*task)`` of each task in a pool.

    Parameters
    ----------
    pool : Executor
        Its owner ends what still waits when the iterator is closed.
    function : callable
    tasks : iterable of tuple
    ahead : int
        Tasks that wait at a time, at most.
    result_of : callable, optional
        How to wait for the result of a future.

    Yields
    ------
    The results, in order.
    """
    tasks = iter(tasks)
    waiting = [pool.submit(function, *task) for task in itertools.islice(tasks, ahead)]
    while waiting:
        result = result_of(waiting.pop(0))
        waiting.extend(pool.submit(function, *task) for task in itertools.islice(tasks, 1))
        yield result
