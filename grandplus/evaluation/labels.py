"""Labels on axes: shares with the decimals that they need, and names of classes that fit."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

MAX_WIDTH = 22  # of a name, in letters of usual width
MAX_DECIMALS = 4


def share_labels(shares: Sequence[float]) -> list[str]:
    """Shares in per cent, all with as many decimals as the one that needs most.

    Examples
    --------
    >>> share_labels([0.95, 0.975, 1.0]), share_labels([0.5, 1])
    (['95.0%', '97.5%', '100.0%'], ['50%', '100%'])
    """
    needed = (
        decimals
        for decimals in range(MAX_DECIMALS)
        if all(abs(round(100 * share, decimals) - 100 * share) < 10 ** -(MAX_DECIMALS + 1) for share in shares)
    )
    decimals = next(needed, MAX_DECIMALS)
    return [f"{100 * share:.{decimals}f}%" for share in shares]


def short_names(names: Sequence[str], width: int = MAX_WIDTH) -> list[str]:
    """Names with what is too long left out in the middle, so that their ends still tell them apart.

    Parameters
    ----------
    names : sequence of str
    width : int
        Letters at most; a wide one, as of Chinese, counts as two.

    Returns
    -------
    list of str
        Names that became equal end with their number.

    Examples
    --------
    >>> short_names(["Theory", "Neural_Networks_of_many_layers", "Neural_Networks_recurrent"])
    ['Theory', 'Neural_Network…_layers', 'Neural_Network…current']
    """
    short = [_shortened(name, width) for name in names]
    counts = Counter(short)
    return [f"{text} {number}" if counts[text] > 1 else text for number, text in enumerate(short)]


def width_of(text: str) -> int:
    """How many letters of usual width a text is as wide as.

    Examples
    --------
    >>> width_of("ab"), width_of("漢字"), width_of("e\\u0301")
    (2, 4, 1)
    """
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _shortened(name: str, width: int) -> str:
    if width_of(name) <= width:
        return name
    end = (width - 1) // 3
    return _first(name, width - 1 - end) + "…" + _first(name[::-1], end)[::-1]


def _first(text: str, width: int) -> str:
    """The letters from the start that are together at most so wide."""
    taken = 0
    for count, letter in enumerate(text):
        taken += _width(letter)
        if taken > width:
            return text[:count]
    return text
