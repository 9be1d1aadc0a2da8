"""The text of a file that is read as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grandplus.datasets.arrays.memory import check_taken
from grandplus.datasets.tables.text import PIECE, open_text
from grandplus.runtime.errors import GrandPlusError

_FIX = "write it as a table of edges and one of nodes instead, or set GRANDPLUS_MEMORY"


def read_text(file: Path, times: int) -> str:
    """Read a file of text, perhaps compressed, whose content fits into memory.

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
        It can't be read, is no UTF-8, UTF-16 or UTF-32, or is too large.
    """
    with open_text(file) as stream:
        content = read_whole(stream, file, times)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise GrandPlusError(f"line {line} is not UTF-8", where=file, expected="UTF-8 text") from None


def read_whole(stream: Any, file: Path, times: int) -> bytes:
    """Read all of a stream, if what it holds fits into memory.

    Parameters
    ----------
    stream : binary stream
    file : Path
        For errors.
    times : int
        How much more memory than its bytes it takes.

    Returns
    -------
    bytes

    Raises
    ------
    GrandPlusError
    """
    content = bytearray()
    try:
        check_taken(file.stat().st_size * times, file, _FIX)
        while piece := stream.read(PIECE):
            content += piece
            check_taken(len(content) * times, file, _FIX)
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    return bytes(content)
