"""Processes that end with the process that started them."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import threading
import time
from pathlib import Path

POLL_SECONDS = 0.1


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


def proc_file(process: int, name: str) -> str:
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:
        return ""


def die_with_parent_process() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def exit_after_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=exit_after_parent, daemon=True).start()
    # Python's own ending takes a second with torch, and that thread is frozen by then.
    atexit.register(os._exit, 0)
