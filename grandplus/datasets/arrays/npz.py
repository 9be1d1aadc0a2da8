"""Read ``.npz`` files, which are checked before anything is read, so that a small file can't take much memory."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.files import NPY_DAMAGE
from grandplus.datasets.arrays.matrices import check_compressed, described
from grandplus.datasets.arrays.unpickle import load_pickled
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError

CSR_PARTS = ("data", "indices", "indptr", "shape")

MAX_COMPRESSION = 1032  # times smaller that deflate can make something
# What a damaged file can raise. RuntimeError: encrypted, or packed in a way that this Python doesn't know.
_DAMAGE = (*NPY_DAMAGE, zipfile.BadZipFile, zlib.error, LookupError, RuntimeError)
_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def keys_of(file: Path) -> set[str]:
    """Names of the arrays in a file; none if it is no ``.npz``.

    Parameters
    ----------
    file : Path

    Returns
    -------
    set of str
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return {name.removesuffix(".npy") for name in archive.namelist()}
    except _DAMAGE:
        return set()


def check_npz(file: Path, keys: Iterable[str], *, objects: bool = False) -> None:
    """Check that every array is as large as it declares, could be in a file of this size, and fits into memory.

    Parameters
    ----------
    file : Path
    keys : iterable of str
        Names of arrays that must be there.
    objects : bool
        Whether arrays of Python objects are allowed, for ``read_npz_object``.

    Raises
    ------
    GrandPlusError
        It is no ``.npz`` of numbers, an array has another size than declared, or is missing; with its key.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if len(members) != len(archive.infolist()):
                raise GrandPlusError("holds a name twice", where=file)
            for key in keys:
                if key not in members:
                    raise GrandPlusError(f"lacks {key}, and holds {', '.join(sorted(members))}", where=file)
            if sum(info.compress_size for info in members.values()) > file.stat().st_size:
                raise GrandPlusError("declares more than its own size", where=file)
            declared = sum(info.file_size for info in members.values())
            if declared > environment.memory():
                found = f"declares {declared:,} bytes in {file.stat().st_size:,}"
                raise GrandPlusError(
                    found, where=file, expected=f"at most {environment.memory():,}, the memory at hand"
                )
            for key, info in members.items():
                with archive.open(info) as stream:
                    declared_by_header = _declared(stream)
                if declared_by_header is None and not objects:
                    fix = "save it as numbers, or as text with .astype(str)"
                    raise GrandPlusError(
                        f"{key} is an array of Python objects",
                        where=file,
                        expected="an array of numbers or text",
                        fix=fix,
                    )
                _check_member(info, declared_by_header, where=f"{file}, {key}")
    except _DAMAGE as error:
        raise GrandPlusError(f"is no readable .npz: {error}", where=file, fix="fetch it again") from None


def read_npz(file: Path, key: str) -> NDArray[Any]:
    """An array of a file that ``check_npz`` has passed; bytes are read as text in UTF-8.

    Parameters
    ----------
    file : Path
    key : str

    Returns
    -------
    ndarray

    Raises
    ------
    GrandPlusError
        It can't be read.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            array: NDArray[Any] = arrays[key]
            return np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array
    except UnicodeDecodeError:
        fix = "save it as text with .astype(str)"
        raise GrandPlusError(f"{key} is not UTF-8", where=file, expected="numbers or text", fix=fix) from None
    except _DAMAGE as error:
        raise GrandPlusError(f"{key} can't be read: {error}", where=file) from None


def read_npz_object(file: Path, key: str) -> object:
    """An array or a pickled object of a file that ``check_npz`` has passed with ``objects``.

    Parameters
    ----------
    file : Path
    key : str

    Returns
    -------
    object
        See ``load_pickle`` for what may be pickled.

    Raises
    ------
    GrandPlusError
        It can't be read, or holds anything else; that is then not executed.
    """
    try:
        with zipfile.ZipFile(file) as archive, archive.open(f"{key}.npy") as stream:
            _, _, dtype = _header(stream)
            content = stream.read() if dtype.hasobject else None
    except _DAMAGE as error:
        raise GrandPlusError(f"{key} can't be read: {error}", where=file) from None
    return read_npz(file, key) if content is None else load_pickled(content, f"{file}, {key}")


def read_csr(file: Path, prefix: str) -> Any:
    """A CSR matrix whose arrays are saved as ``{prefix}data``, ``indices``, ``indptr`` and ``shape``.

    Parameters
    ----------
    file : Path
    prefix : str
        Of the keys.

    Returns
    -------
    scipy CSR

    Raises
    ------
    GrandPlusError
        The arrays don't fit each other; with the key.
    """
    data, indices, indptr, shape = (read_npz(file, f"{prefix}{part}") for part in CSR_PARTS)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise GrandPlusError(f"{prefix}shape is {shape.tolist()}", where=file, expected="rows and columns")
    rows, columns = map(int, shape)
    if indptr.shape != (rows + 1,):
        found = f"{prefix}indptr is {described(indptr)}"
        raise GrandPlusError(found, where=file, expected=f"{rows + 1} integers, as by {prefix}shape")
    if data.shape != indices.shape or data.dtype.kind not in "fiub":
        found = f"{prefix}data is {described(data)}"
        raise GrandPlusError(found, where=file, expected=f"numbers of shape {indices.shape}, as {prefix}indices")
    check_compressed(indptr, indices, columns, file, prefix=prefix)
    return sparse.csr_matrix((data, indices, indptr), shape=(rows, columns))


def read_scipy_npz(file: Path) -> Any:
    """A matrix that ``scipy.sparse.save_npz`` has written.

    Parameters
    ----------
    file : Path

    Returns
    -------
    scipy sparse matrix

    Raises
    ------
    GrandPlusError
        The file holds something else.
    """
    check_npz(file, ["format", "shape", "data"])
    try:
        return sparse.load_npz(file)
    except (*_DAMAGE, AttributeError) as error:
        raise GrandPlusError(f"is no sparse matrix: {error}", where=file) from None


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, whether the array is in Fortran's order, and dtype."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADER:
        raise ValueError(f"array format {version}")
    header: tuple[tuple[int, ...], bool, Any] = _HEADER[version](stream)
    return header


def _declared(stream: IO[bytes]) -> int | None:
    """Bytes of a member by its own header; None if it holds Python objects, whose size the header doesn't tell."""
    shape, _, dtype = _header(stream)
    if dtype.hasobject:
        return None
    return stream.tell() + math.prod(shape) * int(dtype.itemsize)


def _check_member(info: zipfile.ZipInfo, declared: int | None, where: str) -> None:
    if declared not in (None, info.file_size):
        raise GrandPlusError(f"has {info.file_size:,} bytes", where=where, expected=f"{declared:,}, as its header says")
    if info.file_size > MAX_COMPRESSION * (info.compress_size + 1):
        raise GrandPlusError(f"declares {info.file_size:,} bytes in {info.compress_size:,} of the file", where=where)
