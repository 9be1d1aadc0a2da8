"""Classes with too few nodes: which column they are of, and whether that is a quantity or has dates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from grandplus.datasets.source import Reading
from grandplus.datasets.tables.class_names import WHOLE
from grandplus.datasets.tables.numbers import are_dates
from grandplus.graph.drawing import TooFewNodes

MANY_CLASSES = 20  # numbers of more classes may be a quantity
_SHOWN = 3


@contextmanager
def shortage_names_label(read: Reading, classes: list[str]) -> Iterator[None]:
    """An error of too few nodes in this block names the label column and what it holds.

    Parameters
    ----------
    read : Reading
        Names the column of a table, or the attribute or variable of another file.
    classes : list of str
        Their names.

    Raises
    ------
    TooFewNodes
        As the block does. If the classes may be a quantity or dates, it asks first whether they are classes.
    """
    try:
        yield
    except TooFewNodes as error:
        if read.label is not None:
            error.where = f"label column {read.label}" if read.nodes else f"label {read.label}"
        error.found = f"{len(classes):,} classes ({_described(classes)}), and {error.found}"
        if are_dates(classes) or (len(classes) > MANY_CLASSES and _are_whole(classes)):
            error.fix = f"if it is not the class, choose another with --label; if it is, {error.fix}"
        raise


def _described(classes: list[str]) -> str:
    """What the names of classes are like.

    >>> _described(["18", "85", "20"]), _described(["2024-01-02", "2024-01-01"]), _described(["a", "b", "c", "d"])
    ('whole numbers from 18 to 85', 'dates like 2024-01-02', 'a, b, c, …')
    """
    if _are_whole(classes):
        numbers = list(map(int, classes))
        return f"whole numbers from {min(numbers)} to {max(numbers)}"
    if are_dates(classes):
        return f"dates like {classes[0]}"
    return ", ".join(classes[:_SHOWN]) + ", …" * (len(classes) > _SHOWN)


def _are_whole(classes: list[str]) -> bool:
    return all(map(WHOLE.fullmatch, classes))
