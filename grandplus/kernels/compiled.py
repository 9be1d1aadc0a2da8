"""The decorator of numba kernels, and the cache of their machine code, which all checkouts of a user share.

Numba's own cache belongs to a source file's path. So each checkout, and each temporary one of an experiment, would
compile anew; and two processes that compile at the same time can mix up its entries. Here the cache folder is named
after the content of the source, and a lock is held while a kernel is compiled.

A kernel may call only functions of its own module and of ``grandplus.kernels``: the content of other modules is not
in the folder's name, so a change there would go unnoticed.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numba
import numba.core.caching
import numpy as np
from numba import types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype

from grandplus.runtime.environment import cache_folder
from grandplus.runtime.storage import locked

Type: TypeAlias = Any  # a numba type, or several in a tuple, of which the argument's dtype chooses one

# One-dimensional C-ordered arrays that a kernel reads; they may be writable too.
UINT8, UINT16, INT32, INT64, UINT32, UINT64, FLOAT32, FLOAT64 = (
    types.Array(scalar, 1, "C", readonly=True)
    for scalar in (
        types.uint8,
        types.uint16,
        types.int32,
        types.int64,
        types.uint32,
        types.uint64,
        types.float32,
        types.float64,
    )
)
IDS = INT32, INT64  # node ids, of either size
UNSIGNED_IDS = UINT32, UINT64

jitable = register_jitable  # decorator of a function that kernels call; elsewhere it stays plain Python

_NUMBA_CONFIG = threading.Lock()  # numba has one configuration for all threads


def writable(array: Type) -> Type:
    """The type of an array that a kernel writes to.

    Parameters
    ----------
    array : numba array type, or a tuple of such
    """
    return _each(array, lambda kind: kind.copy(readonly=False))


def matrix(array: Type, ndim: int = 2) -> Type:
    """The type of a C-ordered array of more dimensions, with the same numbers in it.

    Parameters
    ----------
    array : numba array type, or a tuple of such
    ndim : int
    """
    return _each(array, lambda kind: kind.copy(ndim=ndim))


def some_columns(array: Type) -> Type:
    """The type of a matrix that may be some columns of a wider one.

    Parameters
    ----------
    array : numba array type, or a tuple of such
    """
    return _each(array, lambda kind: kind.copy(layout="A"))


def kernel(*signature: Type) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorator: machine code in place of a Python function, for arguments of these types.

    Parameters
    ----------
    *signature : numba types
        One for each argument. In place of a type there may be a tuple of array types, like ``IDS``: the dtype of the
        argument chooses among them at each call.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    ::

        @kernel(IDS, writable(INT64))
        def count(labels, counts):
            for label in labels:
                counts[label] += 1

        count(np.array([0, 2, 2], np.int32), np.zeros(3, np.int64))
    """
    return lambda function: Kernel(function, signature)


class Kernel:
    """A function that is compiled at its first call, once for each choice of types; made by `kernel`.

    It runs without the GIL and without fastmath. A division by zero gives what IEEE 754 says: a check for it would keep
    loops from being vectorised.

    Attributes
    ----------
    function : callable
        The plain Python function.
    signature : tuple of numba types
    """

    def __init__(self, function: Callable[..., Any], signature: tuple[Type, ...]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = signature
        self._choices = [position for position, kind in enumerate(signature) if isinstance(kind, tuple)]
        self._compiled: dict[tuple[np.dtype[Any], ...], Callable[..., Any]] = {}
        self._compiling = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        dtypes = tuple([arguments[position].dtype for position in self._choices]) if self._choices else ()
        machine_code = self._compiled.get(dtypes)
        if machine_code is None:
            machine_code = self.compiled(*dtypes)
        return machine_code(*arguments)

    def compiled(self, *dtypes: np.dtype[Any]) -> Callable[..., Any]:
        """The machine code for some dtypes, compiled if it was not yet.

        Parameters
        ----------
        *dtypes : numpy.dtype
            One for each argument that has several types in the signature.

        Returns
        -------
        callable
            Numba's dispatcher.
        """
        with self._compiling:
            if dtypes not in self._compiled:
                left = iter(dtypes)
                kinds = [_choose(kind, next(left)) if isinstance(kind, tuple) else kind for kind in self.signature]
                self._compiled[dtypes] = _from_cache(self.function, kinds)
        return self._compiled[dtypes]


def _from_cache(function: Callable[..., Any], arguments: list[Type]) -> Callable[..., Any]:
    """A function's machine code for these types, from the cache or compiled into it."""
    folder = _cache_folder(function)
    with locked(folder.with_suffix(".lock"), quiet=True):
        try:
            return _compile(function, arguments)
        except (EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, ValueError):
            shutil.rmtree(folder)  # a damaged cache, from a full disk for instance
            return _compile(function, arguments)


def _compile(function: Callable[..., Any], arguments: list[Type]) -> Callable[..., Any]:
    with _NUMBA_CONFIG:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{ContentLocator.__name__}"
        try:
            jitted = numba.njit([tuple(arguments)], cache=True, nogil=True, error_model="numpy")
            machine_code: Callable[..., Any] = jitted(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before
    return machine_code


def _each(array: Type, change: Callable[[Type], Type]) -> Type:
    return tuple(map(change, array)) if isinstance(array, tuple) else change(array)


def _choose(kinds: tuple[Type, ...], dtype: np.dtype[Any]) -> Type:
    for kind in kinds:
        if as_dtype(kind.dtype) == dtype:
            return kind
    raise TypeError(f"No matching definition: an array of {dtype} in place of one of {', '.join(map(str, kinds))}")


def _cache_folder(function: Callable[..., Any]) -> Path:
    source = Path(function.__code__.co_filename)
    digest = hashlib.sha256(source.read_bytes())
    for shared in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(shared.read_bytes())
    return cache_folder("kernels") / f"{source.stem}-{digest.hexdigest()[:16]}"


class ContentLocator(numba.core.caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Tells numba to keep a function in the folder named after its source's content."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(_cache_folder(function))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> ContentLocator:
        locator = cls(function, file)
        locator.ensure_cache_path()
        return locator
