"""Folders that survive a kill: work in progress is kept, results appear whole or not at all.

A stage collects finished pieces in a scratch folder named after everything that its result
depends on, and moves it into place at the end. After a kill the same inputs lead to the same
folder, so the rerun goes on from there; other inputs lead elsewhere. A lock keeps a second
process out, and ends with its holder, however that ends.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grandplus.runtime.errors import GrandPlusError

try:
    import fcntl
except ImportError:  # pragma: no cover
    raise ImportError("GRAND+ runs on Linux and macOS; on Windows use WSL") from None

PACKAGE = Path(__file__).parent


def key_of(**inputs: Any) -> str:
    """Name of a scratch folder: a digest of the inputs and of this package's source.

    The source counts since pieces made by other code must not be mixed into a result.
    """
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode())
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def scratch(name: str, key: str, target: Path) -> Iterator[Path]:
    """A folder to collect ``target`` in; moved there when the block ends without an error.

    Pieces that an earlier, killed run has finished are in it already. It lies in
    ``.grandplus/scratch`` of the checkout, or in ``GRANDPLUS_SCRATCH``.
    """
    root = scratch_root()
    folder = root / f"{name}-{key}"
    with locked(root / f"{name}-{key}.lock"):
        folder.mkdir(exist_ok=True)
        for unfinished in folder.glob("*.partial"):
            unfinished.unlink()
        yield folder
        _publish(folder, target)


def scratch_root() -> Path:
    """Where unfinished work lies; made if need be."""
    # DVC names the main checkout there, so that a temporary one resumes its predecessor's work.
    checkout = Path(os.environ.get("DVC_ROOT") or ".")
    root = (checkout / (os.environ.get("GRANDPLUS_SCRATCH", "").strip() or ".grandplus/scratch")).absolute()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GrandPlusError(f"can't be made: {error.strerror}", where=root, fix="set GRANDPLUS_SCRATCH") from None
    return root


@contextmanager
def finished_whole(file: Path, *, alone: bool = False) -> Iterator[Path]:
    """A name to write to, renamed to ``file`` when the block ends without an error.

    With ``alone`` nobody else writes this file, so that name is always the same, and what a
    killed writer left is overwritten. Elsewhere ``scratch`` removes that.
    """
    partial = file.with_name(f"{file.name}.partial" if alone else f"{file.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        yield partial
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def reserve(file: int, size: int) -> None:
    """Take the space of an open file on disk now: in one that is memory-mapped a full disk would be a crash later.

    Raises
    ------
    OSError : there is no room.
    """
    if hasattr(os, "posix_fallocate"):  # not on macOS
        os.posix_fallocate(file, 0, size)


@contextmanager
def locked(file: Path, *, quiet: bool = False) -> Iterator[None]:
    """Hold an exclusive lock; waits for another holder, and says so unless that takes moments at most."""
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
    if target.exists():  # left by an earlier run by hand; DVC removes outputs itself
        shutil.rmtree(target)
    try:
        os.rename(folder, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        partial = target.with_name(f"{target.name}.partial")  # another file system: copy, then rename
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(folder, partial)
        os.rename(partial, target)
        shutil.rmtree(folder)
