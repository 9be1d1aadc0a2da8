"""Unpack what is wanted from a zip, a wheel included, unless the zip is out to do harm."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from grandplus.datasets.fetch.http import UnavailableError
from grandplus.runtime.errors import GrandPlusError

_LISTED = 10  # names that an error lists


def unpack(archive: Path, names: list[str], folder: Path, *, inside: str | None, budget: int, where: str) -> None:
    """Write the members of these names into ``folder``.

    Parameters
    ----------
    names : base names of the wanted members.
    inside : the folder in the archive that holds them; None: any.
    budget : bytes that they may take together.
    where : what to call the archive in an error.

    Raises
    ------
    UnavailableError : the archive lacks one of them.
    GrandPlusError : the archive is damaged, names a file outside itself, holds a wanted name twice,
        or declares more than the budget.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            found = _members(opened, names, inside, where)
            for name in names:
                if name not in found:
                    held = ", ".join(sorted(opened.namelist())[:_LISTED])
                    raise UnavailableError(f"lacks {PurePosixPath(inside or '', name)}, and holds {held}")
            size = sum(info.file_size for info in found.values())
            if size > budget:
                raise GrandPlusError(f"would unpack to {size:,} bytes", where=where, expected=f"at most {budget:,}")
            for name, info in found.items():
                with opened.open(info) as reader, (folder / name).open("wb") as writer:
                    shutil.copyfileobj(reader, writer, 2**20)  # at most the declared size
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or packed in a way that this Python doesn't know
        raise GrandPlusError(f"can't be unpacked: {error}", where=where) from None
    except OSError as error:
        raise GrandPlusError(f"can't be unpacked into {folder}: {error.strerror or error}", where=where) from None


def _members(opened: zipfile.ZipFile, names: list[str], inside: str | None, where: str) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    _check_path(inside or "", where)
    for info in opened.infolist():
        path = _check_path(info.filename, where)
        if info.is_dir() or path.name not in names or (inside is not None and path.parent != PurePosixPath(inside)):
            continue
        if path.name in found:
            both = f"{found[path.name].filename} and {info.filename}"
            raise GrandPlusError(f"holds {path.name} twice: {both}", where=where)
        found[path.name] = info
    return found


def _check_path(text: str, where: str) -> PurePosixPath:
    path = PurePosixPath(text.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise GrandPlusError(f"holds a file outside itself: {text}", where=where)
    return path
