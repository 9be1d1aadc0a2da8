"""Whether what a file declares fits into memory, before it is read."""

from __future__ import annotations

from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text


def check_declared(size: int, where: object) -> None:
    """Check that arrays of a declared size fit into the memory at hand.

    Parameters
    ----------
    size : int
        In bytes, as a file declares it.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    free = environment.memory()
    if size > free:
        raise GrandPlusError(f"declares {size:,} bytes", where=where, expected=f"at most {free:,}, the memory at hand")


def check_taken(size: int, where: object, fix: str = "") -> None:
    """Check that the memory at hand is enough to read a file.

    Parameters
    ----------
    size : int
        An estimate of the bytes that reading takes.
    where : object
        The file.
    fix : str
        What to do if it is not.

    Raises
    ------
    GrandPlusError
    """
    free = environment.memory()
    if size > free:
        expected = f"at most {size_text(free)}, the memory at hand"
        raise GrandPlusError(f"takes {size_text(size)} to read", where=where, expected=expected, fix=fix)
