"""Tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Align rows with the same columns under a head; columns that are empty everywhere are left out.

    Parameters
    ----------
    rows : sequence of mapping
        Cells by the heads of their columns; at least one row.

    Examples
    --------
    >>> print(table([{"run": "a", "accuracy": "85.1 %", "note": ""}, {"run": "long", "accuracy": "9 %", "note": ""}]))
    run   accuracy
    a     85.1 %
    long  9 %
    """
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    widths = [max(len(column), *(len(row[column]) for row in rows)) for column in columns]
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def value(setting: object) -> str:
    """Write a setting as ``dvc exp run -S`` takes it.

    Examples
    --------
    >>> value(1e-05), value(True), value(None)
    ('1e-05', 'true', 'null')
    """
    if setting is None or isinstance(setting, bool):
        return {None: "null", True: "true", False: "false"}[setting]
    return str(setting)
