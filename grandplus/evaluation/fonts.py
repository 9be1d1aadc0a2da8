"""Fonts of this machine in which names of any script can be drawn by matplotlib."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Sequence

from matplotlib import font_manager, ft2font

USUAL = "DejaVu Sans"  # comes with matplotlib
_PLACEHOLDERS = ("Last Resort",)  # fonts with a box for every character
_SHAPED = range(0x0900, 0x1100), range(0x1780, 0x1800)  # scripts from Devanagari to Myanmar, and Khmer


def drawn_names(names: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """What to write for some classes, and in which fonts.

    Parameters
    ----------
    names : sequence of str
        Of classes, by number.

    Returns
    -------
    labels : list of str
        The names; in place of one that no font has, "class" and its number.
    families : list of str
        Fonts that together have all characters of the labels.
    numbered : bool
        Whether a number stands for a name.

    Examples
    --------
    >>> drawn_names(["good", "a\\tb", "\\U0010fffd"])
    (['good', 'a b', 'class 2'], ['DejaVu Sans'], True)
    """
    clean = [" ".join(name.split()) for name in names]
    families = _families(frozenset().union(*clean)) if clean else [USUAL]
    held = set().union(*map(_characters, families))
    labels = [
        name if set(name) <= held and _can_be_set(name) else f"class {number}" for number, name in enumerate(clean)
    ]
    return labels, families, labels != clean


def _families(letters: Iterable[str]) -> list[str]:
    """The usual font, and as few others as have the letters that it lacks."""
    families, missing = [USUAL], set(letters) - _characters(USUAL)
    while missing:
        best = max(sorted(_files()), key=lambda family: len(missing & _characters(family)), default=USUAL)
        if not missing & _characters(best):
            break
        families.append(best)
        missing -= _characters(best)
    return families


@functools.cache
def _files() -> dict[str, str]:
    """The most usual face of each font, by the font's name."""
    faces = [entry for entry in font_manager.fontManager.ttflist if not entry.name.startswith(_PLACEHOLDERS)]
    faces.sort(key=lambda entry: (entry.style != "normal", abs(_weight(entry.weight) - 400), entry.fname), reverse=True)
    return {entry.name: entry.fname for entry in faces}  # the last of a name stays


def _weight(weight: str | int) -> int:
    return font_manager.weight_dict.get(weight, 400) if isinstance(weight, str) else weight


@functools.cache
def _characters(family: str) -> frozenset[str]:
    """Those that matplotlib can draw in a font; none of a font of coloured bitmaps."""
    try:
        font = font_manager.get_font(_files()[family])
    except (RuntimeError, OSError, LookupError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()


def _can_be_set(name: str) -> bool:
    """Whether matplotlib joins and orders the letters as the script needs it, which version 3.11 does."""
    if hasattr(ft2font, "__libraqm_version__"):
        return True
    plain = all(unicodedata.bidirectional(letter) not in ("R", "AL", "AN") for letter in name)
    return plain and not any(ord(letter) in script for letter in name for script in _SHAPED)
