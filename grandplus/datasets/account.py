"""What became of the lines, columns and values of a dataset's files. ``grandplus import --strict`` heeds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OF_EDGES, DRAWING = " (of edges)", " (drawing)"  # reasons why an attribute is not used
NOT_READ, NO_DATA = " (a file that is not read)", " (a file beside the data)"  # reasons why a file is not used


@dataclass(frozen=True)
class FileAccount:
    """One file.

    Attributes
    ----------
    file : str
        Its name.
    read : int
        Lines, or other entries, of data.
    kind : str
        What the entries are, in the plural: "edges", "nodes".
    skipped : dict of int
        How many lines are no data, by the reason: "comments", "header".
    """

    file: str
    read: int
    kind: str
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Ids:
    """Ids of nodes: how many are named by edges only, by the node table only, and by both; and some of the first."""

    only_edges: int
    only_nodes: int
    both: int
    examples: tuple[str, ...] = ()


def zero_weights(stored: int, edges: int) -> dict[str, int]:
    """What is dropped of the stored entries of an adjacency, of which those of value 0 are no edges.

    Examples
    --------
    >>> zero_weights(5, 3), zero_weights(5, 5)
    ({'edges of weight 0': 2}, {})
    """
    return {"edges of weight 0": stored - edges} if stored > edges else {}


@dataclass(frozen=True)
class Account:
    """What a reader did with a dataset's files.

    Attributes
    ----------
    files : tuple of FileAccount
    ids : Ids or None
        None if edges and nodes are not in different places.
    unread : dict of int
        How many values could not be read as numbers, by column.
    unused : tuple of str
        Columns, arrays or attributes that are not used, each with the reason in brackets if there is one.
    dropped : dict of int
        What else is left out or merged, by what it is: "edges of weight 0". ``--strict`` refuses it, and ``unread``.
    unknown : dict of int
        How many labels are unknown, by the text that says so.
    both_directions : bool
        Whether the file lists each edge at both of its ends, of which the reader kept one.

    Examples
    --------
    >>> Account(dropped={"edges that are repeated": 2}).dropped
    {'edges that are repeated': 2}
    """

    files: tuple[FileAccount, ...] = ()
    ids: Ids | None = None
    unread: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    both_directions: bool = False
