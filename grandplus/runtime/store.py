"""Finished work that later runs find again: a folder of a few files for each, named after all that they depend on.

Where the file system has hard links, a file here and the one that a run gets are the same file, and take their room
once. So no one may write into it: whoever changes such a file writes a new one and renames it. If it is damaged all
the same, its SHA-256 says so, and the work counts as unfinished.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grandplus.runtime.storage import locked, remove
from grandplus.runtime.sums import read_sums, sha256, write_sums


@dataclass(frozen=True)
class Store:
    """Finished work below a folder, for all processes that use it at the same time.

    Parameters
    ----------
    folder : Path
        It is made if need be.
    limit : int
        How many bytes of files it may hold; less if they would take more than half of the room on their disk.
    """

    folder: Path
    limit: int

    def add(self, key: str, files: Mapping[str, Path]) -> None:
        """Keep files; all of them are there afterwards, or none if this process is killed.

        Parameters
        ----------
        key : str
            A digest of all that the files depend on. What is there already under this key stays.
        files : mapping of {str: Path}
            By the names that they are found under, in the order in which `take` is to give them.
        """
        entry = self.folder / key
        if entry.exists():
            return
        sums = {name: sha256(file) for name, file in files.items()}
        with self._locked():
            if entry.exists():
                return
            partial = _emptied(_partial(entry))
            for name, file in files.items():
                _link(file, partial / name)
            write_sums(partial, sums)
            os.rename(partial, entry)

    def take(self, key: str, out: Path) -> bool:
        """Put files that were kept into a folder.

        Parameters
        ----------
        key : str
        out : Path
            An existing folder. The files appear in the order in which `add` was given them.

        Returns
        -------
        bool
            Whether they were there. Damaged ones are removed, and count as missing.
        """
        entry, partials = self.folder / key, dict[str, Path]()
        try:
            with self._locked():
                if not entry.exists():
                    return False
                os.utime(entry)  # it was used last now
                sums = _sums(entry)
                for name in sums:
                    partials[name] = out / f"{name}.{key}.partial"
                    _link(entry / name, partials[name])
            if not sums or any(sha256(partials[name]) != sums[name] for name in sums):
                with self._locked():
                    _remove(entry)
                return False
            for name, partial in partials.items():
                os.replace(partial, out / name)
            return True
        finally:
            for partial in partials.values():
                partial.unlink(missing_ok=True)

    def trim(self) -> None:
        """Remove what was not used for the longest time, until the rest is within the limit."""
        with self._locked():
            for unfinished in self.folder.glob("*.partial"):  # of a process that was killed
                shutil.rmtree(unfinished)
            entries = sorted((file for file in self.folder.iterdir() if file.is_dir()), key=_last_used)
            sizes = [sum(file.stat().st_size for file in entry.iterdir()) for entry in entries]
            total = sum(sizes)
            limit = min(self.limit, (total + shutil.disk_usage(self.folder).free) // 2)
            for entry, size in zip(entries, sizes, strict=True):
                if total <= limit:
                    return
                _remove(entry)
                total -= size

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone in the folder, for moments: whatever is unfinished in it was left by a kill."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / "lock", quiet=True):
            yield


def _sums(entry: Path) -> dict[str, str]:
    """Of the files of an entry; none if the entry is damaged."""
    try:
        sums = read_sums(entry) or {}
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return {}
    return sums if all((entry / name).is_file() for name in sums) else {}


def _link(file: Path, to: Path) -> None:
    """The same file under a second name; a copy where that can't be."""
    to.unlink(missing_ok=True)
    try:
        os.link(file, to)
    except OSError:  # another file system or another user's file, or the file system has no such links
        shutil.copyfile(file, to)


def _last_used(entry: Path) -> int:
    return entry.stat().st_mtime_ns


def _partial(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.partial")


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _remove(entry: Path) -> None:
    """At once for all others, even if this process is killed meanwhile."""
    remove(_partial(entry))
    if entry.exists():
        os.rename(entry, _partial(entry))
        remove(_partial(entry))
