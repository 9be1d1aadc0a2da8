"""From the ids of the data to row numbers."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.runtime.errors import ArgumentError, GrandPlusError

NAMED_IDS = 3  # that an error suggests
COMPARED_IDS = 2000  # at most, for a suggestion
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_HEADS = {f"{what}{name}" for what in ("", "node", "vertex") for name in ("id", "ids", "name")} | {"node", "nodes"}
Key: TypeAlias = int | str


def read_ids(file: str) -> list[str]:
    """Read a file with one id on each line; empty lines are left out.

    Parameters
    ----------
    file : str
        ``-`` is standard input.

    Returns
    -------
    list of str

    Raises
    ------
    GrandPlusError
        It can't be read, or names nothing.
    """
    where = "standard input" if file == "-" else file
    try:
        text = (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode("utf-8-sig")
    except OSError as error:
        expected = "a file with one id of a node a line"
        raise GrandPlusError(f"can't be read: {error.strerror}", where=where, expected=expected) from None
    except UnicodeDecodeError:
        raise GrandPlusError("is no text in UTF-8", where=where, expected="one id of a node a line") from None
    ids = [line.strip() for line in text.splitlines() if line.strip()]
    if not ids:
        raise GrandPlusError("names no node", where=where, expected="one id of a node a line")
    return ids


def without_header(ids: Sequence[str], node_ids: NDArray[Any]) -> Sequence[str]:
    """Leave out the first line of a file of ids if it is no id but the head of a column.

    Parameters
    ----------
    ids : sequence of str
        The lines of the file.
    node_ids : (n,) ndarray
        Of the graph. A first line before others is a head if these are integers and it has no digit, or if it is
        none of these but a usual name of such a column.

    Returns
    -------
    sequence of str
        All lines, or all but the first.

    Examples
    --------
    >>> without_header(["Node ID", "7"], np.array([7, 8])), without_header(["id", "7"], np.array(["id", "7"], object))
    (['7'], ['id', '7'])
    """
    if len(ids) == 1:
        return ids
    first, known = ids[0], pa.array(node_ids)
    if pa.types.is_integer(known.type):
        return ids if re.search(r"[0-9]", first) else ids[1:]
    is_name = re.sub(r"[\W_]", "", first).lower() in _HEADS
    return ids[1:] if is_name and not pc.any(pc.equal(known, first)).as_py() else ids


def rows_of(node_ids: NDArray[Any], wanted: Sequence[Key]) -> NDArray[np.int64]:
    """The row numbers of some nodes.

    Parameters
    ----------
    node_ids : (n,) ndarray
        Integers or strings, each once.
    wanted : sequence of str or int
        Ids, which may repeat. Text stands for an integer where ``node_ids`` are integers.

    Returns
    -------
    int64 (b,)

    Raises
    ------
    ArgumentError
        There is no such node; suggests similar ids.

    Examples
    --------
    >>> rows_of(np.array(["ann", "bob"], object), ["bob", "ann", "bob"]).tolist()
    [1, 0, 1]
    """
    rows = find_rows(node_ids, wanted)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        raise_unknown(node_ids, wanted[unknown[0]])
    return rows


def find_rows(node_ids: NDArray[Any], wanted: Sequence[Key]) -> NDArray[np.int64]:
    """The row numbers of some nodes, -1 where there is no such node.

    Parameters
    ----------
    node_ids : (n,) ndarray
        Integers or strings, each once.
    wanted : sequence of str or int
        As of `rows_of`.

    Returns
    -------
    int64 (b,)

    Examples
    --------
    >>> find_rows(np.array([7, 5]), ["5", "x", 7]).tolist()
    [1, -1, 0]
    """
    known = pa.array(node_ids)
    keys = [_key(value, known.type) for value in wanted]
    sought = pa.array([key for key in set(keys) if _is_of(key, known.type)], known.type)
    rows = np.flatnonzero(pc.is_in(known, sought).to_numpy(zero_copy_only=False))
    row_of = dict(zip(known.take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))
    return np.array([row_of.get(key, -1) for key in keys], np.int64)


def raise_unknown(node_ids: NDArray[Any], wanted: Key) -> NoReturn:
    """Say that there is no such node, and which ids are similar.

    Raises
    ------
    ArgumentError
    """
    known = pa.array(node_ids)
    key = _key(wanted, known.type)
    raise ArgumentError(f"there is no node {key}", expected="an id that the data came with", fix=hint(known, key))


def _key(given: Key, kind: pa.DataType) -> Key:
    """An id of the type of the known ones; it stays text if they are integers and it is none."""
    if not pa.types.is_integer(kind):
        return str(given)
    return int(given) if isinstance(given, int) or _INTEGER.fullmatch(given) else given


def _is_of(key: Key, kind: pa.DataType) -> bool:
    if not pa.types.is_integer(kind):
        return True
    limits = np.iinfo(kind.to_pandas_dtype())
    return isinstance(key, int) and limits.min <= key <= limits.max


def hint(known: pa.Array, key: Key) -> str:
    """The known ids that are nearest to one that isn't known, for an error; some of them if none is near.

    Parameters
    ----------
    known : pyarrow array (n,)
        Of integers or strings.
    key : int or str

    Returns
    -------
    str

    Examples
    --------
    >>> hint(pa.array(["ann", "bob"]), "anna"), hint(pa.array(["ann", "bob"]), "zoe")
    ('the nearest is ann', 'ids are like ann, bob')
    """
    nearest = _nearest(known, key)
    named = ", ".join(map(str, nearest or known[:NAMED_IDS].to_pylist()))
    return f"the nearest {'is' if len(nearest) == 1 else 'are'} {named}" if nearest else f"ids are like {named}"


def _nearest(known: pa.Array, key: Key) -> list[Key]:
    """The nearest integers, or similar texts; in a large graph, among those that begin alike."""
    if isinstance(key, int):
        values = known.to_numpy()
        within = min(
            max(key, int(values.min())), int(values.max())
        )  # float64 rounds, so that ids would be equally far from a much larger number
        distance = np.abs(values.astype(np.float64) - within)
        return list(values[np.argsort(distance, kind="stable")[:NAMED_IDS]].tolist())
    texts = known.cast(pa.string())
    starts = (texts.filter(pc.starts_with(texts, key[:length])) for length in range(len(key), -1, -1))
    alike = next(some for some in starts if len(some) or not len(texts))
    return list(difflib.get_close_matches(key, alike[:COMPARED_IDS].to_pylist(), n=NAMED_IDS))
