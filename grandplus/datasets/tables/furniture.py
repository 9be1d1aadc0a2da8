"""What programs print around a table: titles, rulers, how many rows it has, and R's header, which lacks a name."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from grandplus.datasets.tables.names import ends_by_name
from grandplus.runtime.errors import GrandPlusError

_SHOWN = 60  # characters of a line in an error
MIN_RULER = 5  # characters; a lone -- stands for an unknown value
_RULER = re.compile(r"(?=.*(--|==|__|──|══))[-=_─═┼╪┬┴├┤┌┐└┘╞╡+|│:,;*\s]+")
_COUNT = re.compile(r"(--|#)?\s*\(?\d[\d,.]* (rows?|records?|lines?|tuples?)\b[^,;\t|]*\)?\.?", re.IGNORECASE)


def is_ruler(line: str) -> bool:
    """Whether a line is made of dashes, as a ruler below a header is.

    Examples
    --------
    >>> [is_ruler(line) for line in ("-----+-----", "|:---|---:|", "==== ====", "-1,-1", "--")]
    [True, True, True, False, False]
    """
    return len(line.strip()) >= MIN_RULER and bool(_RULER.fullmatch(line))


def is_footer(line: str) -> bool:
    """Whether a line is a ruler, or says how many rows are above it.

    Examples
    --------
    >>> [is_footer(line) for line in ("(12 rows)", "-- 12 rows", "1 row in set (0.00 sec)", "12 rows,5", "12,5")]
    [True, True, True, False, False]
    """
    return is_ruler(line) or bool(_COUNT.fullmatch(line.strip()))


def lines_of_titles(rows: list[list[str]], numbers: list[int]) -> int:
    """How many of the first lines are a title: one cell each, above a line of nothing.

    Parameters
    ----------
    rows : list of lists of str
        The fields of the first lines that aren't empty.
    numbers : list of int
        Their numbers in the file.

    Examples
    --------
    >>> lines_of_titles([["My data"], ["a", "b"], ["1", "2"]], [1, 3, 4])
    1
    >>> lines_of_titles([["My data", ""], ["", ""], ["a", "b"], ["1", "2"]], [1, 2, 3, 4])
    2
    """
    for count, (cells, below) in enumerate(itertools.pairwise(rows), start=1):
        if not any(cells) and len(cells) > 1:
            return count if count > 1 else 0
        if any(cells[1:]) or not (len(cells) == 1 or " " in cells[0]):  # p1, and no label: a node
            return 0
        if numbers[count] > numbers[count - 1] + 1 and any(below[1:]):
            return count
    return 0


def completed_header(lines: list[str], rows: list[list[str]], file: Path) -> list[str]:
    """The fields of a header that is one field shorter than all lines below it.

    R names the rows in a column without a name, and some programs end each line with a mark that separates fields.

    Parameters
    ----------
    lines : list of str
    rows : list of lists of str
        Their fields.
    file : Path
        For errors.

    Returns
    -------
    list of str

    Raises
    ------
    GrandPlusError
        It isn't sure what the name lacks for, or that the line is a header.
    """
    names, *below = rows
    if not any(row[-1] for row in below):
        return [*names, ""]
    first = [row[0] for row in below]
    counts = first == [str(number) for number in range(1, len(first) + 1)]
    quoted = all(line.startswith('"') for line in lines) and len(set(first)) == len(first)
    if quoted and (counts or not ends_by_name(names)):
        return ["", *names]
    found = f"begins with {lines[0][:_SHOWN]!r}, which is one field shorter than the lines below it"
    fix = "take it out if it is a title, or name the first column, too; from R, write the table with row.names = FALSE"
    raise GrandPlusError(found, where=file, expected="a name for each column", fix=fix)
