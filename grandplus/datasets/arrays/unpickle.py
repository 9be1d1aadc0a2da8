"""Read pickled arrays, sparse matrices and plain containers; refuse everything else.

A pickle is a program: it names callables and runs them. Here it can only run the few that are listed below. Those of
numpy and scipy are replaced by others, as the real ones trust the pickle: ``ndarray.__setstate__`` allocates as much
memory as the pickle says, and that of ``dtype`` sets internal flags.
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

# What a damaged pickle can raise.
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
    """Read a pickle that Python 2 or 3 has written.

    Parameters
    ----------
    file : Path

    Returns
    -------
    object
        A numpy array of plain numbers, a scipy sparse matrix, which is checked in full, or Python containers of numbers
        and text. Containers can't hold arrays or matrices.

    Raises
    ------
    GrandPlusError
        The pickle is damaged, or asks for anything else; that is then not executed.
    """
    try:
        # Mapped, which saves a copy in memory; a read past the end is cut short, as with bytes.
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _load(cast(IO[bytes], content), len(content), file)
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None
    except ValueError as error:  # an empty file can't be mapped
        raise GrandPlusError(f"can't be read as a pickle: {error}", where=file, fix="fetch it again") from None


def load_pickled(content: bytes, where: object) -> object:
    """Read a pickle from bytes, as a member of an ``.npz`` has them.

    Parameters
    ----------
    content : bytes
    where : object
        What to call them in an error.

    Returns
    -------
    object
        See ``load_pickle``.

    Raises
    ------
    GrandPlusError
        See ``load_pickle``.
    """
    return _load(io.BytesIO(content), len(content), where)


def _load(content: IO[bytes], size: int, where: object) -> object:
    try:
        _check_operations(content, size)
        content.seek(0)
        return _real(_Unpickler(content, where).load())
    except _DAMAGE as error:
        raise GrandPlusError(f"can't be read as a pickle: {error}", where=where, fix="fetch it again") from None


def _real(value: object) -> object:
    return value.real() if isinstance(value, _Array | _Sparse) else value


def _check_operations(content: IO[bytes], size: int) -> None:
    """Check that no operation takes much memory: no length goes beyond the end of the file, and the memo is small."""
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
    """numpy.dtype of plain numbers, or of an array that wraps a single object."""

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
    """numpy.ndarray, made from bytes that are in the file."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def real(self) -> object:
        _, shape, dtype, fortran, content = self.state
        if dtype.code.startswith("O"):
            (wrapped,) = content  # as numpy saves what is no array to an .npz
            return _real(wrapped)
        content = content.encode("latin1") if isinstance(content, str) else content
        self.state = ()  # so that the memory of the bytes can be freed
        flat = np.frombuffer(content, np.dtype(dtype.byte_order + dtype.code))
        flat = flat.astype(dtype.code, copy=not flat.flags.writeable)
        return flat.reshape(shape, order="F" if fortran else "C")


def _from_buffer(content: bytes, dtype: _Dtype, shape: tuple[int, ...], order: str, *_: object) -> _Array:
    """numpy's ``_frombuffer``, which pickles of protocol 5 call."""
    if order not in ("C", "F"):
        raise ValueError(f"array in order {order!r}")
    array = _Array()
    array.state = (1, shape, dtype, order == "F", content)
    return array


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
    array = _real(part)
    if not isinstance(array, np.ndarray):
        raise ValueError(f"sparse matrix of a {type(array).__name__}")
    return array


def _check_integers(*indices: NDArray[Any]) -> None:
    for index in indices:
        if index.dtype.kind != "i" or index.ndim != 1:
            raise ValueError(f"sparse index of type {index.dtype}, shape {index.shape}")


# Names of modules that older versions wrote, and those of today.
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
