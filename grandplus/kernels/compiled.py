"""Numba kernels, compiled once for all checkouts of this user.

Numba's own cache is bound to a source file's path, so each checkout, and each temporary one
of ``dvc exp run --temp``, would compile anew; and two processes that compile at once can mix
up its entries. Here the folder is named after the source's content, and a lock is held while
compiling. A kernel may call only functions of its own module and of this one: others are not in
that name.
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
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from grandplus.runtime.environment import cache_folder
from grandplus.runtime.storage import locked

# Accepts writable arrays too.
INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64 = (
    types.Array(scalar, 1, "C", readonly=True)
    for scalar in (types.int32, types.int64, types.uint32, types.uint64, types.float32, types.float64)
)

SPREAD = np.uint64(0x9E3779B97F4A7C15)

_NUMBA_CONFIG = threading.Lock()  # it is one for all threads


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """``function`` compiled for these argument types, without the GIL and without fastmath.

    A division by zero gives what IEEE 754 says: looking for it would keep loops from being vectorised.
    """
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


def matrix(array: types.Array) -> types.Array:
    """The type of a C-ordered matrix of the same numbers."""
    return array.copy(ndim=2)


@register_jitable
def mix(z):  # type: ignore[no-untyped-def]
    """For kernels: 64 bits mixed as SplitMix64 does (Steele, Lea and Flood, OOPSLA 2014).

    Of s, s + SPREAD, s + 2 SPREAD, … it makes random numbers.
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: Any, array: Any, index: Any) -> Any:
    """For kernels: ``prefetch(array, index)`` starts to load an entry into cache; any index is harmless."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, values[0])
        entry = cgutils.get_item_pointer(context, builder, signature.args[0], held, [values[1]], wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        llvm = cgutils.get_or_insert_function(builder.module, takes, "llvm.prefetch.p0")
        builder.call(llvm, [builder.bitcast(entry, byte), number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.uintp), instruction


def _compile(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    with _NUMBA_CONFIG:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ContentLocator.__name__}"
        try:
            kernel: Callable[..., Any] = numba.njit([arguments], cache=True, nogil=True, error_model="numpy")(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
    return kernel


def _folder_of(function: Callable[..., Any]) -> Path:
    source = Path(function.__code__.co_filename)
    digest = hashlib.sha256(source.read_bytes() + Path(__file__).read_bytes()).hexdigest()
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
