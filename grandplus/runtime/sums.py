"""SHA256SUMS: the names of a folder's files, each with its SHA-256, as ``sha256sum -c`` takes it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from grandplus.runtime.storage import finished_whole

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def sha256(file: Path) -> str:
    """The SHA-256 of a file's content, in 64 hexadecimal digits."""
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_sums(folder: Path, sums: Mapping[str, str]) -> None:
    """Write a folder's ``SHA256SUMS``.

    Parameters
    ----------
    folder : Path
    sums : mapping of {str: str}
        The SHA-256 of each of its files, by name.
    """
    with finished_whole(folder / SUMS) as partial:
        partial.write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), encoding="utf-8")


def read_sums(folder: Path) -> dict[str, str] | None:
    """The SHA-256 of each file that a folder's ``SHA256SUMS`` lists, by name.

    Returns
    -------
    dict of {str: str} or None
        None if it is damaged, or if there is a file that it doesn't list.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    listed = parse_sums((folder / SUMS).read_bytes())
    unlisted = files_below(folder) - (listed or {}).keys() - {SUMS}
    return None if unlisted else listed


def digest_of(folder: Path) -> str | None:
    """The SHA-256 of a folder's ``SHA256SUMS``, which stands for all of its files; None if there is no such list."""
    return sha256(folder / SUMS) if (folder / SUMS).exists() else None


def files_below(folder: Path) -> set[str]:
    """The names of all files of a folder; one in a folder of it is called by its path there.

    Parameters
    ----------
    folder : Path
    """
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}


def parse_sums(content: bytes) -> dict[str, str] | None:
    """The SHA-256 of each file, by name; None if this is no such list.

    Parameters
    ----------
    content : bytes
        Of a ``SHA256SUMS``.
    """
    try:
        lines = [_LINE.fullmatch(line) for line in content.decode().splitlines()]
    except UnicodeDecodeError:
        return None
    listed = {match[2]: match[1] for match in lines if match}
    return None if None in lines else listed
