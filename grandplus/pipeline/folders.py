"""The folders between stages: made whole, with a SHA256SUMS, which is checked by whoever reads them.

DVC looks at a file's time and size, so a bit that flips on a disk is nothing to it. What is found damaged here is
therefore marked as changed: then ``dvc repro`` makes it anew, and throws away the copy in its cache, which is the
same file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole, scratch

SUMS = "SHA256SUMS"  # as sha256sum -c takes it
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_REMAKE = "run dvc repro, which makes it anew"


@contextmanager
def output(name: str, key: str, target: Path) -> Iterator[Path]:
    """A ``scratch`` folder whose files are listed with their SHA-256 at the end."""
    with scratch(name, key, target) as folder:
        yield folder
        lines = [f"{_sha256(file)}  {file.name}\n" for file in sorted(folder.iterdir()) if file.name != SUMS]
        with finished_whole(folder / SUMS) as partial:
            partial.write_text("".join(lines))


def checked(folder: Path, *names: str) -> dict[str, str]:
    """SHA-256 of files of an earlier stage, by name; of all, if none is named.

    Raises
    ------
    GrandPlusError : a file is missing, or is not what the earlier stage wrote.
    """
    wanted = _listed(folder)
    for name in names or sorted(wanted):
        file = folder / name
        if name not in wanted or not file.is_file():
            raise GrandPlusError("no such file", where=file, fix=_REMAKE)
        found = _sha256(file)
        if found != wanted[name]:
            _mark(file, folder / SUMS)  # either may be the damaged one
            raise GrandPlusError(f"is damaged: its SHA-256 is {found}", where=file, expected=wanted[name], fix=_REMAKE)
    return {name: wanted[name] for name in names or sorted(wanted)}


def _listed(folder: Path) -> dict[str, str]:
    file = folder / SUMS
    try:
        lines = [_LINE.fullmatch(line) for line in file.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix=_REMAKE) from None
    except ValueError:
        lines = [None]
    listed = {match[2]: match[1] for match in lines if match}
    unlisted = {other.name for other in folder.iterdir()} - listed.keys() - {SUMS}
    if unlisted or None in lines:
        _mark(file)
        expected = "a SHA-256 and a name for each file beside it"
        raise GrandPlusError("is damaged", where=file, expected=expected, fix=_REMAKE)
    return listed


def _sha256(file: Path) -> str:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _mark(*files: Path) -> None:
    """Make DVC look at files, and at the links to them in its cache, which it trusts as long as they are read-only."""
    for file in files:
        with contextlib.suppress(OSError):  # another user's
            file.chmod(0o644)
            os.utime(file)
