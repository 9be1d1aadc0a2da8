"""Small charts as SVG text: axes, and marks that a page styles and that tell their values when pointed at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from matplotlib.ticker import MaxNLocator

from grandplus.evaluation.labels import share_labels, width_of

LEFT, RIGHT, TOP, BOTTOM = 54, 26, 10, 42  # pixels around the area that is drawn in
LETTER = 6.6  # pixels that a letter of a label takes
SLANT = 40  # degrees that slanted labels rise by
Ticks = Sequence[tuple[float, str]]  # values and their labels


class Chart:
    """A chart with linear axes; what is drawn later lies above.

    Parameters
    ----------
    x, y : tuple of float
        Lowest and highest value.
    x_ticks, y_ticks : sequence of (float, str)
        Where the axes have lines, and the labels of these.
    label : str
        What the chart shows, for screen readers.
    x_title, y_title : str
    width, height, left : int
        Pixels: of the chart, and for labels on its left.
    slanted : bool
        Whether the labels below are slanted, as names have to be.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        x_ticks: Ticks,
        y_ticks: Ticks,
        label: str,
        x_title: str = "",
        y_title: str = "",
        width: int = 440,
        height: int = 280,
        left: int = LEFT,
        slanted: bool = False,
    ) -> None:
        self._x, self._y = x, y
        longest = max((width_of(name) for _, name in x_ticks), default=0)
        self._bottom = BOTTOM + (round(LETTER * longest * math.sin(math.radians(SLANT))) if slanted else 0)
        self._width, self._height, self._left, self._label = width, height, left, label
        right, bottom = width - RIGHT, height - self._bottom
        self._parts: list[str] = []
        for value, name in y_ticks:
            place = self.y(value)
            self._parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{place}" y2="{place}"/>')
            self.text(left - 6, place, name, "tick end")
        for value, name in x_ticks:
            place = self.x(value)
            self._parts.append(f'<line class="grid" x1="{place}" x2="{place}" y1="{TOP}" y2="{bottom}"/>')
            self.text(place, bottom + 14, name, "tick below" if slanted else "tick middle", -SLANT * slanted)
        self.text((left + right) / 2, height - 8, x_title, "title middle")
        self.text(14, (TOP + bottom) / 2, y_title, "title middle", -90)

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return self._place(value, self._x, self._left, self._width - RIGHT)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return self._place(value, self._y, self._height - self._bottom, TOP)

    @staticmethod
    def _place(value: float, limits: tuple[float, float], first: float, last: float) -> float:
        low, high = limits
        return round(first + (last - first) * (value - low) / (high - low), 2)

    def text(self, x: float, y: float, text: str, kind: str, degrees: float = 0) -> None:
        """Text at a place in pixels, turned around it by some degrees."""
        if text:
            turned = f' transform="rotate({degrees:g} {x:g} {y:g})"' if degrees else ""
            self._parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}"{turned}>{escape(text)}</text>')

    def dot(self, x: float, y: float, kind: str, says: str, radius: float = 4) -> None:
        """A mark that tells its value when it is pointed at."""
        circle = f'cx="{self.x(x)}" cy="{self.y(y)}" r="{radius:g}"'
        self._parts.append(f'<circle class="mark {kind}" {circle}><title>{escape(says)}</title></circle>')

    def bar(self, x: tuple[float, float], y: tuple[float, float], kind: str, says: str = "") -> None:
        """A rectangle."""
        left, top = self.x(x[0]), self.y(y[1])
        size = f'width="{self.x(x[1]) - left:.2f}" height="{self.y(y[0]) - top:.2f}"'
        title = f"<title>{escape(says)}</title>" if says else ""
        self._parts.append(f'<rect class="{kind}" x="{left}" y="{top}" {size}>{title}</rect>')

    def line(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A line through points; of one point, nothing."""
        self._parts.append(f'<polyline class="{kind}" points="{self._points(points)}"/>')

    def area(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """The area within a closed line through points."""
        self._parts.append(f'<polygon class="{kind}" points="{self._points(points)}"/>')

    def _points(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)

    def __str__(self) -> str:
        box = f'viewBox="0 0 {self._width} {self._height}"'
        size = f'style="min-width: {0.7 * self._width:g}px; max-width: {1.15 * self._width:g}px"'
        return f'<svg role="img" aria-label="{escape(self._label)}" {box} {size}>{"".join(self._parts)}</svg>'


def ticks(low: float, high: float, most: int = 6) -> Ticks:
    """Choose round numbers within limits.

    Parameters
    ----------
    low, high : float
    most : int
        How many are wanted at most.

    Examples
    --------
    >>> ticks(0.01, 0.064)
    [(0.01, '0.01'), (0.02, '0.02'), (0.03, '0.03'), (0.04, '0.04'), (0.05, '0.05'), (0.06, '0.06')]
    """
    return [(number, f"{number:g}") for number in _round_numbers(low, high, most)]


def share_ticks(low: float, high: float, most: int = 6) -> Ticks:
    """Choose round shares within limits, written in per cent with the decimals that they need.

    Examples
    --------
    >>> share_ticks(0.801, 0.864), share_ticks(0.96, 1.0, 2)
    ([(0.82, '82%'), (0.84, '84%'), (0.86, '86%')], [(0.975, '97.5%'), (1.0, '100.0%')])
    """
    numbers = _round_numbers(low, high, most)
    return list(zip(numbers, share_labels(numbers), strict=True))


def shares_around(values: Iterable[float], least: float) -> tuple[float, float]:
    """Limits with some room around shares, within 0 and 1; see `around`.

    Examples
    --------
    >>> shares_around([0.75, 1.0], 0.25)
    (0.5, 1.0)
    """
    low, high = around(values, least=least)
    return max(low, 0.0), min(high, 1.0)


def around(values: Iterable[float], share: float = 0.08, least: float = 0.01) -> tuple[float, float]:
    """Limits with some room around values.

    Parameters
    ----------
    values : iterable of float
    share : float
        Room on each side, as a share of what the values span.
    least : float
        Room on each side at least.

    Examples
    --------
    >>> around([2.0, 4.0], share=0.5)
    (1.0, 5.0)
    """
    known = list(values)
    low, high = min(known), max(known)
    room = max(share * (high - low), least)
    return low - room, high + room


def _round_numbers(low: float, high: float, most: int) -> list[float]:
    values = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    numbers = (round(float(value), 10) for value in values)
    return [number for number in numbers if low <= number <= high]
