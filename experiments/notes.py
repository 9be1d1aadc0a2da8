"""What experiments leave beside pictures: CSV files with a row for each thing that was found out, and pages."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grandplus.pipeline.cases import STORE
from grandplus.runtime.storage import finished_whole, locked


@contextlib.contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold a file for the length of a block: another process that writes it waits, so that no row is lost."""
    STORE.mkdir(parents=True, exist_ok=True)
    with locked(STORE / f"{'-'.join(file.absolute().parts[-2:])}.lock"):
        yield


def read_notes(file: Path) -> list[dict[str, str]]:
    """The rows; none if there is no file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def note(file: Path, row: dict[str, Any], key: tuple[str, ...] = ("dataset",)) -> None:
    """Put a row into a file, in place of an earlier one of the same key; rows are sorted by it.

    Parameters
    ----------
    file : Path
    row : dict
        Its names are the file's columns.
    key : tuple of str
        The columns that tell rows apart.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with held(file):
        rows = {tuple(known[name] for name in key): known for known in [*read_notes(file), row]}
        with finished_whole(file, alone=True) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[name] for name in sorted(rows))


def write_page(file: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with finished_whole(file, alone=True) as partial:
        partial.write_text(text, encoding="utf-8")
