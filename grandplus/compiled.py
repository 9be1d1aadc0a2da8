"""Numba kernels, compiled once for all checkouts of this user.

Numba's own cache is bound to a source file's path, so each checkout, and each temporary one
of ``dvc exp run --temp``, would compile anew; and two processes that compile at once can mix
up its entries. Here the folder is named after the source's content, and a lock is held while
compiling. A kernel may call only functions of its own module: others are not in that name.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numba.core.caching
from numba import types

from grandplus.execution import cache_folder
from grandplus.scratch import locked

# Accepts writable arrays too.
INT32, INT64, FLOAT32, FLOAT64 = (
    types.Array(scalar, 1, "C", readonly=True) for scalar in (types.int32, types.int64, types.float32, types.float64)
)

_NUMBA_CONFIG = threading.Lock()  # it is one for all threads


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """``function`` compiled for these argument types, without the GIL and without fastmath."""
    folder = _folder_of(function)
    with locked(folder.with_suffix(".lock"), quiet=True):
        try:
            return _compile(function, arguments)
        except (EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, ValueError):
            shutil.rmtree(folder)  # a damaged cache, from a full disk for instance
            return _compile(function, arguments)


def writable(array: types.Array) -> types.Array:
    """The type of an array that a kernel writes to."""
    return array.copy(readonly=False)


def _compile(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    with _NUMBA_CONFIG:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ContentLocator.__name__}"
        try:
            kernel: Callable[..., Any] = numba.njit([arguments], cache=True, nogil=True)(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
    return kernel


def _folder_of(function: Callable[..., Any]) -> Path:
    source = Path(function.__code__.co_filename)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return cache_folder("kernels") / f"{source.stem}-{digest[:16]}"


class ContentLocator(numba.core.caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Tells numba to keep a function in the folder named after its source's content."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(_folder_of(function))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> ContentLocator:
        locator = cls(function, file)
        locator.ensure_cache_path()
        return locator
