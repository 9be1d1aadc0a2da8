"""Checks that a user has not mixed up the tables of edges and of nodes, or their columns."""

from __future__ import annotations

from grandplus.datasets.source import Reading
from grandplus.datasets.tables.names import LABELS, ends_by_name, is_id
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

OF_EDGES = ("edge", "link", "cites", "graph", "network", "pair", "relation")
OF_NODES = ("node", "label", "target", "class", "feature", "attr", "content")


def check_holds_edges(only: Table, asked: Reading) -> None:
    """Check that the only table isn't one of nodes, by the names of its columns and its own.

    Parameters
    ----------
    only : Table
    asked : Reading
        What the user says.

    Raises
    ------
    GrandPlusError
        It looks like one, and the user does not say that it has edges.
    """
    names, stem = only.names or [], only.file.name.lower()
    if asked.edges or asked.ends or not names or ends_by_name(names) or any(word in stem for word in OF_EDGES):
        return
    called = any(word in stem for word in OF_NODES) or any(name.lower() in LABELS for name in names)
    if called or sum(map(is_id, names)) == 1:
        found = f"looks like a table of nodes, with the columns {', '.join(names[:20])}, and no table of edges is given"
        fix = "import both tables, or name the two ends of an edge with --ends"
        raise GrandPlusError(found, where=only.file, expected="edges", fix=fix)


def check_ignored(asked: Reading, edges: Table, nodes: Table) -> None:
    """Check that --ignore names no column of the edge table, of which all further columns are left out.

    Parameters
    ----------
    asked : Reading
    edges, nodes : Table

    Raises
    ------
    GrandPlusError
        It does.
    """
    for column in asked.ignore:
        if column in (edges.names or []) and column not in (nodes.names or []):
            found = f"--ignore names {column}, which is a column of {edges.file.name}"
            fix = "say --weights ignore to leave out all columns of edges but the two ends"
            raise GrandPlusError(found, expected=f"columns of {nodes.file.name}", fix=fix)


def check_not_swapped(edges: Table, nodes: Table | None) -> None:
    """Check that the ends of edges are not in the table that is taken for the one of nodes.

    Parameters
    ----------
    edges : Table
    nodes : Table or None

    Raises
    ------
    GrandPlusError
        They are, by the names of columns.
    """
    if nodes is not None and ends_by_name(nodes.names or []) and edges.names and not ends_by_name(edges.names):
        found = (
            f"has the columns {', '.join(edges.names[:5])}, and {nodes.file.name} has {', '.join(nodes.names or [])}"
        )
        fix = "name the table of edges with --edges, and the one of nodes with --nodes"
        raise GrandPlusError(
            found, where=edges.file, expected="the ends of edges", fix=f"{fix}, or the ends with --ends"
        )
