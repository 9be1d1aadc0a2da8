"""What the formats of graphs with attributes share: a file of the graph, alone or beside tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grandplus.datasets.attributed.beside import Tables, read_beside, reading_beside
from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.raw_graph import raw_graph
from grandplus.datasets.attributed.roles import reading_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.text import is_called
from grandplus.runtime.errors import GrandPlusError

Parse = Callable[[Path], AttributedGraph]
Match = Callable[[Path], bool]


def called(suffix: str) -> Match:
    """What tells files of a format by the end of their names, compressed or not."""
    return lambda file: is_called(file.name, suffix)


def recognise_graph(
    files: list[Path], asked: Reading, is_graph: Match, parse: Parse, tables: Tables, *, classes: tuple[str, ...] = ()
) -> Reading | None:
    """One file with a graph, alone or beside tables with labels and features.

    Parameters
    ----------
    files : list of Path
    asked : Reading
        What the user says of them.
    is_graph : callable
        Tells the file of the graph from the others.
    parse : callable
        Reads the file.
    tables : module
        The format of tables.
    classes : tuple of str
        Usual names of the class in this format only.

    Returns
    -------
    Reading or None
        None if the files are of another format.
    """
    matching = [file for file in files if is_graph(file)]
    if len(matching) != 1:
        return None
    others = {file.name: file for file in files if file not in matching}
    graph = parse(matching[0])
    return reading_beside(graph, others, asked, tables) if others else reading_of(graph, asked, classes)


def read_graph(
    folder: Path, files: list[str], source: Source, is_graph: Match, parse: Parse, tables: Tables
) -> RawGraph:
    """Read what ``recognise_graph`` has recognised; nodes are in the order of their ids.

    Parameters
    ----------
    folder : Path
    files : list of str
    source : Source
    is_graph : callable
        Tells the file of the graph from the others.
    parse : callable
    tables : module

    Returns
    -------
    RawGraph
    """
    matching = [name for name in files if is_graph(folder / name)]
    if len(matching) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected="one file with a graph")
    others = {name: folder / name for name in files if name not in matching}
    graph = parse(folder / matching[0])
    return read_beside(graph, others, source, tables) if others else raw_graph(graph, source)
