"""Get a dataset's files, from the first of its places that has them, and check each one.

Verified files stay in a download cache that all checkouts share. A file there is named by its checksum, so nothing is
fetched twice. If the card doesn't have the checksum of a file, a note in the cache keeps the one that the file of this
name and place had.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from grandplus.datasets.fetch.checksums import checked, copy_checked, is_intact
from grandplus.datasets.fetch.http import UnavailableError, version_note
from grandplus.datasets.fetch.manifest import Manifest
from grandplus.datasets.fetch.places import deliver, is_there, label
from grandplus.datasets.source import Expect, Place, Source
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text
from grandplus.runtime.storage import finished_whole, locked

MIN_SIZE_TO_ANNOUNCE = 64 * 2**20  # bytes; from here on, what a download needs is reported first

Report = Callable[[str], None]


def fetch(source: Source, folder: Path, *, catalog: Path, expect: Expect | None = None, report: Report = print) -> None:
    """Put the verified files of a dataset, and ``files.json`` that lists them, into a folder.

    Parameters
    ----------
    source : Source
        Files and places, as in the dataset's card.
    folder : Path
        An empty folder.
    catalog : Path
        Where the cards are, and the files of node order that they name.
    expect : Expect, optional
        The card's counts, to report how much memory the dataset needs.
    report : callable
        Is given a line for each place that doesn't deliver, for each large download, and for each file; a second one
        for a file without a checksum in the card.

    Raises
    ------
    GrandPlusError
        No place delivers, a file is wrong, or the disk is too small. Then nothing is left in the folder.
    """
    for place in source.places:
        if place.mirror:
            environment.mirror_folder(place.mirror)  # a wrong folder is an error even if no file is needed from it
    cache = environment.cache_folder("downloads")
    delivered_by: dict[str, str] = {}
    place, checksums = _complete(source, cache, delivered_by, partial(_announce, expect=expect, report=report), report)
    manifest = Manifest.of(source, place, checksums)
    if manifest.order and not (catalog / manifest.order).is_file():
        raise GrandPlusError("no such file", where=catalog / manifest.order)
    for name, sha256 in sorted(checksums.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy_checked(cache / sha256, folder / name, sha256, where=f"{name} from the download cache")
        size = (folder / name).stat().st_size
        report(f"{name}: {size:,} bytes from {delivered_by.get(name, 'the download cache')}")
        if _files(source, place)[name] is None:
            report(f"the card has no checksum of it; to pin it, write there\n    {name}: {sha256}")
    manifest.save(folder)


def is_at_hand(source: Source) -> bool:
    """Whether a dataset's files, with those that came later, can be had without a download; they are not looked into.

    Parameters
    ----------
    source : Source
        As in the dataset's card.

    Raises
    ------
    GrandPlusError
        A mirror is set to no folder.
    """
    here = source.synthetic is not None or any(_has(source, place) for place in source.places)
    return here and all(map(is_at_hand, source.later))


def _has(source: Source, place: Place) -> bool:
    """Whether a place of this machine has all files, or the download cache has those of the place."""
    names, cache = _files(source, place), environment.cache_folder("downloads")
    if place.local:
        return all(is_there(path) for path in place.local.values())
    mirror = environment.mirror_folder(place.mirror) if place.mirror else None
    if mirror and all((mirror / name).is_file() for name in names):
        return True
    known = {name: sha256 or _noted(cache, place, name) for name, sha256 in names.items()}
    return all(sha256 and (cache / sha256).is_file() for sha256 in known.values())


def _files(source: Source, place: Place) -> dict[str, str | None]:
    """The checksums of a place's files: its own if it has some, else those of the source."""
    return dict(place.files or source.files)


def _complete(
    source: Source, cache: Path, delivered_by: dict[str, str], announce: Callable[..., None], report: Report
) -> tuple[Place, dict[str, str]]:
    """Put all files of the first place that delivers into the cache; returns the place and {name: sha256}."""
    for place in source.places:
        checksums = _cached(source, place, cache)
        if len(checksums) == len(_files(source, place)):
            return place, checksums
    failures = []
    for place in source.places:
        try:
            with _unfinished(cache, place) as folder:
                checksums = _cached(source, place, cache)
                wanted = {name: sha256 for name, sha256 in _files(source, place).items() if name not in checksums}
                for name, file in deliver(place, sorted(wanted), folder, partial(announce, place, folder)):
                    fix = "if the change is meant, import it again" if place.local else ""
                    sha256 = checked(file, wanted[name], where=f"{name} from {label(place)}", fix=fix)
                    os.replace(file, cache / sha256)
                    if wanted[name] is None and not place.mirror:  # a user may change the files of a mirror
                        _note(cache, place, name, sha256)
                    checksums[name], delivered_by[name] = sha256, label(place)
                return place, checksums
        except UnavailableError as reason:
            failures.append(f"{label(place)} {reason}")
            report(failures[-1])
    raise GrandPlusError(
        f"no place delivers the files: {'; '.join(failures)}",
        fix=f"set GRANDPLUS_MIRROR to a folder with {', '.join(sorted(source.files))}",
    )


def _cached(source: Source, place: Place, cache: Path) -> dict[str, str]:
    """{name: sha256} of a place's files that are in the cache and intact."""
    known = {name: sha256 or _noted(cache, place, name) for name, sha256 in sorted(_files(source, place).items())}
    return {name: sha256 for name, sha256 in known.items() if sha256 and is_intact(cache / sha256, sha256)}


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _note(cache: Path, place: Place, name: str, sha256: str) -> None:
    with finished_whole(cache / f"{_key(label(place), name)}.noted") as partial_file:
        partial_file.write_text(sha256)


def _noted(cache: Path, place: Place, name: str) -> str:
    """The checksum that a file of this place had; empty if there is no note of it."""
    file = cache / f"{_key(label(place), name)}.noted"
    return file.read_text() if file.is_file() else ""


@contextmanager
def _unfinished(cache: Path, place: Place) -> Iterator[Path]:
    """A folder on the cache's disk that holds nothing but downloads of a killed process, which can be resumed."""
    folder = cache / f"{_key(label(place))}.unfinished"
    with locked(folder.with_suffix(".lock")):
        folder.mkdir(exist_ok=True)
        _tidy(folder)
        try:
            yield folder
        finally:
            if not _tidy(folder):
                shutil.rmtree(folder)


def _tidy(folder: Path) -> bool:
    """Remove what can't be resumed; returns whether anything is left."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    resumable = {file for file in files if version_note(file).is_file() and version_note(file).stat().st_size}
    for file in set(files) - resumable - {version_note(file) for file in resumable}:
        file.unlink()
    return bool(resumable)


def _announce(place: Place, folder: Path, size: int, *, expect: Expect | None, report: Report) -> None:
    """Report what a large download needs before it begins; an error if the disk is too small."""
    if size < MIN_SIZE_TO_ANNOUNCE:
        return
    content = place.unpacked if place.archive else size
    needed, free = size + (content if place.archive else 0), shutil.disk_usage(folder).free
    left = f"{size_text(free)} are free"
    report(f"{label(place)}: {size_text(size)} to download, which needs {size_text(needed)} of disk; {left}")
    if expect:
        # Node ids of both directions, once as read and once as kept; float32 features, dense or as sparse as the file.
        graph = 16 * expect.edges if expect.edges is not None else content
        features = min(4 * expect.nodes * (expect.features or 0), content)
        report(f"the dataset then needs roughly {size_text(graph + features)} of memory")
    if free < needed:
        fix = "free some, or set GRANDPLUS_CACHE to a folder on another disk"
        found = f"{size_text(free)} of disk are free"
        raise GrandPlusError(found, where=folder.parent, expected=size_text(needed), fix=fix)
