"""Numbers in text, as programs and people write them: 1.5, 1,5, 1 234, 1,234.5, 12 %, true.

Whether a point or a comma begins the fraction follows from the cells of a column: 0,5 and 1.234,5 show a comma; 1,234.5
and 1,234,567 show a point. 1,234 alone shows nothing, so the other columns of the file decide, or it is refused. A
point is taken for the beginning of a fraction where nothing shows another meaning, but not beside semicolons, which
programs write where the comma begins a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from grandplus.datasets.tables.class_names import UNKNOWN
from grandplus.runtime.errors import GrandPlusError

POINT, COMMA = ".", ","
_FIRST_CELLS = 100  # of a column, which show most of what there is
MISSING = tuple(text for text in UNKNOWN if text != "-1")
_SPACES = "[ '\u00a0\u2009\u202f\u2019]"  # that separate thousands, and the apostrophes that do
_SEPARATOR = f"(?:[.,]|{_SPACES})"
_TIMES = ("{2}", "{3,}")
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_PERCENT = "[ \u00a0\u202f]?%$"
_SPACED = f"^-?[1-9][0-9]{{0,2}}(?:{_SPACES}[0-9]{{3}})+(?:[.,][0-9]*)?(?:{_PERCENT[:-1]})?$"
_GROUPS = {  # of thousands, by the mark between them; the comma has those of India, too
    COMMA: "(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})",
    POINT: r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+",
}
_DATE = (  # or a time
    "^(?:[0-9]{1,4}[-/][0-9]{1,2}[-/][0-9]{1,4}|[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}|[0-9]{4}[-/][0-9]{1,2}$)"
    "|^[0-9]{1,2}:[0-9]{2}"
)
_MINUS = "\u2212".encode()
_WITHOUT_LETTERS = r"^\P{L}*\p{Nd}\P{L}*$|^[+-]?[0-9.,]+[dD][+-]?[0-9]+$"  # but for the exponent of Fortran
_OTHER = {POINT: COMMA, COMMA: POINT}


def _plain(mark: str) -> str:
    return rf"-?(?:[0-9]+(?:[{mark}][0-9]*)?|[{mark}][0-9]+){_EXPONENT}"


def _grouped(mark: str) -> str:
    return f"-?{_GROUPS[_OTHER[mark]]}(?:[{mark}][0-9]*)?"


_OPEN = {mark: rf"^-?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}$" for mark in _OTHER}  # thousands or a fraction
_NUMBER = {mark: f"^(?:{_plain(mark)}|{_grouped(mark)})$" for mark in _OTHER}
_ANY = re.compile(f"[+\u2212]?(?:{_NUMBER[POINT][1:-1]}|{_NUMBER[COMMA][1:-1]}|{_SPACED[1:-1]})(?:{_PERCENT[:-1]})?")


def is_number(text: str | None) -> bool:
    """Whether a field is a number in any of these forms, or true or false.

    Examples
    --------
    >>> [text for text in ("1.5", "1,5", "1 234", "12 %", "true", "x", "1_000", None) if is_number(text)]
    ['1.5', '1,5', '1 234', '12 %', 'true']
    """
    if text is None:
        return False
    return text.lower() in ("true", "false", "nan", "inf", "-inf") or bool(_ANY.fullmatch(text))


def has_fraction(texts: Iterable[str]) -> bool:
    """Whether some fields are numbers that are not whole.

    Examples
    --------
    >>> has_fraction(["1.0", "x", "1,234"]), has_fraction(["1", "0,5"])
    (False, True)
    """
    cells = pa.array(list(texts), pa.string())
    meant = zip(*(parsed(cells, mark).to_pylist() for mark in _OTHER), strict=True)
    return any({number % 1 > 0 for number in pair if number is not None} == {True} for pair in meant)


def are_dates(texts: Iterable[str]) -> bool:
    """Whether fields are dates or times, but for those that are missing.

    Examples
    --------
    >>> are_dates(["2024-01-31", "NA", "31.1.2024 7:15"]), are_dates(["2024-01-31", "x"]), are_dates([""])
    (True, False, False)
    """
    filled = pa.array([text for text in texts if text not in MISSING], pa.string())
    return len(filled) > 0 and bool(pc.all(pc.match_substring_regex(filled, _DATE)).as_py())


@dataclass(frozen=True)
class Evidence:
    """What cells show of the way in which numbers are written: the first cell of each kind, or None.

    Attributes
    ----------
    point, comma : str or None
        The mark begins the fraction.
    open_point, open_comma : str or None
        The mark begins the fraction or separates thousands.
    spaced : str or None
        Spaces separate thousands, so that no mark does.
    percent, bare : str or None
        A number with a percent sign, and one without.
    word, quantity : str or None
        True or false, and a number other than 0 and 1.
    triple, longer, shorter : str or None
        A number of three groups, of more, and of fewer groups or with a fraction or a sign. Codes are groups, too.
    led : str or None
        A number whose first group, before others or alone, has one or two digits, as no code of three digits has.
    """

    point: str | None = None
    comma: str | None = None
    open_point: str | None = None
    open_comma: str | None = None
    spaced: str | None = None
    percent: str | None = None
    bare: str | None = None
    word: str | None = None
    quantity: str | None = None
    triple: str | None = None
    longer: str | None = None
    shorter: str | None = None
    led: str | None = None

    @property
    def code(self) -> str | None:
        """A cell of three groups or more, if all cells have as many, or all first groups have three digits."""
        varied = len([kind for kind in (self.triple, self.longer, self.shorter) if kind]) > 1
        return None if varied and self.led else self.triple or self.longer

    def __or__(self, later: Evidence) -> Evidence:
        """What both show."""
        return Evidence(*(getattr(self, key.name) or getattr(later, key.name) for key in fields(Evidence)))


def evidence_of(texts: pa.Array, known: Evidence | None = None) -> Evidence:
    """What the cells of a column show.

    Parameters
    ----------
    texts : pyarrow array of strings
        Without spaces around.
    known : Evidence, optional
        What earlier cells of the column have shown, which need not be looked for again.

    Returns
    -------
    Evidence
        What is known, too. A number that may be read in two ways isn't noted once another shows how it is meant.

    Examples
    --------
    >>> found = evidence_of(pa.array(["1,234", "0,5", "x"]))
    >>> found.comma, found.open_comma, found.point
    ('0,5', '1,234', None)
    """
    found = known or Evidence()
    for part in (texts[:_FIRST_CELLS], texts[_FIRST_CELLS:]):
        if _may_show_more(part, found):
            found |= _evidence(part)
    return found


def _may_show_more(texts: pa.Array, known: Evidence) -> bool:
    """Whether cells may show what is not known yet; the bytes that they hold tell it fast."""
    held = _bytes(texts)
    if not len(texts):
        return False
    return (
        known.bare is None
        or (known.quantity is None and not pc.all(pc.is_in(texts, pa.array(["0", "1"], texts.type))).as_py())
        or (known.point is None and (b"." in held or _has_twice(texts, COMMA, held)))
        or (known.comma is None and (b"," in held or _has_twice(texts, POINT, held)))
        or (known.spaced is None and _holds_spaces(held))
        or (known.percent is None and b"%" in held)
        or (known.word is None and _holds(held, b"rRlL"))  # of true and false
        or ((known.code or not (known.shorter and known.led)) and _holds(held, b".,' \xc2\xe2"))
    )


def _evidence(texts: pa.Array) -> Evidence:
    tidy = _tidy(texts)
    bare = _without_percent(tidy)
    number = {mark: _matches(bare, _NUMBER[mark]) for mark in _OTHER}
    either = pc.or_(number[POINT], number[COMMA])
    percent = pc.and_(either, _matches(tidy, "%$"))
    triple, longer = (_matches(texts, f"^[1-9][0-9]{{0,2}}(?:{_SEPARATOR}[0-9]{{3}}){times}$") for times in _TIMES)
    return Evidence(
        point=_first(texts, pc.and_not(number[POINT], number[COMMA])),
        comma=_first(texts, pc.and_not(number[COMMA], number[POINT])),
        open_point=_first(texts, _matches(bare, _OPEN[POINT])),
        open_comma=_first(texts, _matches(bare, _OPEN[COMMA])),
        spaced=_first(texts, _matches(texts, _SPACED)),
        percent=_first(texts, percent),
        bare=_first(texts, pc.and_not(either, percent)),
        word=_first(texts, _is_word(texts)),
        quantity=_first(texts, pc.and_not(either, pc.is_in(tidy, value_set=pa.array(["0", "1"], tidy.type)))),
        triple=_first(texts, pc.and_(either, triple)),
        longer=_first(texts, pc.and_(either, longer)),
        shorter=_first(texts, pc.and_not(either, pc.or_(triple, longer))),
        led=_first(texts, pc.and_(either, _matches(texts, "^[^0-9]*[0-9]{1,2}(?:[^0-9]|$)"))),
    )


def fraction_mark(
    column: Evidence, others: Evidence, where: object, *, semicolons: bool, asked: str | None = None
) -> str:
    """The mark with which the fraction begins in a column.

    Parameters
    ----------
    column, others : Evidence
        Of the column, and of all columns of the file.
    where : object
        File and column, for errors.
    semicolons : bool
        Whether they separate the fields of the file.
    asked : {".", ","}, optional
        What the user says it is.

    Returns
    -------
    {".", ","}

    Raises
    ------
    GrandPlusError
        The cells contradict each other, leave it open, or may be codes.

    Examples
    --------
    >>> cells = evidence_of(pa.array(["1,234", "12"]))
    >>> fraction_mark(cells, evidence_of(pa.array(["0.5"])), "t.csv", semicolons=False)
    '.'
    >>> fraction_mark(cells, cells, "t.csv, column x", semicolons=False)
    Traceback (most recent call last):
    grandplus.runtime.errors.GrandPlusError: t.csv, column x: holds '1,234', which may be 1.234 or 1234; ...
    """
    _check_alike(column, where, asked)
    if column.code and not asked:
        _raise_code(column.code, where)
    sure = [asked] if asked else _sure(column)
    if sure:
        return sure[0]
    if column.open_comma is None and not (column.open_point and (others.comma or semicolons)):
        return POINT  # as usual, or there is no mark
    sure = _sure(others)
    if not sure and (column.spaced or others.spaced) and not (column.open_comma and column.open_point):
        return COMMA if column.open_comma else POINT
    if len(sure) != 1:
        _raise_open(str(column.open_comma or column.open_point), where)
    return sure[0]


def like_numbers(texts: pa.Array) -> pa.Array:
    """Which cells are numbers, or have no letters as if they were numbers in a form that is not known.

    Dates and times are none of these.

    Parameters
    ----------
    texts : pyarrow array of strings
        Without spaces around.

    Returns
    -------
    pyarrow array of bool

    Examples
    --------
    >>> like_numbers(pa.array(["1,5", "$5", "a1", "2020-01-31", "", "1e5", "inf"])).to_pylist()
    [True, True, False, False, False, True, True]
    """
    like = pc.or_(_matches(texts, f"^(?:{_ANY.pattern})$"), _matches(texts, _WITHOUT_LETTERS))
    return pc.or_(pc.and_not(like, _matches(texts, _DATE)), _matches(texts, "^(?i:true|false|-?inf|nan)$"))


def parsed(texts: pa.Array, mark: str) -> pa.Array:
    """The numbers of a column.

    Parameters
    ----------
    texts : pyarrow array of strings
        Without spaces around.
    mark : {".", ","}
        With which the fraction begins.

    Returns
    -------
    pyarrow array of float64
        Null where the text is no number. The nearest of all float64.

    Examples
    --------
    >>> parsed(pa.array(["1.234,5", "1 234", "12,5 %", "TRUE", "1.5"]), ",").to_pylist()
    [1234.5, 1234.0, 0.125, 1.0, None]
    """
    simple = _cast_if_simple(texts, mark)
    if simple is not None:
        return simple
    tidy = _tidy(texts)
    bare = _without_percent(tidy)
    percent = _matches(tidy, "%$")
    numbers = pc.replace_substring(bare, _OTHER[mark], "")
    numbers = pc.replace_substring(numbers, COMMA, POINT)
    numbers = pc.if_else(percent, pc.binary_join_element_wise(numbers, "e-2", ""), numbers)
    right = pc.and_(_matches(bare, _NUMBER[mark]), pc.invert(pc.and_(percent, _matches(bare, "[eE]"))))
    numbers = pc.if_else(right, numbers, pa.scalar(None, numbers.type))
    words = pc.if_else(pc.equal(pc.utf8_lower(texts), "true"), "1", "0").cast(numbers.type)
    return pc.if_else(_is_word(texts), words, numbers).cast(pa.float64())


def _cast_if_simple(texts: pa.Array, mark: str) -> pa.Array | None:
    """The numbers of a column without thousands and percent signs, many times as fast."""
    held = _bytes(texts)
    if _OTHER[mark].encode() in held or b"%" in held or _holds_spaces(held):
        return None
    try:
        return pc.replace_substring(texts, mark, POINT).cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _check_alike(column: Evidence, where: object, asked: str | None) -> None:
    """All cells are of one kind."""
    for one, other, expected in (
        (None if asked else column.point, column.comma, "one mark before the fraction in all cells"),
        (column.percent, column.bare, "per cent in all cells, or in none"),
        (column.word, column.quantity or column.percent, "true and false, or numbers"),
    ):
        if one is not None and other is not None:
            fix = "correct it, or leave the column out: import with --ignore"
            raise GrandPlusError(f"holds {one!r} and {other!r}", where=where, expected=expected, fix=fix)


def _sure(evidence: Evidence) -> list[str]:
    cells = {POINT: evidence.point, COMMA: evidence.comma}
    return [mark for mark, cell in cells.items() if cell is not None]


def _raise_open(cell: str, where: object) -> NoReturn:
    meant = sorted(parsed(pa.array([cell]), mark)[0].as_py() for mark in _OTHER)
    raise GrandPlusError(
        f"holds {cell!r}, which may be {meant[0]:g} or {meant[1]:g}",
        where=where,
        expected="a cell that shows which",
        fix="say which mark begins the fraction: import with --decimal . or --decimal ,",
    )


def _raise_code(cell: str, where: object) -> NoReturn:
    raise GrandPlusError(
        f"holds {cell!r}, which may be a code, a list or a number, as cells of three groups or more are alike",
        where=where,
        expected="numbers whose groups of digits differ",
        fix="leave the column out with --ignore; or, if these are numbers, say --decimal . or --decimal ,",
    )


def _tidy(texts: pa.Array) -> pa.Array:
    """With what means nothing left out: a plus, a long minus, and spaces between thousands."""
    held = _bytes(texts)
    if b"+" in held or _MINUS in held:
        texts = pc.replace_substring_regex(pc.replace_substring_regex(texts, "^\u2212", "-"), r"^\+([0-9.,])", r"\1")
    if _holds_spaces(held):
        spaced = _matches(texts, _SPACED)
        texts = pc.if_else(spaced, pc.replace_substring_regex(texts, _SPACES, ""), texts)
    return texts


def _bytes(texts: pa.Array) -> bytes:
    """All bytes of the array that this one is a part of."""
    data = texts.buffers()[2]
    return b"" if data is None else data.to_pybytes()


def _holds(held: bytes, some: bytes) -> bool:
    """Whether there is one of some bytes; many times as fast as a regular expression."""
    return any(held.find(byte) >= 0 for byte in some)


def _holds_spaces(held: bytes) -> bool:
    return _holds(held, b" '\xc2\xe2")  # or first bytes of those that aren't ASCII


def _has_twice(texts: pa.Array, mark: str, held: bytes) -> bool:
    """Whether a mark is twice in a cell."""
    return mark.encode() in held and (pc.max(pc.count_substring(texts, mark)).as_py() or 0) > 1


def _without_percent(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, _PERCENT, "")


def _matches(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.fill_null(pc.match_substring_regex(texts, pattern), False)


def _is_word(texts: pa.Array) -> pa.Array:
    return _matches(texts, "^(?i:true|false)$")


def _first(texts: pa.Array, mask: pa.Array) -> str | None:
    position = pc.index(mask, True).as_py()
    return None if position < 0 else str(texts[position].as_py())
