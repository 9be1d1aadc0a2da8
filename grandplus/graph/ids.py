"""From the ids that the data came with to row numbers."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.runtime.errors import GrandPlusError

NEAREST, CANDIDATES = 3, 2000
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
Key: TypeAlias = int | str


def read_ids(file: str) -> list[str]:
    """One id a line; empty lines are left out. ``-`` is standard input.

    Raises
    ------
    GrandPlusError : it can't be read, or names nothing.
    """
    where = "standard input" if file == "-" else file
    try:
        text = (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror}", where=where) from None
    except UnicodeDecodeError:
        raise GrandPlusError("is no text in UTF-8", where=where, expected="one id of a node a line") from None
    ids = [line.strip() for line in text.splitlines() if line.strip()]
    if not ids:
        raise GrandPlusError("names no node", where=where, expected="one id of a node a line")
    return ids


def rows_of(node_ids: NDArray[Any], wanted: Sequence[str]) -> NDArray[np.int64]:
    """Row numbers (b,) of the wanted ids, which may repeat.

    Parameters
    ----------
    node_ids : (n,) integers or strings, each once

    Raises
    ------
    GrandPlusError : there is no such node; names those nearest to it, or some.

    >>> rows_of(np.array(["ann", "bob"], object), ["bob", "ann", "bob"]).tolist()
    [1, 0, 1]
    """
    known = pa.array(node_ids)
    keys = [_key(text, known.type) for text in wanted]
    sought = pa.array([key for key in set(keys) if _is_of(key, known.type)], known.type)
    found = np.flatnonzero(pc.is_in(known, sought).to_numpy(zero_copy_only=False))
    row_of = dict(zip(known.take(pa.array(found)).to_pylist(), found.tolist(), strict=True))
    for key in keys:
        if key not in row_of:
            raise GrandPlusError(
                f"there is no node {key}", expected="an id that the data came with", fix=_hint(known, key)
            )
    return np.array([row_of[key] for key in keys], np.int64)


def _key(text: str, kind: pa.DataType) -> Key:
    """As the ids are; a text where they are integers and it is none."""
    return int(text) if pa.types.is_integer(kind) and _INTEGER.fullmatch(text) else text


def _is_of(key: Key, kind: pa.DataType) -> bool:
    if not pa.types.is_integer(kind):
        return True
    limits = np.iinfo(kind.to_pandas_dtype())
    return isinstance(key, int) and limits.min <= key <= limits.max


def _hint(known: pa.Array, key: Key) -> str:
    nearest = _nearest(known, key)
    named = ", ".join(map(str, nearest or known[:NEAREST].to_pylist()))
    return f"the nearest are {named}" if nearest else f"ids are like {named}"


def _nearest(known: pa.Array, key: Key) -> list[Key]:
    """Integers by their distance, texts that are alike; of a large graph, among those that begin alike."""
    if isinstance(key, int):
        values = known.to_numpy()
        within = min(max(key, int(values.min())), int(values.max()))  # else all are equally far, as float64 rounds
        distance = np.abs(values.astype(np.float64) - within)
        return list(values[np.argsort(distance, kind="stable")[:NEAREST]].tolist())
    texts = known.cast(pa.string())
    starts = (texts.filter(pc.starts_with(texts, key[:length])) for length in range(len(key), -1, -1))
    alike = next(some for some in starts if len(some) or not len(texts))
    return list(difflib.get_close_matches(key, alike[:CANDIDATES].to_pylist(), n=NEAREST))
