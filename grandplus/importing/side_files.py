"""Files that lie in a folder or archive beside the data: texts for readers, licences, pictures, code, checksums."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from grandplus.datasets.source import Reading
from grandplus.datasets.tables.parquet import SUFFIXES

_SUFFIXES = {
    ".md", ".rst", ".pdf", ".html", ".htm", ".doc", ".docx", ".tex", ".bib", ".png", ".jpg", ".jpeg", ".gif", ".svg",
    ".py", ".ipynb", ".r", ".sh", ".m", ".js", ".css", ".log", ".md5", ".sha1", ".sha256", ".xlsx", ".xls", ".ods",
    ".yaml", ".yml", ".toml", ".xml", ".ini", ".cfg", ".cff",
}  # fmt: skip
_STEMS = re.compile(
    r"((readme|licen[cs]e)([\W_].*)?|copying|citing|changelog|notice|makefile|"
    r"(md5|sha1|sha256|sha512)sums?|checksums?|requirements|thumbs|desktop|release_v\d+)",
    re.IGNORECASE,
)
_NO_TABLES = {"", ".txt", ".db"}  # with these suffixes a stem tells
_DATA = {"meta.yaml", "class_map.json", "role.json"}  # of DGL and GraphSAINT
_OF_GRAPHS = ("nodes", "links", "edges", "elements", "adjacency", "children", "graph")  # keys of JSON
_MAX_METADATA = 2**20  # bytes
_FEATURES = (".npy", ".npz", ".json", *SUFFIXES)  # files that may hold features beside the two tables


def side_files(folder: Path, origins: Mapping[str, Path], given: set[Path], named: set[str]) -> set[str]:
    """The files that are no data, by their names; none if there would be no other.

    Parameters
    ----------
    folder : Path
        Where each file lies under its name.
    origins : mapping of Path
        Where each file comes from, by its name.
    given : set of Path
        The files that the user gives by themselves; they are data unless they are called as a text for readers is.
    named : set of str
        Names of files to which the user gives a role; they are data.

    Returns
    -------
    set of str
    """
    side = {
        name
        for name, origin in origins.items()
        if name not in named
        and (_is_called_so(name) or (origin not in given and (_is_side_file(name) or _is_metadata(folder / name))))
    }
    return side if len(side) < len(origins) else set()


def files_not_asked_for(names: Iterable[str], read: Reading, lists: Iterable[str]) -> set[str]:
    """The files that aren't read if a user names the two tables: all but these, features and lists of ids.

    Parameters
    ----------
    names : iterable of str
        Of all files.
    read : Reading
        What the user says.
    lists : iterable of str
        Names of files with lists of ids.

    Returns
    -------
    set of str

    Examples
    --------
    >>> files_not_asked_for(["e.csv", "n.csv", "x.npy", "old.csv"], Reading(edges="e.csv", nodes="n.csv"), [])
    {'old.csv'}
    """
    names = set(names)
    if not {read.edges, read.nodes} <= names:
        return set()
    return {name for name in names - {read.edges, read.nodes, *lists} if not name.lower().endswith(_FEATURES)}


def _is_called_so(name: str) -> bool:
    """Whether a file is called as a text for readers or a list of checksums is.

    >>> [_is_called_so(f"raw/{name}") for name in ("README.txt", "SHA256SUMS", "RELEASE_v1.txt", "readme_edges.csv")]
    [True, True, True, False]
    """
    path = PurePosixPath(name)
    return bool(_STEMS.fullmatch(path.stem)) and path.suffix.lower() in _NO_TABLES | {".md", ".rst"}


def _is_side_file(name: str) -> bool:
    """Whether a file that lies beside data is of a kind that holds none.

    >>> [_is_side_file(name) for name in ("a/paper.pdf", "info.yaml", "meta.yaml", "edges.txt", "_SUCCESS")]
    [True, True, False, False, True]
    """
    path = PurePosixPath(name)
    return path.name not in _DATA and (path.suffix.lower() in _SUFFIXES or path.name == "_SUCCESS")


def _is_metadata(file: Path) -> bool:
    """Whether a small JSON has neither a list for each id, nor nodes, nor another graph."""
    if file.suffix.lower() != ".json" or file.name in _DATA or file.stat().st_size > _MAX_METADATA:
        return False
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError, OSError):
        return False  # damaged data
    if isinstance(content, dict):
        values = [content.get(key) for key in _OF_GRAPHS]
        is_graph = any(isinstance(value, list | dict) and value for value in values)
        lists = [value for value in content.values() if isinstance(value, list)]
        return not is_graph and (len(lists) < len(content) or not any(map(_holds_numbers, lists)))
    return not (isinstance(content, list) and any(isinstance(row, list | dict) for row in content))


def _holds_numbers(values: list[Any]) -> bool:
    return all(isinstance(value, int | float | list) for value in values)
