"""Variables of MATLAB's files of version 5 to 7, read by scipy after their sizes were checked."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from grandplus.datasets.arrays.memory import check_taken
from grandplus.datasets.arrays.npz import MAX_COMPRESSION
from grandplus.runtime.errors import GrandPlusError

_VERSION_5, _HDF5 = b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"
_HEADER = 128  # bytes
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_COPIES = 2  # of the data in memory
_DAMAGE = (
    ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


class Variable(NamedTuple):
    """What a file says of a variable: its dimensions, and its class as MATLAB calls it."""

    shape: tuple[int, ...]
    kind: str


def variables_of(file: Path) -> dict[str, Variable]:
    """The variables of a file, all of which fit into memory.

    Parameters
    ----------
    file : Path

    Returns
    -------
    dict of Variable
        By name.

    Raises
    ------
    GrandPlusError
        It is no such file, is damaged, or declares more than it can hold or memory has.
    """
    from scipy.io import whosmat

    _check_sizes(file)
    try:
        listed = whosmat(file)
    except _DAMAGE as error:
        _raise_unreadable(error, file)
    variables = {name: Variable(tuple(shape), kind) for name, shape, kind in listed}
    if len(variables) < len(listed):
        raise GrandPlusError("holds a name twice", where=file)
    return variables


def read_variable(file: Path, name: str) -> Any:
    """A variable of a file that ``variables_of`` has passed.

    Parameters
    ----------
    file : Path
    name : str
        ``Problem.A`` is field A of the struct Problem.

    Returns
    -------
    ndarray or scipy sparse matrix
        Cells and structs are arrays of objects.

    Raises
    ------
    GrandPlusError
        It can't be read.
    """
    from scipy.io import loadmat

    outer, _, field = name.partition(".")
    try:
        value = loadmat(file, variable_names=[outer])[outer]
        return value[field][0, 0] if field else value
    except _DAMAGE as error:
        raise GrandPlusError(f"{name} can't be read: {error}", where=file) from None


def _check_sizes(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            head, size = stream.read(_HEADER), file.stat().st_size
            if head.startswith(_HDF5):
                fix = "save it in MATLAB with save(..., '-v7')"
                raise GrandPlusError("is of MATLAB's version 7.3 (HDF5)", where=file, expected="version 7", fix=fix)
            if not head.startswith(_VERSION_5) or head[126:128] not in (b"IM", b"MI"):
                raise GrandPlusError("is no MATLAB file", where=file, expected="one of version 5 to 7")
            declared = sum(_declared(stream, "<" if head[126:128] == b"IM" else ">", size))
    except (OSError, struct.error, zlib.error, ValueError) as error:
        _raise_unreadable(error, file)
    check_taken(declared * _COPIES, file)


def _declared(stream: Any, order: str, size: int) -> Iterator[int]:
    """Bytes of each variable, when it is unpacked."""
    while tag := stream.read(8):
        kind, length = struct.unpack(f"{order}II", tag)
        end = stream.tell() + length
        if kind not in (_MATRIX, _COMPRESSED) or end > size:
            raise ValueError(f"a variable of type {kind} with {length:,} bytes")
        if kind == _COMPRESSED:
            inner = zlib.decompressobj().decompress(stream.read(min(length, 1024)), 8)
            kind, unpacked = struct.unpack(f"{order}II", inner)
            if kind != _MATRIX or unpacked > MAX_COMPRESSION * (length + 1):
                raise ValueError(f"a variable that declares {unpacked:,} bytes in {length:,}")
            length = unpacked
        yield length
        stream.seek(end)


def _raise_unreadable(error: BaseException, file: Path) -> NoReturn:
    raise GrandPlusError(f"is no readable MATLAB file: {error}", where=file) from None
