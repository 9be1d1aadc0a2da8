"""Columns of a node table that hold a split: a column of 0 and 1 for each part, or one that names the parts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.source import Reading
from grandplus.datasets.tables.names import LABELS
from grandplus.datasets.tables.numbers import MISSING
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Column

_PARTS = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "dev": "val",
    "test": "test", "testing": "test",
}  # fmt: skip
_BESIDE = {"mask", "is", "in", "set", "split", "node", "nodes"}  # words that may stand beside that of the part
_MASKS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True, "": False}
_NAMES = ("split", "set", "fold", "partition", "subset")
_NUMBERS = ("split", "fold")  # of these, a column of whole numbers counts splits, and is no feature
_IN_NONE = {"", *(text.lower() for text in MISSING), "unused", "unlabeled", "unlabelled", "rest", "other", "-"}
_NEEDED = {"train": "train", "val": "validate"}
_IGNORE = "leave it out with --ignore"


def split_columns(nodes: Table, columns: Sequence[int]) -> dict[str, Any]:
    """The columns that hold a split, by their names and first values.

    Parameters
    ----------
    nodes : Table
    columns : sequence of int
        Those which may.

    Returns
    -------
    dict
        What a card says under ``masks`` and ``parts``; empty if there is no split.

    Raises
    ------
    GrandPlusError
        Only some parts have a column, or several columns are of the same part, or a column counts splits.
    """
    named = [column for column in columns if _names_parts(nodes, column)]
    masks = {column: part for column in columns if (part := _part_of(nodes, column)) is not None}
    for column in columns if nodes.names else ():
        whole = all(re.fullmatch(r"\d+(\.0)?", text) for text in nodes.values(column))
        if nodes.names and nodes.names[column].lower() in _NUMBERS and whole:
            _raise(nodes, [column], "counts parts of a split by numbers", "train, val and test, or no such column")
    if not masks and not named:
        return {}
    if len(named) + bool(masks) > 1 or len(set(masks.values())) < len(masks):
        _raise(nodes, [*masks, *named], "has several splits", "one", "leave the others out with --ignore")
    if named:
        return {"parts": nodes.named(named[0])}
    _check_parts(nodes, masks.values(), list(masks))
    return {"masks": {masks[column]: nodes.named(column) for column in sorted(masks)}}


def split_in(nodes: Table, how: Reading) -> dict[str, NDArray[np.int64]] | None:
    """The rows of each part, as the card says; None if there is no split in columns.

    Parameters
    ----------
    nodes : Table
    how : Reading

    Raises
    ------
    GrandPlusError
        A value is something else, or a node is of two parts; with its line.
    """
    if how.masks:
        masks = {part: _mask(nodes, nodes.column(column)) for part, column in how.masks.items()}
        for one, other in itertools.combinations(masks, 2):
            both = np.flatnonzero(masks[one] & masks[other])
            if len(both):
                found = f"{nodes.line(int(both[0]))} is of both {how.masks[one]} and {how.masks[other]}"
                more = f", and so are {len(both) - 1:,} more" if len(both) > 1 else ""
                raise GrandPlusError(found + more, where=nodes.file, expected="each node in one part of the split")
        return {part: np.flatnonzero(mask) for part, mask in masks.items()}
    return None if how.parts is None else _parts(nodes, nodes.column(how.parts))


def columns_of_split(how: Reading) -> list[Column]:
    """What the card says holds a split.

    Parameters
    ----------
    how : Reading

    Returns
    -------
    list of str and int
    """
    return [*how.masks.values(), *([] if how.parts is None else [how.parts])]


def is_part(name: str) -> bool:
    """Whether a column is called as the mask of a part is.

    Examples
    --------
    >>> [is_part(name) for name in ("train", "val_mask", "isTest", "train_mask_0", "training_hours", "height")]
    [True, True, True, True, False, False]
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return sum(word in _PARTS for word in words) == 1 and all(word in _PARTS or word in _BESIDE for word in words)


def _part_of(nodes: Table, column: int) -> str | None:
    if not nodes.names or not is_part(nodes.names[column]):
        return None
    texts = [text.lower() for text in nodes.values(column)]
    if not any(texts) or not all(text in _MASKS for text in texts):
        return None
    words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", nodes.names[column]).lower())
    return next(_PARTS[word] for word in words if word in _PARTS)


def _names_parts(nodes: Table, column: int) -> bool:
    texts = {text.lower() for text in nodes.values(column)}
    parts = {_PARTS[text] for text in texts if text in _PARTS}
    if not parts or not all(text in _PARTS or text in _IN_NONE for text in texts):
        return False
    name = nodes.names[column].lower() if nodes.names else ""
    return name in _NAMES or (name not in LABELS and "train" in parts and len(parts) > 1)


def _mask(nodes: Table, column: int) -> NDArray[np.bool_]:
    texts = _texts(nodes, column)
    taken = pc.is_in(texts, value_set=pa.array([text for text, value in _MASKS.items() if value], texts.type))
    _check_known(nodes, column, texts, _MASKS, "0 or 1")
    mask: NDArray[np.bool_] = taken.to_numpy(zero_copy_only=False).astype(bool)
    return mask


def _parts(nodes: Table, column: int) -> dict[str, NDArray[np.int64]]:
    texts = _texts(nodes, column)
    _check_known(nodes, column, texts, {*_PARTS, *_IN_NONE}, "train, val, test or nothing")
    held = set(pc.unique(texts).to_pylist())
    split = {}
    for part in ("train", "val", "test"):
        words = [word for word, of_part in _PARTS.items() if of_part == part and word in held]
        if words:
            split[part] = np.flatnonzero(pc.is_in(texts, value_set=pa.array(words, texts.type)))
    _check_parts(nodes, split, [column])
    return split


def _texts(nodes: Table, column: int) -> pa.Array:
    pieces = [pc.utf8_lower(piece.cast(pa.large_string())) for (piece,) in nodes.pieces([column])]
    return pc.fill_null(pa.concat_arrays(pieces), "")


def _check_known(nodes: Table, column: int, texts: pa.Array, known: Iterable[str], expected: str) -> None:
    wrong = pc.invert(pc.is_in(texts, value_set=pa.array(list(known), texts.type)))
    row = pc.index(wrong, True).as_py()
    if row >= 0:
        found = f"{nodes.line(row)} is {texts[row].as_py()[:40]!r}"
        where = f"{nodes.file}, column {nodes.named(column)}"
        raise GrandPlusError(found, where=where, expected=f"{expected}, as it holds a split", fix=_IGNORE)


def _check_parts(nodes: Table, parts: Iterable[str], columns: list[int]) -> None:
    """A split has nodes to train on and to validate on; the others may be the test nodes."""
    held = set(parts)
    if not {"train", "val"} <= held:
        missing = " and ".join(f"to {verb} on" for part, verb in _NEEDED.items() if part not in held)
        _raise(nodes, columns, f"holds a split without nodes {missing}", "train, val and perhaps test")


def _raise(nodes: Table, columns: list[int], found: str, expected: str, fix: str = _IGNORE) -> NoReturn:
    where = f"{nodes.file}, column {', '.join(str(nodes.named(column)) for column in columns)}"
    raise GrandPlusError(found, where=where, expected=expected, fix=fix)
