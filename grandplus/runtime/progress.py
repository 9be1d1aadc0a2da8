"""How far long work has come: a bar on a terminal; in a log file, a line every half minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")
SECONDS_BETWEEN_LOOKS = 2.0  # at which a bar is drawn anew, or a line if it is due
SECONDS_BETWEEN_LINES = 30.0
WITHOUT_REMAINING = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"  # tqdm's bar, but for that


def progress(items: Iterable[Item], name: str, total: int, unit: str, *, done: int = 0) -> Iterator[Item]:
    """Give the items one by one, and tell how many there were so far.

    Parameters
    ----------
    items : iterable
    name : str
        Of the work.
    total : int
        How many there are.
    unit : str
        What each of them is, like ``"trial"``.
    done : int
        Units that an earlier run has finished.

    Yields
    ------
    The items.
    """
    with Progress(name, total, unit, done=done) as bar:
        for item in items:
            yield item
            bar.update()


class Progress:
    """Tells the progress of work until the block ends, also while a unit takes long.

    Parameters
    ----------
    name : str
        Of the work.
    total : int or None
        Units that it has; None if that isn't known.
    unit : str
        What a unit is, like ``"trial"``.
    done : int
        Units that an earlier run has finished.
    scaled : bool
        Units are so small that they are counted in thousands and millions.
    note : callable, optional
        Called every few seconds; the text that it returns stands behind the rest.
    remaining : bool
        Whether to tell the time that is left, by the units that are finished. False if the note tells it better.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        unit: str,
        *,
        done: int = 0,
        scaled: bool = False,
        note: Callable[[], str] | None = None,
        remaining: bool = True,
    ) -> None:
        self._name, self._total, self._unit, self._scaled, self._note = name, total, unit, scaled, note
        self._remaining = remaining
        self._before = self._done = done
        self._terminal = sys.stderr.isatty()
        self._ended = threading.Event()

    def __enter__(self) -> Progress:
        self._bar = tqdm(
            desc=self._name,
            initial=self._done,
            total=self._total,
            unit=self._unit,
            unit_scale=self._scaled,
            disable=not self._terminal,
            bar_format=None if self._remaining else WITHOUT_REMAINING,
        )
        self._start = self._told = time.monotonic()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()
        return self

    def update(self, units: int = 1) -> None:
        """Count units that are finished.

        Parameters
        ----------
        units : int
        """
        self._done += units
        self._bar.update(units)

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._bar.close()

    def _tell(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            note = self._note() if self._note else ""
            now = time.monotonic()
            if self._terminal:
                self._bar.set_postfix_str(note)
            elif now - self._told >= SECONDS_BETWEEN_LINES:
                self._told = now
                counts = self._before, self._done, self._total
                options = {"scaled": self._scaled, "remaining": self._remaining}
                text = line(self._name, self._unit, *counts, now - self._start, **options)
                print("; ".join(filter(None, [text, note])), file=sys.stderr, flush=True)


class Silent:
    """In place of `Progress` where none is to be shown."""

    def __enter__(self) -> Silent:
        return self

    def update(self, units: int = 1) -> None:
        """Count nothing.

        Parameters
        ----------
        units : int
        """

    def __exit__(self, *_: object) -> None: ...


def line(
    name: str,
    unit: str,
    before: int,
    done: int,
    total: int | None,
    seconds: float,
    *,
    scaled: bool = False,
    remaining: bool = True,
) -> str:
    """What a log file is told.

    Parameters
    ----------
    name, unit : str
    before, done : int
        Units that were finished when the work began, and that are finished now.
    total : int or None
    seconds : float
        Since the work began.
    scaled, remaining : bool

    Returns
    -------
    str

    Examples
    --------
    >>> line("train", "trial", 2, 5, 10, 90)
    'train: 5 of 10 trials after 01:30, 30.0 s a trial, 02:30 left'
    >>> line("features", "B", 0, 3_000_000, 12_000_000, 2, scaled=True)
    'features: 3.00M of 12.0M B after 00:02, 1.50M B a second, 00:06 left'
    >>> line("infer", "trial", 0, 0, 1, 3700)
    'infer: 0 of 1 trials after 1:01:40'
    """
    size = tqdm.format_sizeof if scaled else "{:,}".format
    units = unit if scaled else f"{unit}s"
    parts = [
        f"{name}: {size(done)}{f' of {size(total)}' if total else ''} {units} after {tqdm.format_interval(seconds)}"
    ]
    made = done - before
    if made:
        rate = made / seconds
        slow = f"{1 / rate:.1f} s a {unit}"
        parts.append(slow if rate < 1 else f"{size(rate) if scaled else f'{rate:.1f}'} {units} a second")
    if made and total and remaining:
        parts.append(f"{tqdm.format_interval((total - done) / rate)} left")
    return ", ".join(parts)
