"""What experiments leave beside pictures: CSV files with a row for each thing that was found out, and pages."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """The whole lines; one that a kill has cut short is left out, and there are none if there is no file."""
    if not file.exists():
        return []
    whole = file.read_text(encoding="utf-8").rpartition("\n")[0]
    return list(csv.DictReader(io.StringIO(whole)))


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
    note_all(file, [row], key, tuple(row), order=lambda known: [str(known[name]) for name in key])


def note_all(
    file: Path,
    rows: Iterable[Mapping[str, Any]],
    key: tuple[str, ...],
    columns: tuple[str, ...],
    *,
    order: Callable[[Mapping[str, Any]], Any] | None = None,
) -> None:
    """Put rows into a file, all or none of them, each in place of an earlier one of the same key; the others stay.

    The file is written whole, and another process that writes it waits.

    Parameters
    ----------
    file : Path
    rows : iterable of mapping
    key : tuple of str
        The columns that tell rows apart.
    columns : tuple of str
        Of the file.
    order : callable, optional
        By what rows are sorted. By default they keep their places, and new ones are the last.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with held(file):
        known = {tuple(str(row[name]) for name in key): row for row in [*read_notes(file), *rows]}
        with finished_whole(file, alone=True) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(known.values(), key=order) if order else known.values())


def write_page(file: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with finished_whole(file, alone=True) as partial:
        partial.write_text(text, encoding="utf-8")
