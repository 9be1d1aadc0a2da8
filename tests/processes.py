"""Other processes for tests: scripts that use this checkout's code, a look at what is alive, and how to wait."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grandplus

CHECKOUT = Path(grandplus.__file__).resolve().parents[1]
LIMIT_SECONDS = 600  # until a test gives up what takes a fraction of a second on an idle machine
POLL_SECONDS = 0.02


@contextmanager
def python(script: Path, *arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A running ``python script arguments``; killed at the end of the block if it still runs.

    Its lines stay whole if several processes print: unbuffered, a line and its end are two writes.
    """
    process = subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": ""} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            pipe.close()  # not read to its end, which an orphan would put off


def finished(process: subprocess.Popen[str]) -> str:
    """Its output, once it has ended without an error."""
    out, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, errors
    return out


def is_alive(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def wait_for(condition: Callable[[], object], what: str, process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until something is so; fails when it can't come any more, or after ten minutes.

    Parameters
    ----------
    condition : callable
    what : str
        What is waited for, to be told.
    process : Popen, optional
        Whose doing it is: when it has ended, the condition is looked at for the last time.
    """
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition():
        ended = process is not None and process.poll() is not None
        if ended and condition():
            return
        assert not ended, f"{what}: the process that it should come from has ended with {process.returncode}"
        assert time.monotonic() < limit, f"{what}: it has not come"
        time.sleep(POLL_SECONDS)


def meet(folder: Path, count: int) -> int:
    """For worker processes: wait until so many of them are here; the id of this one."""
    (folder / str(os.getpid())).touch()
    wait_for(lambda: len(list(folder.iterdir())) >= count, f"{count} processes")
    return os.getpid()
