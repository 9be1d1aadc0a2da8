"""Copy a file only if it is the right one, and say what is wrong with it otherwise."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from grandplus.errors import GrandPlusError
from grandplus.scratch import finished_whole

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
_HTML = re.compile(rb"<!doctype html|<html", re.IGNORECASE)
_HEAD = 1024


def is_intact(file: Path, sha256: str) -> bool:
    """Whether ``file`` exists and has this checksum."""
    return file.is_file() and _sha256(file) == sha256


def copy_checked(source: Path, target: Path, sha256: str, *, where: str) -> None:
    """Copy ``source`` to ``target``, which appears only once it is whole and right.

    Parameters
    ----------
    sha256 : of the right file.
    where : what to call the source in an error.

    Raises
    ------
    GrandPlusError : the source is another file (wrong, truncated, empty, an HTML page or a
        Git LFS pointer), or it can't be copied. Nothing is left behind.
    """
    try:
        with finished_whole(target) as partial:
            shutil.copyfile(source, partial)
            found = _sha256(partial)
            if found != sha256:
                raise GrandPlusError(_fault(partial, found), where=where, expected=f"sha256 {sha256}")
    except OSError as error:
        raise GrandPlusError(f"can't be copied to {target.parent}: {error.strerror or error}", where=where) from None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fault(file: Path, found: str) -> str:
    """What is wrong with a file that has the wrong checksum."""
    size = file.stat().st_size
    if size == 0:
        return "is empty"
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(-1, os.SEEK_END)
        last = stream.read()
    if head.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the file that it points to"
    if _HTML.search(head):
        return "is an HTML page"
    if last != _last_byte(head, default=last):
        return f"is truncated, after {size:,} bytes"
    return f"has sha256 {found} ({size:,} bytes)"


def _last_byte(head: bytes, *, default: bytes) -> bytes:
    """What a whole file ends with, where its format tells."""
    if head.startswith(b"\x80"):
        return b"."  # a pickle's STOP
    return default if b"\0" in head else b"\n"
