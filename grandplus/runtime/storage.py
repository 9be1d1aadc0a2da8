"""Folders that survive a kill: work in progress is kept, results appear whole or not at all.

A piece of work collects what it has finished in a scratch folder. The folder's name is a digest of everything that
the result depends on, and the folder is moved into place at the end. After a kill the same inputs lead to the same
folder, so the next run goes on from there; other inputs lead to another one. A lock keeps a second process out, and
ends with its holder, however that ends.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grandplus.runtime.environment import scratch_folder
from grandplus.runtime.errors import path_in_errors

try:
    import fcntl
except ImportError:  # pragma: no cover
    raise ImportError("GRAND+ runs on Linux and macOS; on Windows use WSL") from None


def key_of(inputs: Mapping[str, Any], code: str) -> str:
    """The key of a scratch folder: a digest of all that the result depends on.

    Parameters
    ----------
    inputs : mapping
        Settings and digests of files; numbers, text, lists and mappings of them.
    code : str
        The digest of the code that computes the result, see `digest_of_code`: what other code has finished must not
        become a part of it.

    Returns
    -------
    str
        16 hexadecimal digits.

    Examples
    --------
    >>> key_of({"rmax": 1e-5, "top_k": 32}, "") == key_of({"top_k": 32, "rmax": 1e-5}, "")
    True
    """
    text = json.dumps([dict(inputs), code], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_of_code(paths: Iterable[Path | str]) -> str:
    """A digest of files, and of all Python files of folders.

    Parameters
    ----------
    paths : iterable of path
        Only names below a folder count, so that a copy elsewhere has the same digest.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    OSError
        A file can't be read.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(path) for path in paths):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(path.parent).as_posix()} {content}\n".encode())
    return digest.hexdigest()


@contextmanager
def scratch(name: str, key: str, target: Path) -> Iterator[Path]:
    """A folder to collect a result in; it is moved to its place when the block ends without an error.

    Parameters
    ----------
    name, key : str
        What the result is, and what it depends on, see `key_of`.
    target : Path
        Where the folder goes.

    Yields
    ------
    Path
        The folder, with the files that an earlier, killed run has finished. It lies in ``GRANDPLUS_SCRATCH``.
    """
    root = scratch_folder()
    folder = root / f"{name}-{key}"
    with locked(root / f"{name}-{key}.lock"):
        with path_in_errors(folder):
            _restore(target)
            folder.mkdir(exist_ok=True)
            remove_unfinished(folder)
            yield folder
        _publish(folder, target)


@contextmanager
def finished_whole(file: Path, *, alone: bool = False) -> Iterator[Path]:
    """A name to write to, renamed to ``file`` when the block ends without an error.

    Parameters
    ----------
    file : Path
    alone : bool
        Nobody else writes this file. The name is then always the same, so that the next writer overwrites what a
        killed one left. Elsewhere `scratch` removes that.

    Yields
    ------
    Path
        Beside the file.
    """
    partial = file.with_name(f"{file.name}.partial" if alone else f"{file.name}.{uuid.uuid4().hex[:8]}.partial")
    with path_in_errors(file):
        try:
            yield partial
            os.replace(partial, file)
        finally:
            partial.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that died have left of `finished_whole` files.

    Parameters
    ----------
    folder : Path
        Nobody writes to it any more, but for a cluster's worker that is out of reach.
    """
    for unfinished in folder.rglob("*.partial"):
        unfinished.unlink(missing_ok=True)


@contextmanager
def replaced(target: Path, new: Path) -> Iterator[None]:
    """A file or folder in the place of another one; if the block ends with an error, the old one is there again.

    If this process is killed, the next replacement of the same target begins with the old one.

    Parameters
    ----------
    target : Path
        It need not exist.
    new : Path
        On the same file system.
    """
    _restore(target)
    old = _beside(target, "old")
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(new, target)
        yield
    except BaseException:
        if not new.exists():
            os.rename(target, new)
        if old.exists():
            os.rename(old, target)
        raise
    if old.exists():
        os.rename(old, removed := _beside(target, "partial"))
        remove(removed)


def reserve(file: int, size: int) -> None:
    """Take the disk space of an open file now: a full disk would later kill who writes to a memory-mapped file.

    Parameters
    ----------
    file : int
        Its descriptor.
    size : int
        In bytes.

    Raises
    ------
    OSError
        There is no room.
    """
    if hasattr(os, "posix_fallocate"):  # not on macOS
        os.posix_fallocate(file, 0, size)


@contextmanager
def locked(file: Path, *, quiet: bool = False) -> Iterator[None]:
    """Hold an exclusive lock for the length of a block; waits for another holder.

    Parameters
    ----------
    file : Path
        Made if need be; its content doesn't matter.
    quiet : bool
        Print nothing about waiting, as it takes moments at most.
    """
    with open(file, "a+b") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not quiet:
                print(f"waiting for another process that holds {file}", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield  # closing the file gives the lock up


def _publish(folder: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replaced(target, folder):
            return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    copy = _beside(target, "copy.partial")  # another file system: copy, then rename
    remove(copy)
    shutil.copytree(folder, copy)
    with replaced(target, copy):
        pass
    shutil.rmtree(folder)


def _restore(target: Path) -> None:
    """Undo a replacement that a kill has cut short."""
    old, removed = _beside(target, "old"), _beside(target, "partial")
    remove(removed)
    if old.exists():
        if target.exists():
            os.rename(target, removed)
        os.rename(old, target)
        remove(removed)


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(f"{target.name}.{suffix}")


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there; of a link, the link alone.

    Parameters
    ----------
    path : Path
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
