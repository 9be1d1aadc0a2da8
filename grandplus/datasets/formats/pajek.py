"""Pajek: ``.net`` with numbered vertices that may have a name each, and with arcs and edges; ``.clu`` has the classes.

A partition, ``.clu``, is the number of a class a line, in the order of the vertices. Attributes behind a vertex are
those that networkx writes: names and values in turn. Without a partition, they or a table beside the file have the
classes.
The file is read here, as the reader of networkx makes one node of vertices that have the same name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.attributed.files import called, read_graph, recognise_graph
from grandplus.datasets.attributed.graph import AttributedGraph, as_number, attributed_graph
from grandplus.datasets.attributed.text import read_text
from grandplus.datasets.formats import tables
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import is_called
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError

SUFFIX, PARTITION = ".net", ".clu"
CLASS, NAME = "class", "label"
_MEMORY = 20  # times the text
_MEMORY_OF_VERTEX = 200  # bytes
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r'"([^"]*)"(?=\s|$)|([^\s"]+)(?=\s|$)')
_DRAWING = {
    "x_fact",
    "y_fact",
    "s_size",
    "phi",
    "r",
    "q",
    "ic",
    "bc",
    "bw",
    "lc",
    "la",
    "lp",
    "lr",
    "lphi",
    "fos",
    "font",
}


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their names, or numbers if they have no names of their own.

    See `grandplus.datasets.formats.Format`.
    """
    partitions = [name for name in files if is_called(name, PARTITION)]
    both = partial(parse, partition=folder / partitions[0] if partitions else None)
    return read_graph(folder, [name for name in files if name not in partitions], source, called(SUFFIX), both, tables)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .net, alone, with one that ends with .clu, or beside tables.

    See `grandplus.datasets.formats.Format`.
    """
    partitions = [file for file in files if is_called(file.name, PARTITION)]
    if len(partitions) > 1:
        return None
    both = partial(parse, partition=partitions[0] if partitions else None)
    return recognise_graph([file for file in files if file not in partitions], asked, called(SUFFIX), both, tables)


@dataclass
class _Network:
    """What is read so far."""

    file: Path
    count: int | None = None
    names: dict[int, str] = field(default_factory=dict)
    attributes: dict[int, dict[str, Any]] = field(default_factory=dict)
    edges: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    arcs: list[bool] = field(default_factory=list)  # which of the edges have a direction
    rows: int = 0  # of a matrix
    relations: set[str] = field(default_factory=set)  # numbers of them, as in *Arcs :1 "likes"

    def vertex(self, word: str, line: int) -> int:
        """The number of a vertex, which must be one."""
        if self.count is None or not word.isascii() or not word.isdecimal() or not 1 <= int(word) <= self.count:
            expected = f"a vertex from 1 to {self.count}" if self.count else "*Vertices above it"
            raise GrandPlusError(f"line {line} names vertex {word!r}", where=self.file, expected=expected)
        return int(word)


def parse(file: Path, partition: Path | None = None) -> AttributedGraph:
    """The graph that a file has, with its attributes, and the classes of a file beside it."""
    network, comments, directed = _Network(file), 0, True
    section: Callable[[_Network, list[str], int], None] = _outside
    for number, line in enumerate(_LINE_ENDS.split(read_text(file, _MEMORY)), start=1):
        if not line.strip() or line.startswith("%"):
            comments += line.startswith("%")
        elif line.startswith("*"):
            section, directed = _section(network, line, number), not line.lower().startswith("*edges")
        else:
            section(network, _words(line, number, file), number)
            network.arcs += [directed] * (len(network.edges) - len(network.arcs))
    count = network.count or 0
    if network.rows not in (0, count):
        raise GrandPlusError(f"has {network.rows} rows of a matrix", where=file, expected=f"{count}")
    if partition is not None:
        for vertex, label in enumerate(_labels(partition, count), start=1):
            network.attributes.setdefault(vertex, {})[CLASS] = label
    named = len(network.names) == len(set(network.names.values())) == count
    ids = [network.names[vertex] if named else str(vertex) for vertex in range(1, count + 1)]
    return attributed_graph(
        file,
        zip(ids, _attributes(network, named=named), strict=True),
        ((ids[start - 1], ids[end - 1], values) for start, end, values in network.edges),
        names=frozenset({NAME}),
        skipped={"comments": comments} if comments else {},
        undirected=~np.array(network.arcs, bool),
        dropped={"relations that are merged into one": len(network.relations)} if len(network.relations) > 1 else {},
    )


def _attributes(network: _Network, *, named: bool) -> Iterator[dict[str, Any]]:
    for vertex in range(1, (network.count or 0) + 1):
        name = {} if named or vertex not in network.names else {NAME: network.names[vertex]}
        yield network.attributes.get(vertex, {}) | name


def _words(line: str, number: int, file: Path) -> list[str]:
    """The words of a line, of which some are between quotation marks."""
    words, position = list[str](), 0
    while rest := line[position:].lstrip():
        position = len(line) - len(rest)
        word = _WORD.match(line, position)
        if word is None:
            raise GrandPlusError(f"line {number} has quotation marks within a word", where=file, expected='"a name"')
        words.append(word[2] if word[1] is None else word[1])
        position = word.end()
    return words


def _section(network: _Network, line: str, number: int) -> Callable[[_Network, list[str], int], None]:
    name, *rest = line.lower().split()
    if name == "*vertices":
        if network.count is not None or not rest or not rest[0].isdecimal():
            found, expected = f"line {number} is {line.strip()[:40]!r}", "one *Vertices, and their number"
            raise GrandPlusError(found, where=network.file, expected=expected)
        network.count = int(rest[0])
        if network.count * _MEMORY_OF_VERTEX > environment.memory():
            expected = "as many as the memory at hand holds"
            raise GrandPlusError(f"declares {network.count:,} vertices", where=network.file, expected=expected)
        return _add_vertex
    if name not in _SECTIONS:
        expected = f"one of {', '.join(_SECTIONS)} in a file {SUFFIX}"
        raise GrandPlusError(f"line {number} begins {name}", where=network.file, expected=expected)
    if name != "*network":
        network.relations.add(next((word for word in rest if word.startswith(":")), ":1"))
    return _SECTIONS[name]


def _outside(network: _Network, words: list[str], number: int) -> None:
    raise GrandPlusError(f"line {number} belongs to no section", where=network.file, expected="*Vertices above it")


def _add_vertex(network: _Network, words: list[str], number: int) -> None:
    """Number, name, up to three coordinates, a shape, and names and values in turn."""
    vertex = network.vertex(words[0], number)
    if vertex in network.attributes:
        raise GrandPlusError(f"line {number} has vertex {vertex} again", where=network.file, expected="each once")
    rest = words[2:]
    coordinates = next((place for place, word in enumerate(rest[:3]) if as_number(word) is None), min(len(rest), 3))
    rest = rest[coordinates:]
    rest = rest[len(rest) % 2 :]  # the shape
    pairs = zip(rest[::2], rest[1::2], strict=True)
    network.attributes[vertex] = {name: value for name, value in pairs if name.lower() not in _DRAWING}
    if len(words) > 1 and words[1]:
        network.names[vertex] = words[1]


def _add_pair(network: _Network, words: list[str], number: int) -> None:
    """Two vertices, the edge's value, and names and values in turn."""
    if len(words) < 2:
        raise GrandPlusError(f"line {number} has one word", where=network.file, expected="two vertices")
    weight = {"weight": words[2]} if len(words) > 2 else {}
    network.edges.append((network.vertex(words[0], number), network.vertex(words[1], number), weight))


def _add_list(network: _Network, words: list[str], number: int) -> None:
    """A vertex and its neighbors."""
    first, *others = (network.vertex(word, number) for word in words)
    network.edges += [(first, other, {}) for other in others]


def _add_row(network: _Network, words: list[str], number: int) -> None:
    """A row of the adjacency."""
    network.rows += 1
    row = network.vertex(str(network.rows), number)
    numbers = [as_number(word) for word in words]
    if len(words) != network.count or None in numbers:
        expected = f"{network.count} numbers, a row of the matrix"
        raise GrandPlusError(f"line {number} has {len(words)} words", where=network.file, expected=expected)
    network.edges += [(row, end, {"weight": number}) for end, number in enumerate(numbers, 1) if number != 0]


_SECTIONS: dict[str, Callable[[_Network, list[str], int], None]] = {
    "*network": _outside,
    "*edges": _add_pair,
    "*arcs": _add_pair,
    "*edgeslist": _add_list,
    "*arcslist": _add_list,
    "*matrix": _add_row,
}


def _labels(partition: Path, count: int) -> list[str]:
    lines = [line.strip() for line in _LINE_ENDS.split(read_text(partition, _MEMORY))]
    labels = [line for line in lines if line and not line.startswith(("*", "%"))]
    if len(labels) != count:
        expected = f"{count}, as there are {count} vertices"
        raise GrandPlusError(f"has {len(labels)} lines of classes", where=partition, expected=expected)
    return labels
