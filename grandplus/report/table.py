"""Tables of text, and how numbers stand in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows with the same columns, aligned, under a head; columns that are empty everywhere are left out.

    >>> print(table([{"run": "a", "accuracy": "85.1 %", "note": ""}, {"run": "long", "accuracy": "9 %", "note": ""}]))
    run   accuracy
    a     85.1 %
    long  9 %
    """
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    widths = [max(len(column), *(len(row[column]) for row in rows)) for column in columns]
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def percent(share: float) -> str:
    """
    >>> percent(0.85134)
    '85.13 %'
    """
    return f"{100 * share:.2f} %"


def with_interval(scores: Mapping[str, float]) -> str:
    """A mean over trials with the half-width of its 95 % interval, which a single trial has not.

    >>> with_interval({"mean": 0.8513, "std": 0.003433, "ci95": 0.002456})
    '85.13 ± 0.25 %'
    """
    if "ci95" not in scores:
        return percent(scores["mean"])
    return f"{100 * scores['mean']:.2f} ± {100 * scores['ci95']:.2f} %"


def points(difference: float) -> str:
    """A difference of shares.

    >>> points(-0.0079)
    '-0.79'
    """
    return f"{100 * difference:+.2f}"


def value(setting: object) -> str:
    """A setting as ``dvc exp run -S`` takes it.

    >>> value(1e-05), value(True), value(None)
    ('1e-05', 'true', 'null')
    """
    if setting is None or isinstance(setting, bool):
        return {None: "null", True: "true", False: "false"}[setting]
    return str(setting)
