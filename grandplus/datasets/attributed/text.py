"""The text of a file that is read as a whole."""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.arrays.memory import check_taken
from grandplus.runtime.errors import GrandPlusError


def read_text(file: Path, times: int) -> str:
    """Read a file of UTF-8 whose content fits into memory.

    Parameters
    ----------
    file : Path
    times : int
        How much more memory than the text its content takes.

    Returns
    -------
    str

    Raises
    ------
    GrandPlusError
        It can't be read, is no UTF-8, or is too large.
    """
    check_size(file, times)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise GrandPlusError(f"line {line} is not UTF-8", where=file, expected="UTF-8 text") from None
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None


def check_size(file: Path, times: int) -> None:
    """Check that what a file holds fits into memory.

    Parameters
    ----------
    file : Path
    times : int
        How much more memory than its text it takes.

    Raises
    ------
    GrandPlusError
    """
    try:
        size = file.stat().st_size * times
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    check_taken(size, file, "write it as a table of edges and one of nodes instead, or set GRANDPLUS_MEMORY")
