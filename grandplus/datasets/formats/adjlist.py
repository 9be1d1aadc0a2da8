"""Adjacency lists: each line has a node and its neighbours, between spaces or tabs; labels are in a table beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, attributed_graph
from grandplus.datasets.attributed.text import read_text
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import is_called
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".adjlist"
_MEMORY = 20  # times the text
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_TAB = "\t"
_DATE = "# GMT "  # how the second line begins that networkx writes, below the command
_COMMENT = re.compile(r"#(\s|$)")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file and the tables beside it; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    graph = read_graph(folder, files, source, called(SUFFIX), parse, tables)
    file = next(folder / name for name in files if is_called(name, SUFFIX))
    if _TAB not in read_text(file, 1):
        spaced = next(
            (name for name in graph.node_ids.tolist() if isinstance(name, str) and name.split() != [name]), None
        )
        if spaced is not None:
            found = f"a table beside it names node {spaced!r}, and the words of this file are separated by spaces"
            raise GrandPlusError(found, where=file, expected="ids without spaces", fix="separate the ids by tabs")
    return graph


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .adjlist, beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    return recognise_graph(files, asked, called(SUFFIX), parse, tables)


def parse(file: Path) -> AttributedGraph:
    """The graph that a file has, with its attributes."""
    lines = _LINE_ENDS.split(read_text(file, _MEMORY))
    top = 1 if len(lines) > 1 and lines[1].startswith(_DATE) and lines[0].startswith("#") else 0
    full = {number: line for number, line in enumerate(lines[top:], top + 1) if not _COMMENT.match(line)}
    separator = _TAB if any(_TAB in line for line in full.values()) else None  # None: any spaces
    data = {number: [word for word in line.strip().split(separator) if word] for number, line in full.items()}
    rows = {number: row for number, row in data.items() if row}
    wrong = next((number for number, row in rows.items() if "{" in "".join(row)), None)
    if wrong is not None:
        found, expected = f"line {wrong} has braces", "a node and its neighbours a line, without data of edges"
        raise GrandPlusError(found, where=file, expected=expected)
    nodes = dict.fromkeys(name for row in rows.values() for name in row)
    comments = len(lines) - len(data)
    skipped = {"comments": comments} if comments else {}
    return attributed_graph(file, ((name, {}) for name in nodes), _edges(rows), lists_all=False, skipped=skipped)


def _edges(rows: dict[int, list[str]]) -> Iterator[tuple[str, str, dict[str, object]]]:
    for first, *others in rows.values():
        for other in others:
            yield first, other, {}
