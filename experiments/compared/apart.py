"""Work in a process of its own, with a limit of seconds and of memory."""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from grandplus.runtime.errors import GrandPlusError, MemoryShortageError
from grandplus.runtime.supervision import end_with_parent_process, proc_file
from grandplus.runtime.system_errors import system_error

LOOK_EVERY = 0.2  # seconds
Tell = Callable[[dict[str, Any]], None]


class Outcome(NamedTuple):
    """How the work ended.

    Attributes
    ----------
    told : dict
        All that it has told.
    memory : int
        Bytes that its process had at most.
    ended : str
        By which limit it wasn't finished, seconds or memory; empty if it was.
    """

    told: dict[str, Any]
    memory: int
    ended: str


def run_apart(
    work: Callable[..., None], *arguments: Any, seconds: float = math.inf, memory: int | None = None
) -> Outcome:
    """Do some work in a fresh process.

    Parameters
    ----------
    work : callable
        A function of a module, which is given the arguments and a function to tell what it has found out.
    *arguments
    seconds : float
        After these, from its first step on, it is ended.
    memory : int, optional
        Bytes that its own data may take. The library plans with seven eighths of them, and the rest is for what it
        doesn't plan.

    Raises
    ------
    GrandPlusError
        It ended for another reason, like a full disk, which tells nothing of the work.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_limited, args=(theirs, memory, work, arguments), daemon=False)
    process.start()
    theirs.close()
    deadline, peak, told, ended = math.inf, 0, dict[str, Any](), ""
    try:
        while not ended:
            peak = max(peak, peak_memory(process.pid))
            if ours.poll(LOOK_EVERY):
                told |= ours.recv()
                deadline = min(deadline, time.monotonic() + seconds)
            elif time.monotonic() > deadline:
                ended = f"not done after {seconds:g} seconds"
    except EOFError:  # it has closed its end
        if "error" in told:
            raise told["error"] from None
        if "ended" not in told:
            fix = "give it less memory if the machine has less than its limit"
            raise GrandPlusError("the process for it ended without a word", where=work.__name__, fix=fix) from None
        ended = told.pop("ended")
    finally:
        process.kill()
        process.join()
    return Outcome(told, max(peak, told.pop("memory", 0)), ended)


def peak_memory(process: int | None = None) -> int:
    """The most bytes that a process, by default this one, has had in memory; 0 of another one that has ended.

    Linux's ``ru_maxrss`` is no less than that of the process which started this one, so it is not used there.
    """
    lines = proc_file(process or os.getpid(), "status").splitlines()
    peaks = [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    if peaks or process:
        return max(peaks, default=0)
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _limited(connection: Connection, memory: int | None, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    end_with_parent_process()
    if memory is not None:
        os.environ["GRANDPLUS_MEMORY"] = str(memory * 7 // 8)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    end: dict[str, Any] = {"ended": ""}
    connection.send({})  # it begins
    try:
        work(*arguments, connection.send)
    except MemoryShortageError as error:
        end = {"ended": f"refused: {error.found}"}
    except GrandPlusError as error:
        end = {"error": error}
    except (MemoryError, RuntimeError, OSError) as error:
        want = system_error(error)
        if want is None:
            raise
        lacks_memory = isinstance(want, MemoryShortageError)
        end = {"ended": "failed: " + want.found.partition(":")[0]} if lacks_memory else {"error": want}
    connection.send(end | {"memory": peak_memory()})
