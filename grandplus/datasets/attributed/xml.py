"""XML of a user's file, without entities: a small file can't take much memory, and no other file is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from grandplus.datasets.attributed.graph import AttributedGraph
from grandplus.datasets.attributed.text import read_whole
from grandplus.datasets.tables.text import open_unpacked
from grandplus.runtime.errors import GrandPlusError

_MEMORY = 20  # times the text, for a tree of elements
_NUMBERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte"), int),
    **dict.fromkeys(("float", "double"), float),
}
_LOGICAL = {"true": True, "false": False, "1": True, "0": False}


def read_xml(file: Path, root: str) -> ElementTree.Element:
    """Parse a file.

    Parameters
    ----------
    file : Path
    root : str
        Name of the outermost element.

    Returns
    -------
    Element
        Its names, and those of all elements in it, are without a namespace.

    Raises
    ------
    GrandPlusError
        It is no XML, declares a document type, which is where entities would be, or has another outermost element.
    """
    with open_unpacked(file) as stream:  # the parser knows encodings
        content = read_whole(stream, file, _MEMORY)
    _check_no_doctype(content, file)
    try:
        tree = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise GrandPlusError(f"is no readable XML: {error}", where=file) from None
    for element in tree.iter():
        element.tag = element.tag.rpartition("}")[2]
    if tree.tag != root:
        raise GrandPlusError(f"holds <{tree.tag}>", where=file, expected=f"<{root}>")
    return tree


def typed(text: str | None, kind: str, where: object) -> Any:
    """A value of a declared type.

    Parameters
    ----------
    text : str or None
    kind : str
        As GraphML and GEXF name it; values of types that are no numbers are text.
    where : object
        For errors.

    Returns
    -------
    object
        None for empty text.

    Raises
    ------
    GrandPlusError
        It is of another type.

    Examples
    --------
    >>> typed("2", "long", "g.graphml"), typed("TRUE", "boolean", "g.graphml"), typed(" a ", "string", "g.graphml")
    (2, True, 'a')
    """
    text, kind = (text or "").strip(), kind.lower()
    if not text:
        return None
    try:
        if kind in _NUMBERS and "_" in text:  # which Python allows in numbers
            raise ValueError
        return _LOGICAL[text.lower()] if kind == "boolean" else _NUMBERS.get(kind, str)(text)
    except (ValueError, LookupError):
        raise GrandPlusError(f"is {text[:40]!r}", where=where, expected=f"a value of type {kind}") from None


@dataclass(frozen=True)
class Declared:
    """A declared attribute of nodes or edges.

    Attributes
    ----------
    name : str
        Different from all others.
    title : str
        The name in the file, which another attribute may have, too.
    type : str
        Of its values, see ``typed``.
    default : object
        The value of elements that have none; None if there is no default.
    """

    name: str
    title: str
    type: str
    default: Any


def the_graph(tree: ElementTree.Element, file: Path) -> ElementTree.Element:
    """The only ``<graph>`` of a file.

    Parameters
    ----------
    tree : Element
        Its outermost element.
    file : Path

    Raises
    ------
    GrandPlusError
        There is none, or several.
    """
    graphs = tree.findall("graph")
    if len(graphs) != 1:
        raise GrandPlusError(f"holds {len(graphs)} graphs", where=file, expected="one")
    return graphs[0]


def declared_by(elements: Iterable[ElementTree.Element], name: str, kind: str, file: Path) -> dict[str, Declared]:
    """The attributes that elements declare, by the id that values name. A name that repeats has the id after it.

    Parameters
    ----------
    elements : iterable of Element
        Each with an ``id``, and a default in a ``<default>`` within it.
    name, kind : str
        The attributes of XML with the name and with the type, for which the id and text stand if they lack.
    file : Path

    Returns
    -------
    dict of Declared

    Raises
    ------
    GrandPlusError
        One has no id, or a default of another type.
    """
    declared, names = dict[str, Declared](), set[str]()
    for element in elements:
        ident = needed(element, "id", file)
        called, type_of = element.get(name) or ident, element.get(kind, "string")
        default = element.find("default")
        value = None if default is None else typed(default.text, type_of, f"{file}, default of {called}")
        declared[ident] = Declared(called if called not in names else f"{called} ({ident})", called, type_of, value)
        names.add(called)
    return declared


def with_joined(
    graph: AttributedGraph, of_nodes: dict[str, Declared], of_edges: dict[str, Declared]
) -> AttributedGraph:
    """Make one attribute of those with the same title, if no node or edge has two of them.

    networkx declares an attribute once for each type of its values, of which numbers and text are two.

    Parameters
    ----------
    graph : AttributedGraph
    of_nodes, of_edges : dict of Declared

    Returns
    -------
    AttributedGraph
    """
    nodes, edges = _joined(graph.attributes, of_nodes), _joined(graph.edge_attributes, of_edges)
    return replace(graph, attributes=nodes, edge_attributes=edges)


def needed(element: ElementTree.Element, name: str, where: object) -> str:
    """An attribute of XML that an element must have.

    Parameters
    ----------
    element : Element
    name : str
    where : object
        The file.

    Returns
    -------
    str

    Raises
    ------
    GrandPlusError
        It lacks, or is empty.
    """
    value = element.get(name)
    if not value:
        raise GrandPlusError(f"holds <{element.tag}> without {name}", where=where)
    return value


def _joined(columns: dict[str, Any], declared: dict[str, Declared]) -> dict[str, Any]:
    """
    >>> keys = {"d0": Declared("x", "x", "string", None), "d1": Declared("x (d1)", "x", "double", None)}
    >>> _joined({"x": ["a", None], "x (d1)": [None, 2.0]}, keys)
    {'x': ['a', 2.0]}
    """
    titles = {key.name: key.title for key in declared.values()}
    together: dict[str, list[str]] = {}
    for name in columns:
        together.setdefault(titles.get(name, name), []).append(name)
    out: dict[str, Any] = {}
    for title, names in together.items():
        rows = list(zip(*(columns[name] for name in names), strict=True))
        if len(names) > 1 and all(sum(value is not None for value in row) <= 1 for row in rows):
            out[title] = [next((value for value in row if value is not None), None) for row in rows]
        else:
            out |= {name: columns[name] for name in names}
    return out


class _Started(Exception):
    """The outermost element is reached, above which a document type stands if there is one."""


def _check_no_doctype(content: bytes, file: Path) -> None:
    def refuse(*_: object) -> NoReturn:
        fix = "delete <!DOCTYPE …> from the top of the file"
        raise GrandPlusError("declares a document type", where=file, expected="XML without entities", fix=fix)

    def start(*_: object) -> NoReturn:
        raise _Started

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    try:
        parser.Parse(content, True)
    except _Started:
        return
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise GrandPlusError(f"is no readable XML: {error}", where=file) from None
