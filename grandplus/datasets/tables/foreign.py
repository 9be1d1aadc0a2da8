"""Files of kinds that are not read: what they are, by their first bytes or their names, and what to do with them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import NamedTuple, NoReturn

from grandplus.datasets.tables.text import compression_of, is_called, open_text, open_unpacked
from grandplus.runtime.errors import GrandPlusError


class _Kind(NamedTuple):
    what: str
    fix: str


_CSV = "save each sheet that you need as CSV"
_UNPACK = "unpack it, and import the folder"
_PARQUET = "write each table as Parquet: pandas.read_feather(FILE).to_parquet(…)"
_R = "write each table in R: write.csv(…, row.names = FALSE)"
_PANDAS = "write each table as CSV or Parquet, as with pandas"
_GRAPHML = "write it as GraphML or as a table of edges, as with networkx or Gephi"
_PYTHON = "load it where it was made, and call grandplus.save_dataset there, or write tables"
_WORKBOOK = _Kind("is a workbook", _CSV)
_TAR = _Kind("is a tar archive", _UNPACK)
_PICKLE = _Kind("is a pickle, which may hold code and is not loaded", _PYTHON)
_GRAPH6 = _Kind("holds a graph in graph6 or sparse6, without labels", _GRAPHML)
_HDF5 = b"\x89HDF\r\n\x1a\n"
_STARTS = {  # of binary files
    b"ARROW1": _Kind("is an Arrow file (Feather)", _PARQUET),
    b"FEA1": _Kind("is a Feather file", _PARQUET),
    b"\xff\xff\xff\xff": _Kind("is a stream of Arrow", _PARQUET),
    b"SQLite format 3\0": _Kind(
        "is a database of SQLite", "write each table as CSV: sqlite3 -header -csv FILE 'select * from TABLE'"
    ),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _WORKBOOK,
    b"7z\xbc\xaf\x27\x1c": _Kind("is a 7z archive", _UNPACK),
    b"Rar!": _Kind("is a RAR archive", _UNPACK),
    b"RDX2\n": _Kind("holds data of R", _R),
    b"RDX3\n": _Kind("holds data of R", _R),
    b"X\n\0\0\0": _Kind("holds data of R", _R),
    _HDF5: _Kind("is an HDF5 file", "write tables, or an .npz; AnnData is read if its name ends with .h5ad"),
    b"Obj\1": _Kind("is an Avro file", _PANDAS),
    b"$FL2": _Kind("is a file of SPSS", _PANDAS),
    b"<stata_dta>": _Kind("is a file of Stata", _PANDAS),
}
_TEXT_STARTS = {b">>graph6<<": _GRAPH6, b">>sparse6<<": _GRAPH6}
_TAR_AT, _TAR_MARK = 257, b"ustar"
_PICKLE_STARTS = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
_SUFFIXES = {
    **dict.fromkeys((".pkl", ".pickle", ".p", ".gpickle", ".joblib"), _PICKLE),
    **dict.fromkeys(
        (".dot", ".gv", ".gdf", ".cyjs", ".lgl", ".tlp", ".dl"),
        _Kind("is a graph in a form that is not read", _GRAPHML),
    ),
    **dict.fromkeys((".g6", ".s6"), _GRAPH6),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _WORKBOOK),
}
_BINARY = {  # which is read, but not if it is compressed once more
    b"\x1f\x8b": "a gzip file",
    b"PAR1": "Parquet",
    b"\x93NUMPY": "an array of numpy",
    b"PK\3\4": "a zip archive",
    b"MATLAB": "a MATLAB file",
}
_OWN_HDF5 = (".h5ad", ".mat")
_ZIPS = (".pt", ".pth")  # which are zip archives too
_HEAD = 512


def check_is_read(file: Path) -> None:
    """Check that a file is of no kind that no format reads.

    Parameters
    ----------
    file : Path

    Raises
    ------
    GrandPlusError
        It is; with what it is and what to do.
    """
    packed = compression_of(file)
    with open_unpacked(file) as stream:
        head = stream.read(_HEAD)
    if not head.strip() and file.stat().st_size <= _HEAD:
        found = "unpacks to nothing" if packed and not head else "holds nothing but white space"
        raise GrandPlusError(found, where=file, expected="a dataset's file")
    kind = _kind_of(head, file) or (None if packed else _kind_of_zip(file))
    if kind is not None:
        _raise(kind, file)
    inside = next((name for start, name in _BINARY.items() if packed and head.startswith(start)), None)
    if inside is not None:
        raise GrandPlusError(f"is {inside}, compressed by {packed}", where=file, fix="unpack it")


def check_is_table(file: Path) -> None:
    """Check that a file that no other format reads may be a table.

    Parameters
    ----------
    file : Path

    Raises
    ------
    GrandPlusError
        It is a pickle, a graph in a text of another kind, or JSON a line.
    """
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
    kind = _PICKLE if head.startswith(_PICKLE_STARTS) else _SUFFIXES.get(file.suffix.lower())
    if kind is not None:
        _raise(kind, file)
    if b"\0" in head[:2] and head.count(b"\0") * 3 > len(head) and head.isascii():
        found = "may be text in UTF-16 or UTF-32 without its mark"
        raise GrandPlusError(found, where=file, fix="write it as UTF-8")
    if is_called(file.name, ".json") and not file.name.lower().endswith(".json"):
        raise GrandPlusError("is JSON that is compressed, and no graph", where=file, fix="unpack it")
    if head.lstrip().startswith(b"{") and file.suffix.lower() != ".json" and _is_json_a_line(file):
        fix = "write it as CSV: pandas.read_json(FILE, lines=True).to_csv(…, index=False)"
        raise GrandPlusError("is JSON Lines, an object a line", where=file, expected="a table", fix=fix)


def _kind_of(head: bytes, file: Path) -> _Kind | None:
    """What begins so, perhaps after it was unpacked."""
    if head[_TAR_AT:].startswith(_TAR_MARK):
        return _TAR
    starts = _STARTS if b"\0" in head else _TEXT_STARTS
    start = next((start for start in starts if head.startswith(start)), None)
    return None if start is None or (start == _HDF5 and file.suffix in _OWN_HDF5) else starts[start]


def _kind_of_zip(file: Path) -> _Kind | None:
    if file.suffix.lower() in _ZIPS or not zipfile.is_zipfile(file):
        return None
    is_workbook = file.suffix.lower() in _SUFFIXES or _holds_sheets(file)
    return _WORKBOOK if is_workbook else _Kind("is a zip archive", "unpack it and import what it holds")


def _holds_sheets(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as opened:
            return any(name.startswith("xl/") or name == "content.xml" for name in opened.namelist())
    except zipfile.BadZipFile:
        return False


def _is_json_a_line(file: Path) -> bool:
    with open_text(file) as stream:
        line = stream.readline(2**16)
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _raise(kind: _Kind, file: Path) -> NoReturn:
    raise GrandPlusError(kind.what, where=file, fix=kind.fix)
