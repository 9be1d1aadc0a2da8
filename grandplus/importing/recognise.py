"""Which format a user's files are of: the module of every format is asked."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from grandplus.datasets.arrays.npz import check_npz, keys_of
from grandplus.datasets.fetch.checksums import check_is_data
from grandplus.datasets.raw import READERS
from grandplus.datasets.source import Reading
from grandplus.datasets.tables.foreign import check_is_read
from grandplus.runtime.errors import GrandPlusError

_SHOWN = 300  # characters of what arrays are called


def recognise(files: list[Path], asked: Reading, file_format: str | None = None) -> tuple[str, Reading]:
    """The format of some files, and how to read them.

    Parameters
    ----------
    files : list of Path
    asked : Reading
        What the user says of them; it is kept.
    file_format : str, optional
        The format, if the user names it.

    Returns
    -------
    file_format : str
    reading : Reading

    Raises
    ------
    GrandPlusError
        They may be of several formats, or of none.
    """
    modules = importable_formats()
    if file_format is not None:
        if file_format not in modules:
            raise GrandPlusError(f"--format is {file_format!r}", expected=f"one of {', '.join(modules)}")
        modules = {file_format: modules[file_format]}
    for general in (False, True):  # a format that takes any tables is asked only if no other recognises the files
        readings = {
            name: module.recognise(files, asked)
            for name, module in modules.items()
            if getattr(module, "GENERAL", False) == general
        }
        readings = {name: reading for name, reading in readings.items() if reading is not None}
        if len(readings) > 1:
            raise GrandPlusError(f"may be of format {' or '.join(readings)}", where=_listed(files), fix="say --format")
        if readings:
            return readings.popitem()
    arrays = [
        f"{file.name} has {', '.join(sorted(keys_of(file))) or 'nothing'}" for file in files if file.suffix == ".npz"
    ]
    held = f" ({'; '.join(arrays)[:_SHOWN]})" if arrays else ""
    expected = f"files of {file_format or 'one of the formats ' + ', '.join(modules)} (docs/own-graph.md)"
    fix = "save it from Python with grandplus.save_dataset" if arrays else ""
    raise GrandPlusError(f"are of no format that is known{held}", where=_listed(files), expected=expected, fix=fix)


def importable_formats() -> dict[str, Any]:
    """The modules of the formats that can be recognised, by the name of the format."""
    modules = {name: importlib.import_module(module) for name, module in sorted(READERS.items())}
    return {name: module for name, module in modules.items() if hasattr(module, "recognise")}


def check_files(files: list[Path]) -> None:
    """Check that every file is data at all.

    Parameters
    ----------
    files : list of Path

    Raises
    ------
    GrandPlusError
        One of them isn't; with what it is.
    """
    for file in files:
        try:
            check_is_data(file, where=file)
            if file.suffix == ".npz":
                check_npz(file, [], objects=True)
            else:
                check_is_read(file)
        except OSError as error:
            raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None


def _listed(files: list[Path]) -> str:
    return ", ".join(file.name for file in files)
