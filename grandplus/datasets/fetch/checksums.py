"""Copy a file only if it is the right one, and say what is wrong with it otherwise."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
_HTML = re.compile(rb"<!doctype html|<html", re.IGNORECASE)
_HEAD = 1024
_PICKLE, _PICKLE_STOP = b"\x80", b"."


def is_intact(file: Path, sha256: str) -> bool:
    """Whether ``file`` exists and has this checksum."""
    return file.is_file() and _sha256(file) == sha256


def checked(file: Path, sha256: str | None, *, where: str, fix: str = "") -> str:
    """The checksum of a file that is the right one.

    Parameters
    ----------
    sha256 : of the right file; None where that isn't known: any file will do that is data at all.
    where : what to call the file in an error.
    fix : what to do then.

    Raises
    ------
    GrandPlusError : it is another file: wrong, truncated, empty, an HTML page or a Git LFS pointer.
    """
    found = _sha256(file)
    if sha256 is None:
        refuse_no_data(file, where=where)
    elif found != sha256:
        fault = _no_data(file) or _unlike_text(file) or f"has sha256 {found} ({file.stat().st_size:,} bytes)"
        raise GrandPlusError(fault, where=where, expected=f"sha256 {sha256}", fix=fix)
    return found


def refuse_no_data(file: Path, *, where: object) -> None:
    """Refuse what can't be a dataset's file, whatever its format."""
    fault = _no_data(file)
    if fault:
        raise GrandPlusError(fault, where=where, expected="a dataset's file")


def copy_checked(source: Path, target: Path, sha256: str, *, where: str) -> None:
    """Copy ``source`` to ``target``, which appears only once it is whole and right.

    Raises
    ------
    GrandPlusError : the source is another file, or it can't be copied. Nothing is left behind.
    """
    try:
        with finished_whole(target) as partial:
            shutil.copyfile(source, partial)
            checked(partial, sha256, where=where)
    except OSError as error:
        raise GrandPlusError(f"can't be copied to {target.parent}: {error.strerror or error}", where=where) from None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _no_data(file: Path) -> str:
    """Why this can't be a dataset's file."""
    head, last = _ends(file)
    if not head:
        return "is empty"
    if head.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the file that it points to"
    if _HTML.search(head):
        return "is an HTML page"
    return _truncated(file) if head.startswith(_PICKLE) and last != _PICKLE_STOP else ""


def _unlike_text(file: Path) -> str:
    """That a file which is known to be wrong begins like text, and doesn't end a line."""
    head, last = _ends(file)
    return "" if head.startswith(_PICKLE) or b"\0" in head or last == b"\n" else _truncated(file)


def _truncated(file: Path) -> str:
    return f"is truncated, after {file.stat().st_size:,} bytes"


def _ends(file: Path) -> tuple[bytes, bytes]:
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(-1 if head else 0, os.SEEK_END)
        return head, stream.read()
