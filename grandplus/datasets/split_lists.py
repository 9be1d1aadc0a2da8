"""A split that comes as lists of ids, a file for each part, with an id on each line."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import FileAccount
from grandplus.graph.ids import read_ids, without_header
from grandplus.runtime.errors import GrandPlusError


def listed_split(
    files: dict[str, Path], node_ids: NDArray[Any]
) -> tuple[dict[str, NDArray[np.int64]], tuple[FileAccount, ...]]:
    """The nodes whose ids are listed, by part.

    Parameters
    ----------
    files : dict of Path
        By part.
    node_ids : (n,)
        Of the graph.

    Returns
    -------
    split : dict of int64 arrays
        Sorted, so that the order of lines makes no difference.
    account : tuple of FileAccount
        One for each file.

    Raises
    ------
    GrandPlusError
        A list names an id twice, or one that the graph lacks or that another list names too.
    """
    split, account = {}, []
    for part, file in files.items():
        lines = _without_row_names(read_ids(str(file)))
        ids = list(without_header(lines, node_ids))
        split[part] = _nodes(ids, file, node_ids)
        heads = len(lines) - len(ids)
        account.append(FileAccount(file.name, len(ids), "ids", {"header": heads} if heads else {}))
    for one, other in itertools.combinations(files, 2):
        both = np.intersect1d(split[one], split[other])
        if len(both):
            more = f" and {len(both) - 1:,} more" if len(both) > 1 else ""
            found = f"names node {node_ids[both[0]]}{more}, and so does {files[other].name}"
            raise GrandPlusError(found, where=files[one], expected="each node in one of the lists")
    return split, tuple(account)


def _nodes(ids: list[str], file: Path, node_ids: NDArray[Any]) -> NDArray[np.int64]:
    known = pa.array(node_ids).cast(pa.large_string())
    nodes = pc.index_in(pa.array(ids, pa.large_string()), value_set=known)
    if nodes.null_count:
        nodes = pc.coalesce(nodes, pc.index_in(pa.array(map(_unquoted, ids), pa.large_string()), value_set=known))
    if nodes.null_count:
        position = int(pc.index(nodes.is_null(), True).as_py())
        raise GrandPlusError(f"names node {ids[position]!r}", where=file, expected="an id of a node of the graph")
    found, counts = np.unique(nodes.to_numpy(), return_counts=True)
    if counts.max() > 1:
        raise GrandPlusError(f"names node {node_ids[found[counts.argmax()]]} twice", where=file, expected="each once")
    return found.astype(np.int64)


def _without_row_names(lines: list[str]) -> list[str]:
    """The lines of a column that R wrote, without the numbers of its rows.

    >>> _without_row_names(['"x"', '"1" 7', '"2" 5']), _without_row_names(['"","x"', '"1","a"'])
    (['"x"', '7', '5'], ['"x"', '"a"'])
    """
    head, *rows = lines
    named = [re.fullmatch(rf'"{number}"[ \t,](.+)', row) for number, row in enumerate(rows, start=1)]
    if not rows or None in named or not head.startswith('"'):
        return lines
    return [re.sub(r'^"",', "", head), *(row[1] for row in named if row)]


def _unquoted(text: str) -> str:
    """As tables of text may quote an id.

    >>> _unquoted('"a""b"')
    'a"b'
    """
    return text[1:-1].replace('""', '"') if text[:1] == text[-1:] == '"' and len(text) > 1 else text
