"""Edge lists as networkx writes them: two ids a line, and a dictionary of the edge's attributes behind them.

Labels are in a table beside the list. Lists without dictionaries are tables.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from grandplus.datasets.attributed.files import read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.text import read_text
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import open_text
from grandplus.runtime.errors import GrandPlusError

_MEMORY = 20  # times the text
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"([^{}]+?)(\{.*\})")
_LONGEST = 2**16  # characters of a line
_TOP = 2**20  # bytes in which the first edge has to be


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file and the tables beside it; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    return read_graph(folder, files, source, _has_dictionaries, _graph, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose first edge has a dictionary, beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    return recognise_graph(files, asked, _has_dictionaries, _graph, tables)


def _has_dictionaries(file: Path) -> bool:
    try:
        with open_text(file) as stream:
            top = stream.read(_TOP).decode("utf-8", "replace")
    except GrandPlusError:  # which the format of the file tells
        return False
    if "\0" in top:  # no text
        return False
    lines = (line.strip() for line in _LINE_ENDS.split(top) if line.strip())
    first = next((line for line in lines if not line.startswith("#") or _split(line)), "")
    return _split(first) is not None


def _graph(file: Path) -> AttributedGraph:
    rows, comments = list[tuple[str, str, dict[str, Any]]](), 0
    for number, line in enumerate(_LINE_ENDS.split(read_text(file, _MEMORY)), start=1):
        parts = _split(line.strip())
        if line.startswith("#") and parts is None:
            comments += 1
        elif line.strip():
            if parts is None:
                expected = "two ids and a dictionary, {…}"
                raise GrandPlusError(f"line {number} is {line[:60]!r}", where=file, expected=expected)
            rows.append((parts[0], parts[1], _dictionary(parts[2], number, file)))
    nodes = dict.fromkeys(name for start, end, _ in rows for name in (start, end))
    skipped = {"comments": comments} if comments else {}
    return attributed_graph(file, ((name, {}) for name in nodes), rows, lists_all=False, skipped=skipped)


def _split(line: str) -> tuple[str, str, str] | None:
    """The two ids and the text of the dictionary; None if a line is something else.

    >>> _split("a b {'weight': 1.0}"), _split("a,b,{}"), _split("a b c {}"), _split("{'a': 1}")
    (('a', 'b', "{'weight': 1.0}"), ('a', 'b', '{}'), None, None)
    """
    match = _LINE.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        return None
    ends = match[1].rstrip(" \t,;|")
    for separator in ("\t", ",", ";", "|", None):  # None: any spaces
        parts = [part.strip() for part in ends.split(separator)]
        if len(parts) == 2 and all(parts):
            return parts[0], parts[1], match[2]
    return None


def _dictionary(text: str, number: int, file: Path) -> dict[str, Any]:
    attributes = _parsed(text)
    if attributes is None:
        expected = "a dictionary of texts and numbers"
        raise GrandPlusError(f"line {number} ends with {text[:60]!r}", where=file, expected=expected)
    return attributes


@lru_cache(maxsize=1024)  # most edges have the same
def _parsed(text: str) -> dict[str, Any] | None:
    """The dictionary that a text writes; None if it writes none."""
    try:
        with warnings.catch_warnings():
            for category in (SyntaxWarning, DeprecationWarning):  # of backslashes; which one, depends on Python
                warnings.simplefilter("ignore", category)
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None
