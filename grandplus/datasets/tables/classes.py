"""Labels as text or numbers -> class numbers, with the classes' names kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.arrays.checks import refuse_multi_label
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError

UNKNOWN = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")  # and -1 among whole numbers
_WHOLE = re.compile("0|-?[1-9][0-9]*")
_SEPARATORS = re.compile("[;|,]")
_MANY = 10  # nodes: from here on, a class for each of them means that these are no classes


def class_numbers(
    pieces: list[pa.Array], source: Source, where: object, line: Callable[[int], str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Class of each node, int64 (n,) with -1 where unknown, and the classes' names.

    Names are sorted, whole numbers as such; so they don't depend on the order of nodes. Names in the card say which
    there are, and their order.

    Parameters
    ----------
    pieces : of a column
    line : what to call a row in an error

    Raises
    ------
    GrandPlusError : these are no classes, several a node, or not the card's.
    """
    encoded = pa.chunked_array([_text(piece, where) for piece in pieces], pa.large_string()).combine_chunks()
    encoded = encoded.dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    unknown = set(UNKNOWN) | ({"-1"} if all(map(_WHOLE.fullmatch, set(names) - set(UNKNOWN))) else set())
    known = sorted(set(names) - unknown, key=_key(set(names) - unknown))
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    _refuse_several(known, where)
    _refuse_numbers(known, int(np.isin(codes, [at for at, name in enumerate(names) if name in known]).sum()), where)
    classes = known if source.classes is None else list(source.classes)
    number_of = {name: number for number, name in enumerate(classes)}
    for name in known:
        if name not in number_of:
            row = int(np.flatnonzero(codes == names.index(name))[0])
            expected = f"one of {', '.join(classes)}, as in the card"
            raise GrandPlusError(f"{line(row)} has class {name!r}", where=where, expected=expected)
    numbers = np.array([*(number_of.get(name, -1) for name in names), -1], np.int64)
    return numbers[codes], classes


def _text(piece: pa.Array, where: object) -> pa.Array:
    """As text; null where it is."""
    if pa.types.is_list(piece.type) or pa.types.is_large_list(piece.type) or pa.types.is_fixed_size_list(piece.type):
        refuse_multi_label("holds lists of labels", where)
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_floating(piece.type):
        piece = pc.if_else(pc.is_nan(piece), None, piece)
        try:
            piece = piece.cast(pa.int64())  # as pandas writes whole numbers with gaps
        except pa.ArrowInvalid:
            _refuse_continuous(where)
    try:
        return piece.cast(pa.large_string())
    except pa.ArrowException:
        raise GrandPlusError(f"holds {piece.type}", where=where, expected="labels: text or whole numbers") from None


def _key(names: set[str]) -> Callable[[str], Any]:
    return int if all(map(_WHOLE.fullmatch, names)) else str


def _refuse_several(names: list[str], where: object) -> None:
    """Several labels between separators, where one of them is also in another node's."""
    several = [name for name in names if _SEPARATORS.search(name)]
    used = Counter(part.strip() for name in names for part in set(_SEPARATORS.split(name)))
    for name in several:
        if any(used[part.strip()] > 1 for part in _SEPARATORS.split(name)):
            refuse_multi_label(f"holds {name!r}", where)


def _refuse_numbers(names: list[str], labelled: int, where: object) -> None:
    """A measured quantity, or a name of each node, is no class."""
    if any(re.fullmatch(r"-?\d*\.\d*[1-9]\d*(e[+-]?\d+)?", name) for name in names) and all(map(_is_float, names)):
        _refuse_continuous(where)
    if len(names) == labelled > _MANY:
        found = f"has another label for each of {labelled} nodes, like {names[0]!r}"
        raise GrandPlusError(found, where=where, expected="classes", fix="name the column of classes with --label")


def _refuse_continuous(where: object) -> None:
    fix = "name the column of classes with --label"
    raise GrandPlusError("holds fractions", where=where, expected="classes, not a quantity", fix=fix)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
