"""Where work runs: how many workers, on which device, and what dies with what.

Set by environment variables, since none of it changes a result on CPU:
``GRANDPLUS_WORKERS`` (default: the cores that this process may use), ``GRANDPLUS_MEMORY``
(default: what is free), ``GRANDPLUS_DEVICE`` (auto, cpu or cuda), ``GRANDPLUS_SCHEDULER`` (a Dask
cluster in place of this machine) and ``GRANDPLUS_CACHE`` (downloads and compiled kernels, shared by
all checkouts; default: the user's cache folder).
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import multiprocessing
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]

from grandplus.errors import GrandPlusError

Result = TypeVar("Result")
POLL_SECONDS = 0.1
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")


def workers() -> int:
    """Number of threads or processes to compute with, at least 1."""
    value = os.environ.get("GRANDPLUS_WORKERS", "").strip()
    if not value:
        affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if not value.isdecimal() or int(value) < 1:
        raise GrandPlusError(f"GRANDPLUS_WORKERS is {value!r}", expected="a whole number of at least 1")
    return int(value)


def memory() -> int:
    """Bytes that a stage's large arrays may take together: ``GRANDPLUS_MEMORY``, like 8GiB or 500MB."""
    value = os.environ.get("GRANDPLUS_MEMORY", "").strip()
    if not value:
        return _free_memory()
    match = _SIZE.fullmatch(value)
    if not match:
        raise GrandPlusError(f"GRANDPLUS_MEMORY is {value!r}", expected="a size like 8GiB or 500MB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * int(base ** " KMGT".index(match[2].upper() or " ")))


def _free_memory() -> int:
    """What the system could give, and this process's control groups would allow."""
    own = _proc(os.getpid(), "cgroup").splitlines()
    return max(0, min([int(psutil.virtual_memory().available), *_left_by_groups(own, Path("/sys/fs/cgroup"))]))


def _left_by_groups(own: list[str], mounted: Path) -> Iterator[int]:
    """Bytes that the limits of a container or a batch system leave; what is cached of files can be had back.

    own : lines of /proc/self/cgroup
    mounted : where control groups are, of version 1 or 2
    """
    for line in own:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, limit, used, cached = mounted, "memory.max", "memory.current", "file "
        elif "memory" in controllers.split(","):
            root, cached = mounted / "memory", "total_cache "
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents[: len(group.parts) - len(root.parts)]):  # a limit holds for groups within
            with contextlib.suppress(OSError, ValueError, StopIteration):  # not here, or no limit ("max")
                stat = (folder / "memory.stat").read_text().splitlines()
                cache = next(int(entry.removeprefix(cached)) for entry in stat if entry.startswith(cached))
                yield int((folder / limit).read_text()) - int((folder / used).read_text()) + cache


def device() -> str:
    """``"cpu"`` or ``"cuda"``, as torch calls them."""
    value = os.environ.get("GRANDPLUS_DEVICE", "").strip() or "auto"
    if value not in ("auto", "cpu", "cuda"):
        raise GrandPlusError(f"GRANDPLUS_DEVICE is {value!r}", expected="auto, cpu or cuda")
    if value == "cpu":
        return value
    import torch  # here, as most stages need none

    if torch.cuda.is_available():
        return "cuda"
    if value == "cuda":
        raise GrandPlusError(
            "GRANDPLUS_DEVICE is cuda, but torch finds no usable GPU", fix="unset it, or install a CUDA build of torch"
        )
    return "cpu"


def scheduler() -> str | None:
    """Address of the Dask cluster that tasks go to, if they do."""
    value = os.environ.get("GRANDPLUS_SCHEDULER", "").strip()
    if value and not _ADDRESS.fullmatch(value):
        raise GrandPlusError(f"GRANDPLUS_SCHEDULER is {value!r}", expected="an address like tcp://192.168.0.1:8786")
    return value or None


def cache_folder(name: str) -> Path:
    """A folder that all checkouts of this user share, made if need be."""
    root = os.environ.get("GRANDPLUS_CACHE", "").strip()
    if not root:
        root = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "grandplus")
    folder = Path(root).expanduser().absolute() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GrandPlusError(f"can't be made: {error.strerror}", where=folder, fix="set GRANDPLUS_CACHE") from None
    return folder


def map_threads(function: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
    """``map(function, *arguments)`` over ``workers()`` threads, in order.

    Results are handed out as they are asked for, and only a few tasks wait at a time.
    """
    with ThreadPoolExecutor(workers()) as pool:
        try:
            yield from map_in_order(pool, function, zip(*arguments, strict=False), ahead=4 * workers())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def map_tasks(
    function: Callable[..., Result], *arguments: Iterable[Any], at_most: int | None = None
) -> Iterator[Result]:
    """The same on the cluster at ``GRANDPLUS_SCHEDULER``, or else over at most so many processes here.

    For tasks of seconds or more, whose large inputs are named by absolute paths.
    """
    address = scheduler()
    if address is None:
        return map_processes(function, *arguments, at_most=at_most)
    from grandplus.cluster import map_on  # here, as Dask is wanted by few

    return map_on(address, function, zip(*arguments, strict=False))


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
        with ProcessPoolExecutor(count, mp_context=context, initializer=_die_with_parent_process) as pool:
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


def die_with_dvc() -> None:
    """End this process as soon as the DVC that started it is gone.

    A stage must not outlive a killed ``dvc``, or it would write beside the next one. A stage
    started by hand has no such tie.
    """
    if "DVC_STAGE" not in os.environ:  # set by DVC for the command of a stage
        return
    chain = _starters()
    if not all(_in_own_session(parent) for parent in chain.values()):
        os._exit(1)  # DVC went while Python started: what takes orphans in is of another session
    threading.Thread(target=_exit_when_gone, args=(chain,), daemon=True).start()


def _starters() -> dict[int, int]:
    """The processes between this one and DVC, as {child: parent}; a shell may stand between."""
    child, parent = os.getpid(), os.getppid()
    chain = {child: parent}
    shell = Path(os.environ.get("SHELL") or "/bin/sh").name  # the one that DVC takes
    if _proc(parent, "comm").strip() == shell[:15] and _parent_of(parent):
        chain[parent] = _parent_of(parent)
    return chain


def _in_own_session(process: int) -> bool:
    try:
        return os.getsid(process) == os.getsid(0)
    except OSError:  # it is gone
        return False


def _exit_when_gone(chain: dict[int, int]) -> None:
    own = os.getpid()
    while all((os.getppid() if child == own else _parent_of(child)) == parent for child, parent in chain.items()):
        time.sleep(POLL_SECONDS)
    os._exit(1)


def _parent_of(process: int) -> int:
    """Its parent's id; 0 where the system has no /proc."""
    fields = _proc(process, "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _proc(process: int, name: str) -> str:
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:
        return ""


def _die_with_parent_process() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def exit_after_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=exit_after_parent, daemon=True).start()
    # Python's own ending takes a second with torch, and that thread is frozen by then.
    atexit.register(os._exit, 0)
