"""From labels as text or numbers to class numbers; the names of the classes are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.arrays.labels import raise_multi_label
from grandplus.datasets.source import Source
from grandplus.datasets.tables.class_names import WHOLE, class_names, unmatched
from grandplus.datasets.tables.spellings import without_spelling
from grandplus.runtime.errors import GrandPlusError

_EXPONENT = re.compile(r"^[+-]?[0-9.]+[eE][+-]?[0-9]+$")
_SEPARATORS = re.compile("[;|,]")
MIN_NODES_TO_DOUBT = 10  # with more nodes, as many labels as nodes are taken for names of the nodes


def class_numbers(
    pieces: list[pa.Array], source: Source, where: object, line: Callable[[int], str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Number the classes of a column of labels.

    Names of classes are sorted, whole numbers by their value; so they don't depend on the order of nodes. If the card
    names the classes, its names and their order count. See `grandplus.datasets.tables.class_names` for what is unknown.

    Parameters
    ----------
    pieces : list of pyarrow arrays
        Of the column, one after the other.
    source : Source
        May name the classes, and what stands for an unknown label.
    where : object
        File and column, for errors.
    line : callable
        What to call a row in an error.

    Returns
    -------
    labels : int64 (n,)
        -1 where unknown.
    classes : list of str
        Names, by class number.

    Raises
    ------
    GrandPlusError
        The labels are no classes, a node has several, two classes differ in spelling alone, or one is not in the card.
    """
    encoded = pa.chunked_array([_text(piece, where) for piece in pieces], pa.large_string()).combine_chunks()
    encoded = encoded.dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    class_of = class_names(names, source.read.na)
    _check_spellings(class_of, where)
    known = sorted({name for name in class_of.values() if name is not None})
    if all(map(WHOLE.fullmatch, known)):
        known.sort(key=int)
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    _check_single(known, where)
    labelled = np.isin(codes, [code for code, name in enumerate(names) if class_of[name] is not None])
    _check_classes(known, int(labelled.sum()), where)
    classes = known if source.classes is None else list(source.classes)
    number_of = {name: number for number, name in enumerate(classes)}
    for name in known:
        if name not in number_of:
            texts = [code for code, text in enumerate(names) if class_of[text] == name]
            row = int(np.flatnonzero(np.isin(codes, texts))[0])
            expected = f"one of {', '.join(classes)}, the known classes"
            raise GrandPlusError(f"{line(row)} has class {name!r}", where=where, expected=expected)
    numbers = [-1 if (known_name := class_of[text]) is None else number_of[known_name] for text in names]
    return np.array([*numbers, -1], np.int64)[codes], classes


def unknown_labels(
    pieces: list[pa.Array], unknown: Sequence[str] | None, where: object
) -> tuple[dict[str, int], list[str]]:
    """How many labels are unknown, and what ``--na`` names in vain.

    Parameters
    ----------
    pieces : list of pyarrow arrays
        Of the column, one after the other.
    unknown : sequence of str or None
        What the card says of it.
    where : object
        File and column, for errors.

    Returns
    -------
    counts : dict of int
        By text; cells without a text are not in it.
    unused : list of str
        What no label is, each as an account names it.
    """
    texts = pa.chunked_array([_text(piece, where) for piece in pieces], pa.large_string())
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(texts).to_pylist() if entry["values"]}
    names = class_names(counts, unknown)
    unused = [f"--na {text} (no label is called so)" for text in unmatched(counts, unknown or ())]
    return {text: count for text, count in counts.items() if names[text] is None and text.strip()}, unused


def _text(piece: pa.Array, where: object) -> pa.Array:
    """As text; null values stay null."""
    if pa.types.is_list(piece.type) or pa.types.is_large_list(piece.type) or pa.types.is_fixed_size_list(piece.type):
        raise_multi_label("holds lists of labels", where)
    if pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_decode()
    if pa.types.is_floating(piece.type):
        piece = pc.if_else(pc.is_nan(piece), None, piece)
        try:
            piece = piece.cast(pa.int64())  # as pandas writes whole numbers with gaps
        except pa.ArrowInvalid:
            _raise_continuous(where)
    try:
        return piece.cast(pa.large_string())
    except pa.ArrowException:
        raise GrandPlusError(f"holds {piece.type}", where=where, expected="labels: text or whole numbers") from None


def _check_spellings(class_of: dict[str, str | None], where: object) -> None:
    """No two classes differ in spelling alone, and no class is written with an exponent beside another form."""
    texts = [text for text in class_of if text.strip()]
    plain = without_spelling(pa.array(texts, pa.large_string())).to_pylist()
    alike: dict[str, str] = {}
    written: dict[str | None, str] = {}
    for text, key in zip(texts, plain, strict=True):
        other = alike.setdefault(key, text)
        if class_of[other] == class_of[text]:
            other = written.setdefault(class_of[text], text)
            if class_of[text] is None or bool(_EXPONENT.search(other)) == bool(_EXPONENT.search(text)):
                continue
        fix = "write it alike in all nodes; if these are two classes, give them names that differ by more"
        names = f"{other.strip()!a} and {text.strip()!a}"
        found = f"holds {names}: one class, in two spellings (by case, spaces, zeros or form)"
        raise GrandPlusError(found, where=where, fix=fix)


def _check_single(names: list[str], where: object) -> None:
    """No name lists several labels between separators, of which one is also in another name."""
    several = [name for name in names if _SEPARATORS.search(name)]
    used = Counter(part.strip() for name in names for part in set(_SEPARATORS.split(name)))
    for name in several:
        if any(used[part.strip()] > 1 for part in _SEPARATORS.split(name)):
            raise_multi_label(f"holds {name!r}", where)


def _check_classes(names: list[str], labelled: int, where: object) -> None:
    """The labels are neither a measured quantity nor a name of each node."""
    if any(re.fullmatch(r"-?\d*\.\d*[1-9]\d*(e[+-]?\d+)?", name) for name in names) and all(map(_is_float, names)):
        _raise_continuous(where)
    if len(names) == labelled > MIN_NODES_TO_DOUBT:
        found = f"has another label for each of {labelled} nodes, like {names[0]!r}"
        raise GrandPlusError(found, where=where, expected="classes", fix="name the column of classes with --label")


def _raise_continuous(where: object) -> NoReturn:
    fix = "name the column of classes with --label"
    raise GrandPlusError("holds fractions", where=where, expected="classes, not a quantity", fix=fix)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
