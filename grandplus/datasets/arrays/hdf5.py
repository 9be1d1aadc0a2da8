"""Read arrays of an HDF5 file, each checked before it is believed: it must lie in this file and fit into memory.

On some damaged files the HDF5 library never ends, or ends the process. So another process reads a file first.
"""

from __future__ import annotations

import contextlib
import functools
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.matrices import check_compressed, described
from grandplus.datasets.arrays.memory import check_declared
from grandplus.datasets.arrays.npz import MAX_COMPRESSION
from grandplus.runtime.errors import GrandPlusError

# What h5py can raise on a damaged file.
_DAMAGE = (AttributeError, KeyError, OSError, OverflowError, RuntimeError, TypeError, ValueError)
SECONDS, BYTES_A_SECOND = 60, 2**21  # which the first reading may take; a sound file takes a tenth of it
# Reads what ``opened`` and the functions below may read. Python's errors are raised again when they read it.
_READ_ALL = """
import sys
import h5py

DAMAGE = (AttributeError, KeyError, OSError, OverflowError, RuntimeError, TypeError, ValueError)

def read(item, seen):
    if isinstance(item, h5py.Group):
        for name in item:
            if isinstance(item.get(name, getlink=True), h5py.HardLink):
                visit(item, name, seen)
    elif item.shape and not item.is_virtual and not item.external:
        size = item.size * item.dtype.itemsize
        if size <= int(sys.argv[2]) * (item.id.get_storage_size() + 1):
            step = max(1, 2**26 * len(item) // max(size, 1))
            for start in range(0, len(item), step):
                item[start : start + step]
    elif item.shape == ():
        item[()]

def visit(group, name, seen):
    try:
        item = group[name]
        address = h5py.h5o.get_info(item.id).addr
        if address not in seen:
            seen.add(address)
            read(item, seen)
            for key in item.attrs:
                item.attrs[key]
    except DAMAGE:
        pass

try:
    with h5py.File(sys.argv[1], "r", locking=False) as content:
        for name in content:
            if name in sys.argv[3:]:
                visit(content, name, set())
            elif isinstance(content.get(name, getlink=True), h5py.HardLink):
                isinstance(content[name], h5py.Group) and len(content[name])
except DAMAGE:
    pass
"""
SPARSE = {"csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix}


@contextlib.contextmanager
def opened(file: Path, names: Sequence[str]) -> Iterator[Any]:
    """An HDF5 file, to be read.

    Parameters
    ----------
    file : Path
    names : sequence of str
        The groups and datasets that will be read.

    Yields
    ------
    h5py.File

    Raises
    ------
    GrandPlusError
        h5py is not installed, or the file is damaged.
    """
    try:
        import h5py  # here, as it is optional
    except ImportError:
        fix = "pip install 'grandplus[h5ad]'"
        raise GrandPlusError("is read by h5py, which is not installed", where=file, fix=fix) from None
    stat = file.stat()
    _check_ends(file, tuple(names), stat.st_size, stat.st_mtime_ns)
    try:
        with h5py.File(file, "r", locking=False) as content:
            yield content
    except _DAMAGE as error:
        raise GrandPlusError(f"is no readable HDF5: {error}", where=file, fix="fetch it again") from None


@functools.cache
def _check_ends(file: Path, names: tuple[str, ...], size: int, written: int) -> None:
    """Check that the HDF5 library can read the file to its end; once for each file."""
    command = [sys.executable, "-c", _READ_ALL, str(file), str(MAX_COMPRESSION), *names]
    seconds = SECONDS + size / BYTES_A_SECOND
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        found = f"is no readable HDF5: the HDF5 library has not read it in {seconds:.0f} seconds"
        raise GrandPlusError(found, where=file, fix="fetch it again") from None
    if code:
        found = f"is no readable HDF5: the HDF5 library ends with code {code}"
        raise GrandPlusError(found, where=file, fix="fetch it again")


def member(group: Any, name: str, where: object) -> Any:
    """A group or dataset in a group; not one that only leads to another file.

    Parameters
    ----------
    group : h5py.Group
    name : str
    where : object
        What to call the group in an error.

    Returns
    -------
    h5py.Group or h5py.Dataset

    Raises
    ------
    GrandPlusError
        It is not there, or is a link.
    """
    import h5py

    if name not in group:
        raise GrandPlusError(f"lacks {name}, and holds {', '.join(group) or 'nothing'}"[:300], where=where)
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise GrandPlusError(f"{name} leads to another place", where=where, expected="data in the file itself")
    return group[name]


def read_array(dataset: Any, where: object) -> NDArray[Any]:
    """All of a dataset of numbers.

    Parameters
    ----------
    dataset : h5py.Dataset
    where : object

    Returns
    -------
    ndarray

    Raises
    ------
    GrandPlusError
        It is something else, lies in another file, or is larger than the memory at hand.
    """
    _check_stored(dataset, where)
    if dataset.dtype.kind not in "biuf":
        raise GrandPlusError(f"is {dataset.dtype}", where=where, expected="numbers")
    return np.asarray(dataset[()])


def read_strings(dataset: Any, where: object) -> pa.Array:
    """All of a dataset of texts or whole numbers, as text.

    Parameters
    ----------
    dataset : h5py.Dataset
    where : object

    Returns
    -------
    pyarrow array of large strings

    Raises
    ------
    GrandPlusError
        It is something else, lies in another file, or is larger than the memory at hand.
    """
    _check_stored(dataset, where)
    if dataset.ndim != 1 or dataset.dtype.kind not in "OSiu":
        raise GrandPlusError(f"is {described(dataset)}", where=where, expected="texts in a row")
    values = dataset[()] if dataset.dtype.kind in "iu" else dataset.asstr()[()]
    return pa.array([str(value) for value in values], pa.large_string())


def read_sparse(group: Any, where: object) -> Any:
    """A compressed matrix whose group holds data, indices and indptr, as AnnData writes it.

    Parameters
    ----------
    group : h5py.Group
        Its encoding-type is csr_matrix or csc_matrix, and its shape is an attribute.
    where : object

    Returns
    -------
    scipy CSR or CSC

    Raises
    ------
    GrandPlusError
        It is something else, or its arrays don't fit each other.
    """
    kind = text_of(group.attrs.get("encoding-type"))
    shape = np.asarray(group.attrs.get("shape", ()))
    if kind not in SPARSE or shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        expected = "a group of encoding-type csr_matrix or csc_matrix with a shape"
        raise GrandPlusError(f"has encoding-type {kind or 'none'}", where=where, expected=expected)
    parts = ("data", "indices", "indptr")
    stored = [member(group, part, where) for part in parts]
    for array in stored:
        _check_stored(array, where)
    _check_fits(stored, where)
    data, indices, indptr = (read_array(array, f"{where}/{part}") for part, array in zip(parts, stored, strict=True))
    rows, columns = map(int, shape) if kind == "csr_matrix" else map(int, shape[::-1])
    check_compressed(indptr, indices, columns, where)
    if len(indptr) != rows + 1 or data.shape != indices.shape:
        found = f"has {len(indptr) - 1} rows, {len(indices)} indices and data of shape {data.shape}"
        raise GrandPlusError(found, where=where, expected=f"{rows} rows, and as many values as indices")
    return SPARSE[kind]((data, indices, indptr), shape=tuple(map(int, shape)))


def text_of(value: Any) -> str:
    """An attribute as text; empty if it is none.

    Examples
    --------
    >>> text_of(b"array"), text_of("array"), text_of(None)
    ('array', 'array', '')
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _check_stored(dataset: Any, where: object) -> None:
    import h5py

    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
        raise GrandPlusError("is no array", where=where, expected="an array")
    if dataset.is_virtual or dataset.external:
        raise GrandPlusError("lies in another file", where=where, expected="data in the file itself")
    size, stored = _size(dataset), dataset.id.get_storage_size()
    if size > MAX_COMPRESSION * (stored + 1):
        raise GrandPlusError(f"declares {size:,} bytes in {stored:,} of the file", where=where)
    _check_fits([dataset], where)


def _size(dataset: Any) -> int:
    return math.prod(map(int, dataset.shape)) * int(dataset.dtype.itemsize)


def _check_fits(datasets: list[Any], where: object) -> None:
    check_declared(sum(map(_size, datasets)), where)
