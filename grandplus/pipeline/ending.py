"""How a stage or a command ends: with an exit code, and where the user has to act, with one line on stderr."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable

from grandplus.pipeline.remedies import with_remedy
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.system_errors import system_error

KEPT = "interrupted; finished work is kept, so running it again goes on from there"
# Packages that come with an extra of this one (pyproject.toml).
_EXTRA_OF = {"dvc": "pipeline", "jinja2": "pipeline", "matplotlib": "pipeline", "optuna": "search"}


def ending(work: Callable[[], int | None], interrupted: str = KEPT) -> int:
    """Do some work, and say what a user must know of its end.

    Parameters
    ----------
    work : callable
        What it returns is the exit code; None is 0.
    interrupted : str
        What to print after Ctrl-C.

    Returns
    -------
    int
        The exit code: 2 where the user has to act, 130 after Ctrl-C.
    """
    try:
        return work() or 0
    except GrandPlusError as error:
        return _told(f"error: {with_remedy(error)}", 2)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA_OF:
            raise
        return _told(f"error: {package} is not installed; run pip install '.[{_EXTRA_OF[package]}]'", 2)
    except sqlite3.OperationalError as error:  # of DVC's index
        return _told(f"error: DVC's index: {error}; set DVC_SITE_CACHE_DIR to a folder with room, to be written to", 2)
    except (OSError, MemoryError, RuntimeError, ImportError) as error:
        told = system_error(error)
        if told is None:
            raise
        return _told(f"error: {told}", 2)
    except KeyboardInterrupt:
        return _told(interrupted, 130)


def _told(line: str, code: int) -> int:
    print(line, file=sys.stderr)
    return code
