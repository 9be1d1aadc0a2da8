"""Read pickled arrays, sparse matrices and plain containers; refuse everything else.

A pickle is a program: it names callables and runs them. Here it only ever gets the few below,
and for numpy's and scipy's it gets stand-ins, since theirs trust a pickle with memory
(``ndarray.__setstate__`` allocates what it is told to, ``dtype``'s sets internal flags).
"""

from __future__ import annotations

import io
import mmap
import pickle
import pickletools
import re
import struct
from collections import defaultdict
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.runtime.errors import GrandPlusError

# What reading a damaged pickle can raise.
_DAMAGE = (
    pickle.UnpicklingError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


def load_pickle(file: Path) -> object:
    """What ``file`` holds: a numpy array, a scipy sparse matrix, or Python containers of numbers and text.

    Written by Python 2 or 3. Arrays hold plain numbers; sparse matrices are checked in full.
    Neither is looked for inside containers.

    Raises
    ------
    GrandPlusError : the pickle is damaged, or asks for anything else; that is then not executed.
    """
    try:
        # Mapped: a read past the end is cut short, as from bytes, but there is one copy less in memory.
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _load(cast(IO[bytes], content), len(content), file)
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    except ValueError as error:  # an empty file can't be mapped
        raise GrandPlusError(f"can't be read as a pickle: {error}", where=file, fix="fetch it again") from None


def load_pickled(content: bytes, where: object) -> object:
    """The same of bytes, like those of a member of an ``.npz``.

    where : what to call them in an error.
    """
    return _load(io.BytesIO(content), len(content), where)


def _load(content: IO[bytes], size: int, where: object) -> object:
    try:
        _check_operations(content, size)
        content.seek(0)
        return _real(_Unpickler(content, where).load())
    except _DAMAGE as error:
        raise GrandPlusError(f"can't be read as a pickle: {error}", where=where, fix="fetch it again") from None


def _real(found: object) -> object:
    return found.real() if isinstance(found, _Array | _Sparse) else found


def _check_operations(content: IO[bytes], size: int) -> None:
    """Refuse what would take much memory: lengths beyond the file's end, and a huge memo."""
    for operation, argument, _ in pickletools.genops(content):
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > size:
            raise pickle.UnpicklingError(f"memo of {argument} items in {size} bytes")


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: IO[bytes], where: object) -> None:
        super().__init__(content, encoding="latin1")  # numpy's bytes, written by Python 2
        self._where = where

    def find_class(self, module: str, name: str) -> Any:
        today = _MODULES.get(module, module)
        if (today, name) not in _ALLOWED:
            raise GrandPlusError(f"asks for {module}.{name}, which a dataset has no need of", where=self._where)
        return _ALLOWED[today, name]


class _Dtype:
    """numpy.dtype, of plain numbers, or of a thing in an array of its own."""

    def __init__(self, code: str, *_: object) -> None:
        if not re.fullmatch("[biuf][1248]|O8?", code):
            raise ValueError(f"array of {code!r}, not of numbers")
        self.code = code
        self.byte_order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] not in ("<", ">", "=", "|"):
            raise ValueError(f"byte order {state[1]!r}")
        self.byte_order = state[1]


class _Array:
    """numpy.ndarray, made from bytes that are really there."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def real(self) -> object:
        _, shape, dtype, fortran, content = self.state
        if dtype.code.startswith("O"):
            (thing,) = content  # as numpy wraps what is saved to an .npz and is no array
            return _real(thing)
        content = content.encode("latin1") if isinstance(content, str) else content
        self.state = ()  # so that the bytes can go
        flat = np.frombuffer(content, np.dtype(dtype.byte_order + dtype.code))
        flat = flat.astype(dtype.code, copy=not flat.flags.writeable)
        return flat.reshape(shape, order="F" if fortran else "C")


def _from_buffer(content: bytes, dtype: _Dtype, shape: tuple[int, ...], order: str, *_: object) -> _Array:
    """numpy's function of this name, which pickles of protocol 5 call."""
    if order not in ("C", "F"):
        raise ValueError(f"array in order {order!r}")
    found = _Array()
    found.state = (1, shape, dtype, order == "F", content)
    return found


class _Sparse:
    """A scipy.sparse matrix, checked in full."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state

    def real(self) -> Any:
        raise TypeError("sparse matrix of no known format")  # only subclasses are in _ALLOWED


class _Csr(_Sparse):
    kind = sparse.csr_matrix

    def real(self) -> Any:
        data, indices, indptr = (_numbers(self.state[name]) for name in ("data", "indices", "indptr"))
        _check_integers(indices, indptr)
        matrix = self.kind((data, indices, indptr), shape=self.state["_shape"])
        matrix.check_format(full_check=True)
        return matrix


class _Csc(_Csr):
    kind = sparse.csc_matrix


class _Coo(_Sparse):
    def real(self) -> Any:
        row, col = map(_numbers, self.state.get("coords") or (self.state["row"], self.state["col"]))
        _check_integers(row, col)
        return sparse.coo_matrix((_numbers(self.state["data"]), (row, col)), shape=self.state["_shape"])


def _numbers(part: object) -> NDArray[Any]:
    found = _real(part)
    if not isinstance(found, np.ndarray):
        raise ValueError(f"sparse matrix of a {type(found).__name__}")
    return found


def _check_integers(*indices: NDArray[Any]) -> None:
    for index in indices:
        if index.dtype.kind != "i" or index.ndim != 1:
            raise ValueError(f"sparse index of type {index.dtype}, shape {index.shape}")


# Names that older versions wrote, and today's.
_MODULES = {
    "__builtin__": "builtins",
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
    "scipy.sparse.coo": "scipy.sparse._coo",
    "scipy.sparse.csc": "scipy.sparse._csc",
    "scipy.sparse.csr": "scipy.sparse._csr",
}
_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
    ("scipy.sparse._coo", "coo_matrix"): _Coo,
    ("scipy.sparse._csc", "csc_matrix"): _Csc,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
}
