"""Unpack wanted files from a zip archive, such as a wheel; an archive that could do harm is refused."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from grandplus.datasets.fetch.http import UnavailableError
from grandplus.runtime.errors import GrandPlusError

NAMES_IN_ERROR = 10  # at most


def unpack(archive: Path, names: list[str], folder: Path, *, inside: str | None, budget: int, where: str) -> None:
    """Write the members of these names into a folder.

    Parameters
    ----------
    archive : Path
    names : list of str
        Base names of the wanted members.
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
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _members(opened, names, inside, where)
            for name in names:
                if name not in members:
                    held = ", ".join(sorted(opened.namelist())[:NAMES_IN_ERROR])
                    raise UnavailableError(f"lacks {PurePosixPath(inside or '', name)}, and holds {held}")
            size = sum(info.file_size for info in members.values())
            if size > budget:
                raise GrandPlusError(f"would unpack to {size:,} bytes", where=where, expected=f"at most {budget:,}")
            for name, info in members.items():
                with opened.open(info) as reader, (folder / name).open("wb") as writer:
                    shutil.copyfileobj(reader, writer, 2**20)  # at most the declared size
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError: encrypted, or packed in a way that this Python doesn't know
        raise GrandPlusError(f"can't be unpacked: {error}", where=where) from None
    except OSError as error:
        raise GrandPlusError(f"can't be unpacked into {folder}: {error.strerror or error}", where=where) from None


def _members(opened: zipfile.ZipFile, names: list[str], inside: str | None, where: str) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    _check_path(inside or "", where)
    for info in opened.infolist():
        path = _check_path(info.filename, where)
        if info.is_dir() or path.name not in names or (inside is not None and path.parent != PurePosixPath(inside)):
            continue
        if path.name in members:
            both = f"{members[path.name].filename} and {info.filename}"
            raise GrandPlusError(f"holds {path.name} twice: {both}", where=where)
        members[path.name] = info
    return members


def _check_path(text: str, where: str) -> PurePosixPath:
    path = PurePosixPath(text.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise GrandPlusError(f"holds a file outside itself: {text}", where=where)
    return path
