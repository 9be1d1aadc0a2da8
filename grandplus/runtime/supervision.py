"""Processes that end with the process that started them."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

POLL_SECONDS = 0.1


def end_with_starter() -> None:
    """End this process as soon as the program that started it is gone.

    Else it would go on after that program was killed, beside what is started next. A shell that the program ran this
    process with is watched too. Works where the system has /proc; elsewhere only the parent process is watched.
    """
    chain = _starters()
    if not all(_in_own_session(parent) for parent in chain.values()):
        os._exit(1)  # the starter ended while Python started: this process has a new parent, of another session
    threading.Thread(target=_exit_when_gone, args=(chain,), daemon=True).start()


def end_with_parent_process() -> None:
    """End this worker process of `multiprocessing` as soon as its parent is gone.

    Ctrl-C goes to all processes of a terminal. It is left to the parent, or each worker would print a traceback.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def exit_after_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=exit_after_parent, daemon=True).start()
    # Python's own ending takes a second with torch, and that thread no longer runs by then.
    atexit.register(os._exit, 0)


def proc_file(process: int, name: str) -> str:
    """The text of a file of /proc/<process>; empty where there is none.

    Parameters
    ----------
    process : int
        Its id.
    name : str
        Of the file, like ``"stat"``.
    """
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:
        return ""


def _starters() -> dict[int, int]:
    """The processes between this one and the program that started it, as {child: parent}."""
    child, parent = os.getpid(), os.getppid()
    chain = {child: parent}
    shell = Path(os.environ.get("SHELL") or "/bin/sh").name
    if proc_file(parent, "comm").strip() == shell[:15] and _parent_of(parent):
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
    fields = proc_file(process, "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0
