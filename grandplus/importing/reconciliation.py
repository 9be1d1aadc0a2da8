"""What became of the entries, lines, ids, columns and values of the files: what an import ends with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.account import DRAWING, NO_DATA, NOT_READ, OF_EDGES, Account, FileAccount
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading
from grandplus.graph.graph import Graph
from grandplus.runtime.sizes import counted

_BY_THEMSELVES = ("(an index)", "(empty)", DRAWING, NO_DATA)  # they hold nothing to be used


def reconciliation(account: Account) -> dict[str, str]:
    """Lines read and skipped, ids, values that are no numbers, columns that are not used, and what is dropped.

    Parameters
    ----------
    account : Account

    Returns
    -------
    dict of str
        A text by its head; empty where there is nothing to say.

    Examples
    --------
    >>> reconciliation(Account(files=(FileAccount("e.csv", 12, "edges", {"header 'a,b'": 1}),)))["read"]
    "e.csv: 12 edges, beside header 'a,b' (1 line)"
    """
    ids, places = account.ids, ("in both edges and nodes", "in edges only", "in nodes only")
    counts = (ids.both, ids.only_edges, ids.only_nodes) if ids else ()
    return {
        "read": "; ".join(map(_file, account.files)),
        "ids": ", ".join(f"{count:,} {place}" for count, place in zip(counts, places, strict=False)),
        "unread": ", ".join(_unread(account)),
        "unused": ", ".join(account.unused),
        "dropped": ", ".join(f"{count:,} {what}" for what, count in account.dropped.items() if count),
    }


def left_out(raw: RawGraph, graph: Graph, asked: Reading) -> list[str]:
    """What is dropped, merged or not used though no option says so: what ``--strict`` refuses.

    Parameters
    ----------
    raw : RawGraph
    graph : Graph
    asked : Reading
        What the user says; what it names is left out on purpose.

    Returns
    -------
    list of str
    """
    entries = Entries.of(raw, graph)
    merged = [
        counted(entries.repeated, "entry that repeats an edge", "entries that repeat an edge")
        if entries.repeated
        else "",
        counted(entries.loops, "self-loop", "self-loops") if entries.loops else "",
        *_of_weights(graph.facts),
    ]
    unused = [column for column in raw.account.unused if not _is_on_purpose(column, raw.account, asked)]
    return [
        *filter(None, merged),
        *(f"{count:,} {what}" for what, count in raw.account.dropped.items() if count),
        *_only_in_edges(raw.account),
        *_unread(raw.account),
        *(name if name.endswith(NOT_READ) or name.startswith("--") else f"column {name}" for name in unused),
    ]


def _of_weights(facts: dict[str, Any]) -> list[str]:
    zeros, several = facts.get("zero_weights", 0), facts.get("differing_weights", 0)
    return [
        counted(zeros, "entry of weight 0", "entries of weight 0") if zeros else "",
        counted(several, "edge with several weights", "edges with several weights") if several else "",
    ]


class Entries(NamedTuple):
    """What a file's entries of edges are.

    Attributes
    ----------
    listed : int
        All of them.
    one_way, both_ways : int
        Undirected edges that are listed in one direction, and in both.
    repeated : int
        Entries that repeat another one.
    loops : int
        Entries that join a node to itself.
    """

    listed: int
    one_way: int
    both_ways: int
    repeated: int
    loops: int

    @classmethod
    def of(cls, raw: RawGraph, graph: Graph) -> Entries:
        """Those of the file, also if its reader kept one of each two.

        Parameters
        ----------
        raw : RawGraph
        graph : Graph
            What preprocessing made of it.
        """
        listed, edges = raw.edges.shape[1], int(graph.facts["edges"])
        merged, loops = int(graph.facts["merged_duplicates"]), int(graph.facts["dropped_self_loops"])
        if raw.account.both_directions:
            return cls(2 * listed, 0, edges, 2 * merged, 2 * loops)
        are_edges = raw.edges if raw.weights is None else raw.edges[:, raw.weights != 0]
        both = _directed(are_edges, raw.nodes) - edges
        return cls(listed, edges - both, both, merged - both, loops)


def _directed(edges: NDArray[Any], nodes: int) -> int:
    """How many different entries join two nodes, where each direction counts."""
    start, end = (part[edges[0] != edges[1]].astype(np.int64) for part in edges)
    start *= nodes
    start += end
    start.sort()
    return 1 + int((start[1:] != start[:-1]).sum()) if len(start) else 0


def _file(file: FileAccount) -> str:
    skipped = [f"{what} ({counted(count, 'line', 'lines')})" for what, count in file.skipped.items()]
    return f"{file.file}: {file.read:,} {file.kind}" + (f", beside {', '.join(skipped)}" if skipped else "")


def _only_in_edges(account: Account) -> list[str]:
    """Nodes without a line in the node table, as only edges name them."""
    ids = account.ids
    if ids is None or not ids.only_edges:
        return []
    more = ", …" if ids.only_edges > len(ids.examples) else ""
    return [f"{counted(ids.only_edges, 'id', 'ids')} that only edges name ({', '.join(ids.examples)}{more})"]


def _unread(account: Account) -> list[str]:
    return [
        counted(count, f"value of {column} that is no number", f"values of {column} that are no numbers")
        for column, count in account.unread.items()
        if count
    ]


def _is_on_purpose(column: str, account: Account, asked: Reading) -> bool:
    """Whether an unused column holds nothing, or the user leaves it out."""
    if column.endswith(_BY_THEMSELVES):
        return True
    of_edges, of_nodes = ({file.file for file in account.files if file.kind == kind} for kind in ("edges", "nodes"))
    file = column.partition(": ")[0]
    if asked.weights is not None and file in of_edges and (file not in of_nodes or column.endswith(OF_EDGES)):
        return True
    titles = [f"column {name}" if isinstance(name, int) else name for name in asked.ignore]
    return any(column.partition(": ")[2] in (title, f"{title} (text)", f"{title} (dates)") for title in titles)
