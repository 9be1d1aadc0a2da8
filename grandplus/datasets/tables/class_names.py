"""Which texts in a column of labels stand for an unknown label, and which stand for the same class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

# What pandas reads as NA, and further usual marks. A number is meant by its value: -1 is -1.0, too.
UNKNOWN = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null", "none", "?", "-1", "-", "--", "N.A.", "n.a.", "\\N", ".",
    "unknown", "Unknown", "UNKNOWN", "unlabeled", "Unlabeled", "unlabelled", "Unlabelled",
    "missing", "Missing", "MISSING", "undefined", "(null)", "#VALUE!", "#NUM!",
)  # fmt: skip
WHOLE = re.compile("0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"([+-]?[0-9]+),0+")  # 1,0 for 1.0
_MAX_DIGITS = 18  # of a whole number that is written as a float


def class_names(texts: Iterable[str], unknown: Sequence[str] | None = None) -> dict[str, str | None]:
    """The class that each text stands for.

    A whole number that is written as a float is that number. True, true and TRUE are one class if several of them
    occur, and so are False, false and FALSE.

    Parameters
    ----------
    texts : iterable of str
        The different texts of a column.
    unknown : sequence of str, optional
        Those that stand for an unknown label, in place of ``UNKNOWN``. The empty text always does.

    Returns
    -------
    dict of str to str or None
        By text; None if the label is unknown.

    Examples
    --------
    >>> class_names(["1.0", "1", "-1.0", "n/a", "b"])
    {'1.0': '1', '1': '1', '-1.0': None, 'n/a': None, 'b': 'b'}
    >>> class_names(["True", "TRUE", "false", "-1"], unknown=["?"])
    {'True': 'True', 'TRUE': 'True', 'false': 'False', '-1': '-1'}
    """
    trimmed = {text: text.strip() for text in texts}
    listed = {"", *(UNKNOWN if unknown is None else map(str.strip, unknown))}
    values = listed | set(map(_whole, listed))
    classes = {text: None if name in listed or _whole(name) in values else name for text, name in trimmed.items()}
    known = {name for name in classes.values() if name is not None}
    if any(map(_COMMA.fullmatch, known)) and all(_COMMA.fullmatch(name) or WHOLE.fullmatch(name) for name in known):
        comma = {text: None if name is None else _COMMA.sub(r"\1", name) for text, name in classes.items()}
        return {text: None if name is None or _whole(name) in values else _whole(name) for text, name in comma.items()}
    spelling = _spellings(known)
    return {text: None if name is None else spelling[name] for text, name in classes.items()}


def unmatched(texts: Iterable[str], unknown: Sequence[str]) -> list[str]:
    """What was said to stand for an unknown label, but is no label.

    Parameters
    ----------
    texts : iterable of str
        The different texts of a column.
    unknown : sequence of str

    Returns
    -------
    list of str

    Examples
    --------
    >>> unmatched(["a", " x ", "-1.0"], ["x", "-1", "y"])
    ['y']
    """
    held = {form for text in texts for form in (text.strip(), _whole(text.strip()))}
    return [text for text in unknown if not {text.strip(), _whole(text.strip())} & held and text.strip()]


def _spellings(names: set[str]) -> dict[str, str]:
    """One spelling of each class."""
    numbers = all(map(_FLOAT.fullmatch, names))
    words = [name for name in names if name.casefold() in ("true", "false")]
    if len(words) == len({word.casefold() for word in words}):
        words = []
    titled = {word: word.title() for word in words}
    # Among words, 1e5 may be a word, too.
    return {name: titled.get(name) or (_whole(name) if numbers or "e" not in name.lower() else name) for name in names}


def _whole(text: str) -> str:
    """A whole number in its usual form; any other text as it is.

    >>> [_whole(text) for text in ("-1.0", "1.200000e+01", "07", "0.5", "1e400", "x")]
    ['-1', '12', '07', '0.5', '1e400', 'x']
    """
    if not _FLOAT.fullmatch(text):
        return text
    number = Decimal(text)
    if number.adjusted() > _MAX_DIGITS or number != number.to_integral_value():
        return text
    return str(int(number))
