"""Small charts as SVG text: axes, and marks that a page can style and a reader can point at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from matplotlib.ticker import MaxNLocator

LEFT, RIGHT, TOP, BOTTOM = 54, 20, 10, 42  # pixels around the area that is drawn in
Ticks = Sequence[tuple[float, str]]  # where, and what stands there


class Chart:
    """A chart with linear axes; what is drawn later lies above.

    Parameters
    ----------
    x, y : lowest and highest value
    x_ticks, y_ticks : where the axes have lines and labels
    label : what it shows, for readers that don't see it
    left : pixels for labels on the left
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
    ) -> None:
        self._x, self._y = x, y
        self._width, self._height, self._left, self._label = width, height, left, label
        right, bottom = width - RIGHT, height - BOTTOM
        self._parts: list[str] = []
        for at, name in y_ticks:
            self._parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{self.y(at)}" y2="{self.y(at)}"/>')
            self.text(left - 6, self.y(at), name, "tick end")
        for at, name in x_ticks:
            self._parts.append(f'<line class="grid" x1="{self.x(at)}" x2="{self.x(at)}" y1="{TOP}" y2="{bottom}"/>')
            self.text(self.x(at), bottom + 14, name, "tick middle")
        self.text((left + right) / 2, height - 8, x_title, "title middle")
        if y_title:
            middle = (TOP + bottom) / 2
            turned = f'transform="rotate(-90 12 {middle:g})"'
            self._parts.append(f'<text class="title middle" x="12" y="{middle:g}" {turned}>{escape(y_title)}</text>')

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return self._place(value, self._x, self._left, self._width - RIGHT)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return self._place(value, self._y, self._height - BOTTOM, TOP)

    @staticmethod
    def _place(value: float, of: tuple[float, float], first: float, last: float) -> float:
        return round(first + (last - first) * (value - of[0]) / (of[1] - of[0]), 2)

    def text(self, x: float, y: float, text: str, kind: str) -> None:
        """Text at a place in pixels."""
        if text:
            self._parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def dot(self, x: float, y: float, kind: str, says: str, radius: float = 4) -> None:
        """A mark that tells its value when it is pointed at."""
        at = f'cx="{self.x(x)}" cy="{self.y(y)}" r="{radius:g}"'
        self._parts.append(f'<circle class="mark {kind}" {at}><title>{escape(says)}</title></circle>')

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
        """What a closed line through points holds."""
        self._parts.append(f'<polygon class="{kind}" points="{self._points(points)}"/>')

    def _points(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)

    def __str__(self) -> str:
        box = f'viewBox="0 0 {self._width} {self._height}"'
        size = f'style="min-width: {0.7 * self._width:g}px; max-width: {1.15 * self._width:g}px"'
        return f'<svg role="img" aria-label="{escape(self._label)}" {box} {size}>{"".join(self._parts)}</svg>'


def ticks(low: float, high: float, name: Callable[[float], str], most: int = 6) -> list[tuple[float, str]]:
    """At round numbers, within the limits.

    >>> ticks(0.801, 0.864, "{:.0%}".format)
    [(0.82, '82%'), (0.84, '84%'), (0.86, '86%')]
    """
    found = [round(float(at), 10) for at in MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)]
    return [(at, name(at)) for at in found if low <= at <= high]


def shares_around(values: Iterable[float], least: float) -> tuple[float, float]:
    """The same of shares, which end at 0 and 1.

    >>> shares_around([0.75, 1.0], 0.25)
    (0.5, 1.0)
    """
    low, high = around(values, least=least)
    return max(low, 0.0), min(high, 1.0)


def around(values: Iterable[float], share: float = 0.08, least: float = 0.01) -> tuple[float, float]:
    """Limits with some room around values.

    >>> around([2.0, 4.0], share=0.5)
    (1.0, 5.0)
    """
    known = list(values)
    low, high = min(known), max(known)
    room = max(share * (high - low), least)
    return low - room, high + room
