"""Checksums of files: a file is accepted only if it is the right one; otherwise an error says what is wrong with it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from grandplus.runtime import sums
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
_HTML = re.compile(rb"<!doctype html|<html", re.IGNORECASE)
_HEAD = 1024
_PICKLE, _PICKLE_STOP = b"\x80", b"."
_MORE_THAN_PICKLES = (".pt", ".pth")  # as PyTorch wrote them before version 1.6


def is_intact(file: Path, sha256: str) -> bool:
    """Whether a file exists and has this checksum.

    Parameters
    ----------
    file : Path
    sha256 : str

    Returns
    -------
    bool
    """
    return file.is_file() and sums.sha256(file) == sha256


def checked(file: Path, sha256: str | None, *, where: str, fix: str = "") -> str:
    """Check that a file is the right one.

    Parameters
    ----------
    file : Path
    sha256 : str or None
        Checksum of the right file. None if it isn't known: then any file is right that may be data.
    where : str
        What to call the file in an error.
    fix : str
        What to do in case of an error.

    Returns
    -------
    str
        The checksum of the file.

    Raises
    ------
    GrandPlusError
        It is another file: wrong, truncated, empty, an HTML page or a Git LFS pointer.
    """
    actual = sums.sha256(file)
    if sha256 is None:
        check_is_data(file, where=where)
    elif actual != sha256:
        fault = _no_data(file) or _unlike_text(file) or f"has sha256 {actual} ({file.stat().st_size:,} bytes)"
        raise GrandPlusError(fault, where=where, expected=f"sha256 {sha256}", fix=fix)
    return actual


def check_is_data(file: Path, *, where: object) -> None:
    """Check that a file may belong to a dataset, whatever its format.

    Parameters
    ----------
    file : Path
    where : object
        What to call the file in an error.

    Raises
    ------
    GrandPlusError
        It is empty, truncated, an HTML page or a Git LFS pointer.
    """
    fault = _no_data(file)
    if fault:
        raise GrandPlusError(fault, where=where, expected="a dataset's file")


def copy_checked(source: Path, target: Path, sha256: str, *, where: str) -> None:
    """Copy a file; the copy appears only when it is whole and right.

    Parameters
    ----------
    source, target : Path
    sha256 : str
        Checksum of the right file.
    where : str
        What to call the source in an error.

    Raises
    ------
    GrandPlusError
        The source is another file, or it can't be copied. Then nothing of it is left.
    """
    with finished_whole(target) as partial:
        shutil.copyfile(source, partial)
        checked(partial, sha256, where=where)


def _no_data(file: Path) -> str:
    """Why this can't be a dataset's file; empty if it can."""
    head, last = _ends(file)
    if not head:
        return "is empty"
    if head.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the file that it points to"
    if _HTML.search(head):
        return "is an HTML page"
    is_pickle = head.startswith(_PICKLE) and file.suffix not in _MORE_THAN_PICKLES
    return _truncated(file) if is_pickle and last != _PICKLE_STOP else ""


def _unlike_text(file: Path) -> str:
    """What to say of a wrong file that begins like text and ends within a line: it is truncated; else nothing."""
    head, last = _ends(file)
    return "" if head.startswith(_PICKLE) or b"\0" in head or last == b"\n" else _truncated(file)


def _truncated(file: Path) -> str:
    return f"is truncated, after {file.stat().st_size:,} bytes"


def _ends(file: Path) -> tuple[bytes, bytes]:
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(-1 if head else 0, os.SEEK_END)
        return head, stream.read()
