"""What a user names, files, folders and zip archives -> the files of a dataset, each with a name.

A file that is given by itself has its own name. A file in a folder or in an archive is named by its path there, without
the folders that all of them have in common. Hidden files are left out.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from grandplus.datasets.fetch.archives import files_in, unpack_one
from grandplus.datasets.fetch.manifest import FILE
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text
from grandplus.runtime.validation import FileName, checked_as

ARCHIVE = ".zip"


@dataclass(frozen=True)
class Gathered:
    """The files of a dataset.

    Attributes
    ----------
    folder : Path
        Where each file lies under its name.
    origins : dict of Path
        Where each file comes from, by its name. A path may lead into a zip archive.
    """

    folder: Path
    origins: dict[str, Path]


@contextlib.contextmanager
def gathered(given: Iterable[Path]) -> Iterator[Gathered]:
    """The files that a user gives, in one folder.

    That is their own folder if they lie in one; else a temporary one with links to them and with what archives hold.

    Parameters
    ----------
    given : iterable of Path
        Files, folders and zip archives.

    Yields
    ------
    Gathered

    Raises
    ------
    GrandPlusError
        Something is missing or has a name that can't be used, two files have the same name, or an archive is damaged.
    """
    origins = origins_of(given)
    folder = _own_folder(origins)
    if folder is not None:
        yield Gathered(folder, origins)
        return
    with tempfile.TemporaryDirectory() as made, _named_without(made):
        folder = Path(made)
        _fill(folder, origins)
        yield Gathered(folder, origins)


def origins_of(given: Iterable[Path]) -> dict[str, Path]:
    """The path of each file by its name, in the order of names; see `Gathered`.

    Parameters
    ----------
    given : iterable of Path

    Returns
    -------
    dict of Path

    Raises
    ------
    GrandPlusError
        There is no such file or folder, a folder is empty, a name can't be used, or two files have the same.
    """
    given = sorted(set(given))
    single = {path.absolute() for path in given if path.is_file()}
    origins: dict[str, Path] = {}
    for path in given:
        for name, origin in _files_at(path, single).items():
            checked_as(FileName, name, where=origin)
            if name == FILE or origins.setdefault(name, origin) != origin:
                other = origins.get(name, "a file of the pipeline's own")
                raise GrandPlusError(f"is called like {other}", where=origin, fix="give it another name")
    return dict(sorted(origins.items()))


def places_of(files: dict[str, Path], root: Path) -> list[dict[str, Any]]:
    """The places of a user's files, as a card has them.

    Parameters
    ----------
    files : dict of Path
        Where each file lies, by its name.
    root : Path
        The top of the checkout.
    """
    return [
        {"local": {name: _path(file, root) for name, file in files.items()}},
        {"mirror": "GRANDPLUS_MIRROR"},
    ]


def _files_at(path: Path, single: set[Path]) -> dict[str, Path]:
    """The files that a path stands for, by their names; without those in a folder that are also given by themselves."""
    if path.is_dir():
        inside = [file.relative_to(path) for file in path.rglob("*") if file.is_file()]
    elif not path.is_file():
        raise GrandPlusError("no such file", where=path, expected="a file or a folder")
    elif path.suffix.lower() == ARCHIVE:
        inside = [Path(name) for name in files_in(path)]
    else:
        return {path.name: path}
    inside = [
        file for file in inside if not any(map(_is_hidden, file.parts)) and (path / file).absolute() not in single
    ]
    if not inside:
        raise GrandPlusError("holds no file", where=path, expected="the files of a graph")
    return dict(zip(_without_common_folders(inside), (path / file for file in inside), strict=True))


def _is_hidden(part: str) -> bool:
    return part.startswith(".") or part == "__MACOSX"  # the latter as macOS puts it into archives


def _without_common_folders(files: list[Path]) -> list[str]:
    """Paths without the folders that all of them begin with.

    >>> _without_common_folders([Path("arxiv/raw/edge.csv"), Path("arxiv/split/time/test.csv")])
    ['raw/edge.csv', 'split/time/test.csv']
    """
    common = os.path.commonpath([PurePath("/", file).parent for file in files])
    return [PurePath("/", file).relative_to(common).as_posix() for file in files]


def _own_folder(origins: dict[str, Path]) -> Path | None:
    """The folder in which each file lies under its name; None if there is none."""
    name, origin = next(iter(origins.items()))
    folder = origin.parents[name.count("/")]
    lies_there = all(folder / name == origin and origin.is_file() for name, origin in origins.items())
    return folder if lies_there else None


def _fill(folder: Path, origins: dict[str, Path]) -> None:
    """Put a link to each file, or what an archive holds, into a folder."""
    for name, origin in origins.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        archive = next((above for above in origin.parents if above.is_file()), None)
        if archive is None:
            target.symlink_to(origin.absolute())
            continue
        member = origin.relative_to(archive).as_posix()
        size, free = files_in(archive)[member], shutil.disk_usage(folder).free
        if size > free:
            expected = f"at most {size_text(free)}, which are free"
            fix = "unpack it, and import the folder"
            raise GrandPlusError(f"unpacks to {size_text(size)}", where=origin, expected=expected, fix=fix)
        unpack_one(archive, member, target)


@contextlib.contextmanager
def _named_without(folder: str) -> Iterator[None]:
    """An error in this block names files without a temporary folder that the user doesn't know."""
    try:
        yield
    except GrandPlusError as error:
        error.where = str(error.where).replace(f"{folder}/", "")
        for part in ("found", "expected", "fix"):
            setattr(error, part, getattr(error, part).replace(f"{folder}/", ""))
        raise


def _path(file: Path, root: Path) -> str:
    """Relative to the top of the checkout, if the file lies in it."""
    file = file.absolute()
    top = root.absolute()
    return os.path.relpath(file, top) if file.is_relative_to(top) else str(file)
