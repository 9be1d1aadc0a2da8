"""Which format a user's files are of: every format's own module is asked."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grandplus.datasets.arrays.npz import check_npz
from grandplus.datasets.fetch.checksums import refuse_no_data
from grandplus.datasets.fetch.manifest import FILE
from grandplus.datasets.raw import READERS
from grandplus.datasets.source import Reading
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import FileName, checked_as

_GZIP = b"\x1f\x8b"


def recognise(files: list[Path], asked: Reading, form: str | None = None) -> tuple[str, Reading]:
    """Name of the format, and how to read these files of it.

    Parameters
    ----------
    asked : what the user says of them; it is kept
    form : the format, if the user says it

    Raises
    ------
    GrandPlusError : no format or several are theirs; with what to do.
    """
    modules = dict(_modules())
    if form is not None:
        if form not in modules:
            raise GrandPlusError(f"--format is {form!r}", expected=f"one of {', '.join(modules)}")
        modules = {form: modules[form]}
    for general in (False, True):
        mine = {name: module for name, module in modules.items() if getattr(module, "GENERAL", False) == general}
        found = {name: module.recognise(files, asked) for name, module in mine.items()}
        found = {name: reading for name, reading in found.items() if reading is not None}
        if len(found) > 1:
            raise GrandPlusError(f"may be of format {' or '.join(found)}", where=_listed(files), fix="say --format")
        if found:
            return found.popitem()
    expected = f"files of {form or 'one of the formats ' + ', '.join(modules)} (docs/own-graph.md)"
    raise GrandPlusError("are of no format that is known", where=_listed(files), expected=expected)


def _modules() -> Iterator[tuple[str, Any]]:
    for name, module in sorted(READERS.items()):
        found = importlib.import_module(module)
        if hasattr(found, "recognise"):
            yield name, found


def check_files(files: list[Path]) -> None:
    """Every file is there, may be called so, and is data at all.

    Raises
    ------
    GrandPlusError : one isn't; with what it is.
    """
    names: dict[str, Path] = {}
    for file in files:
        if not file.is_file():
            found = "is a folder" if file.is_dir() else "no such file"
            raise GrandPlusError(found, where=file, expected="a file")
        checked_as(FileName, file.name, where=file)
        if file.name == FILE or names.setdefault(file.name, file) != file:
            other = names.get(file.name, "a file of the pipeline's own")
            raise GrandPlusError(f"is called like {other}", where=file, fix="give it another name")
        try:
            refuse_no_data(file, where=file)
            _refuse_packed(file)
        except OSError as error:
            raise GrandPlusError(f"can't be read: {error.strerror}", where=file) from None


def _refuse_packed(file: Path) -> None:
    if file.suffix == ".npz":
        check_npz(file, [], objects=True)
    elif zipfile.is_zipfile(file):
        raise GrandPlusError("is a zip archive", where=file, expected="data", fix="unpack it and import what it holds")
    with file.open("rb") as stream:
        if stream.read(2) == _GZIP:
            raise GrandPlusError("is compressed by gzip", where=file, expected="data", fix="gunzip it first")


def _listed(files: list[Path]) -> str:
    return ", ".join(file.name for file in files)
