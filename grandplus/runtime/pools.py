"""Where work runs: how many workers, on which device, and what dies with what.

Set by environment variables, since none of it changes a result on CPU:
``GRANDPLUS_WORKERS`` (default: the cores that this process may use), ``GRANDPLUS_MEMORY``
(default: what is free), ``GRANDPLUS_DEVICE`` (auto, cpu or cuda), ``GRANDPLUS_SCHEDULER`` (a Dask
cluster in place of this machine) and ``GRANDPLUS_CACHE`` (downloads and compiled kernels, shared by
all checkouts; default: the user's cache folder).
"""

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
from grandplus.runtime.supervision import die_with_parent_process

Result = TypeVar("Result")


def map_threads(function: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
    """``map(function, *arguments)`` over ``workers()`` threads, in order.

    Results are handed out as they are asked for, and only a few tasks wait at a time.
    """
    with ThreadPoolExecutor(workers()) as pool:
        try:
            yield from map_in_order(pool, function, zip(*arguments, strict=False), ahead=4 * workers())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def map_processes(
    function: Callable[..., Result], *arguments: Iterable[Any], at_most: int | None = None
) -> Iterator[Result]:
    """The same over spawned processes, which die with this one.

    ``function`` and its arguments are pickled, so a module's own function is wanted. One task
    or one worker needs no other process and runs here.

    at_most : so many processes, where memory allows no more
    """
    tasks = list(zip(*arguments, strict=False))
    count = min(at_most or workers(), workers(), len(tasks))
    if count <= 1:
        yield from (function(*task) for task in tasks)
        return
    with processes(count) as pool:
        yield from map_in_order(pool, function, tasks, ahead=4 * workers())


@contextlib.contextmanager
def processes(count: int) -> Iterator[Executor]:
    """A pool of spawned processes, which die with this one, and if the block ends with an error or Ctrl-C."""
    context, others = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    try:
        with ProcessPoolExecutor(count, mp_context=context, initializer=die_with_parent_process) as pool:
            try:
                yield pool
            except BaseException:
                for worker in set(multiprocessing.active_children()) - others:
                    worker.kill()  # else the pool would wait for what they are at
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
    """Results as they are asked for, with at most ``ahead`` tasks waiting at a time.

    Those that wait when it is closed are left to the pool's owner.
    """
    tasks = iter(tasks)
    waiting = [pool.submit(function, *task) for task in itertools.islice(tasks, ahead)]
    while waiting:
        result = result_of(waiting.pop(0))
        waiting.extend(pool.submit(function, *task) for task in itertools.islice(tasks, 1))
        yield result
