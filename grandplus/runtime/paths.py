"""Paths that users give."""

from __future__ import annotations

import os
from pathlib import Path

from grandplus.runtime.errors import ArgumentError


def as_path(value: object, name: str) -> Path:
    """A path, from what a user gave for one.

    Parameters
    ----------
    value : str or os.PathLike
    name : str
        Of the argument, for the error.

    Raises
    ------
    ArgumentError
        It is something else.

    Examples
    --------
    >>> as_path("data/graph", "folder").name
    'graph'
    """
    path = value.__fspath__() if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise ArgumentError(f"{name} is {value!r}", expected="a path, as text or a Path")
    return Path(path)
