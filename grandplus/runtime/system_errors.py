"""What the operating system refuses, as errors of one line: no room, no permission, no memory."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grandplus.runtime import environment
from grandplus.runtime.errors import (
    ArtifactError,
    GrandPlusError,
    MemoryShortageError,
    ShortageError,
    path_in_errors,
)
from grandplus.runtime.free_memory import free_memory

STANDARD_OUTPUT = "standard output"  # in place of a file's name
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)
_NOT_OF_THE_FILE = (*_NO_PERMISSION, errno.EMFILE, errno.ENFILE)
_CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # numpy's words for a full disk
# What libraries say that meet a limit of memory or of threads, which take memory too, and raise no MemoryError.
_WANT_OF_MEMORY = re.compile(
    "(can.?t|cannot|unable to|failed to) (allocate|start new thread)|out of memory|bad_alloc", re.IGNORECASE
)
_LIBRARIES = 2**30  # bytes that importing the largest library takes; where there are fewer, that is why it fails


def system_error(error: Exception) -> GrandPlusError | None:
    """An error of the system in our words, with the variable by which the user can help; None for other errors.

    Parameters
    ----------
    error : Exception

    Examples
    --------
    >>> print(system_error(OSError(28, "No space left on device", "data/rows/x")))
    data/rows/x: No space left on device; free some, or set GRANDPLUS_SCRATCH to a folder with more room; finished \
work is kept
    >>> system_error(ValueError("of ours"))
    """
    if _is_want_of_memory(error):
        fix = "set GRANDPLUS_WORKERS or GRANDPLUS_MEMORY lower, or raise the limit (ulimit -v shows it)"
        words = f": {text}" if (text := _first_line(error)) else ""
        where = getattr(error, "filename", None) or ""
        return MemoryShortageError(f"memory is used up{words}", where=where, fix=f"{fix}; finished work is kept")
    if isinstance(error, OSError):
        file = error.filename2 or error.filename or ""  # of two, what was written
        kind = ShortageError if _is_full_disk(error) else GrandPlusError
        return kind(_reason(error), where=file, fix=_fix(error, str(file)))
    return None


@contextmanager
def artifact_errors(file: Path, found: str, *kinds: type[Exception]) -> Iterator[None]:
    """An error of reading a file in this block means that it is missing or damaged, unless the system is the reason.

    Parameters
    ----------
    file : Path
    found : str
        What is wrong with a damaged file.
    *kinds : exceptions
        That damage leads to, besides `OSError`.

    Raises
    ------
    ArtifactError
        The file is missing or damaged.
    GrandPlusError
        It may not be read, or memory is used up.
    """
    damage: tuple[type[Exception], ...] = (OSError, *kinds)
    caught: tuple[type[Exception], ...] = (*damage, MemoryError, RuntimeError)
    try:
        with path_in_errors(file):
            yield
    except FileNotFoundError:
        raise ArtifactError("no such file", where=file) from None
    except caught as error:
        told = system_error(error)
        if told and (_is_want_of_memory(error) or getattr(error, "errno", None) in _NOT_OF_THE_FILE):
            raise told.at(file) from None
        if not isinstance(error, damage):
            raise
        if isinstance(error, OSError) and error.errno:
            raise ArtifactError(f"can't be read: {os.strerror(error.errno)}", where=file) from None
        raise ArtifactError(f"{found}: {error}", where=file) from None


def _is_want_of_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if isinstance(error, ImportError | OSError) and "failed to map segment" in str(error):
        return True
    if isinstance(error, ImportError | OSError) and "shared object" in str(error):
        return free_memory() < _LIBRARIES
    return isinstance(error, RuntimeError) and bool(_WANT_OF_MEMORY.search(str(error)))


def _is_full_disk(error: OSError) -> bool:
    return error.errno in _FULL or bool(_CUT_SHORT.search(str(error)))


def _reason(error: OSError) -> str:
    if error.errno:
        return os.strerror(error.errno)
    return error.strerror or _first_line(error) or type(error).__name__


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _fix(error: OSError, file: str) -> str:
    if file == STANDARD_OUTPUT:
        return "let it go where there is room"
    variable = environment.variable_of(file) if file else ""
    if "temporary directory" in str(error):
        variable = "TMPDIR"
    if _is_full_disk(error):
        return f"free some, or set {variable or 'GRANDPLUS_SCRATCH'} to a folder with more room; finished work is kept"
    if variable:
        return f"set {variable} to a folder that you may write to"
    return "make the file and its folder readable and writable" if file and error.errno in _NO_PERMISSION else ""
