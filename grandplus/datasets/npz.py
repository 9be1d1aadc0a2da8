"""An ``.npz`` is looked through before anything of it is read: small files can't ask for much memory."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from grandplus.errors import GrandPlusError

_MOST_DEFLATED = 1032  # times that deflate can make something smaller, at the very most
_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def check_npz(file: Path, keys: Iterable[str]) -> None:
    """Check that every array is as large as it declares, and could be in a file of this size.

    Parameters
    ----------
    keys : names that must be there.

    Raises
    ------
    GrandPlusError : it is no ``.npz`` of numbers, an array has another size than declared, or lacks; with its key.
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
            for key, info in members.items():
                with archive.open(info) as stream:
                    _check_member(info, _declared(stream), where=f"{file}, {key}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        # RuntimeError: encrypted, or packed in a way that this Python doesn't know
        raise GrandPlusError(f"is no readable .npz: {error}", where=file) from None


def read_npz(file: Path, key: str) -> NDArray[Any]:
    """One array of a file that ``check_npz`` has passed."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            found: NDArray[Any] = arrays[key]
            return found
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise GrandPlusError(f"{key} can't be read: {error}", where=file) from None


def _declared(stream: IO[bytes]) -> int:
    """Bytes of a member, by its own header."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADER:
        raise ValueError(f"array format {version}")
    shape, _, dtype = _HEADER[version](stream)
    if dtype.hasobject:
        raise ValueError("array of Python objects")
    return stream.tell() + math.prod(shape) * dtype.itemsize


def _check_member(info: zipfile.ZipInfo, declared: int, where: str) -> None:
    if declared != info.file_size:
        raise GrandPlusError(f"has {info.file_size:,} bytes", where=where, expected=f"{declared:,}, as its header says")
    if info.file_size > _MOST_DEFLATED * (info.compress_size + 1):
        raise GrandPlusError(f"declares {info.file_size:,} bytes in {info.compress_size:,} of the file", where=where)
