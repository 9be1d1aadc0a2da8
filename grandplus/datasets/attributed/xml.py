"""XML of a user's file, without entities: a small file can't take much memory, and no other file is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from grandplus.datasets.attributed.text import check_size
from grandplus.runtime.errors import GrandPlusError

_MEMORY = 20  # times the text, for a tree of elements
_PIECE = 2**16  # bytes
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
    check_size(file, _MEMORY)
    _check_no_doctype(file)
    try:
        tree = ElementTree.parse(file).getroot()
    except (ElementTree.ParseError, ValueError, LookupError, OSError, RecursionError) as error:
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
        return _LOGICAL[text.lower()] if kind == "boolean" else _NUMBERS.get(kind, str)(text)
    except (ValueError, LookupError):
        raise GrandPlusError(f"is {text[:40]!r}", where=where, expected=f"a value of type {kind}") from None


@dataclass(frozen=True)
class Declared:
    """A declared attribute of nodes or edges.

    Attributes
    ----------
    name : str
    type : str
        Of its values, see ``typed``.
    default : object
        The value of elements that have none; None if there is no default.
    """

    name: str
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
        declared[ident] = Declared(called if called not in names else f"{called} ({ident})", type_of, value)
        names.add(called)
    return declared


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


class _Started(Exception):
    """The outermost element is reached, above which a document type stands if there is one."""


def _check_no_doctype(file: Path) -> None:
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
        with file.open("rb") as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece, False)
    except _Started:
        return
    except (expat.ExpatError, ValueError, LookupError, OSError) as error:
        raise GrandPlusError(f"is no readable XML: {error}", where=file) from None
