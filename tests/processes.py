"""Other processes for tests: scripts that use this checkout's code, and a look at what is alive."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grandplus

CHECKOUT = Path(grandplus.__file__).resolve().parents[1]
PATIENCE = 30  # seconds until something that must happen is given up; it takes a fraction of that


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
    out, errors = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 0, errors
    return out


def is_alive(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.02)
