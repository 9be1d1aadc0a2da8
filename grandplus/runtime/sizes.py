"""How numbers of bytes are written."""

from __future__ import annotations

UNITS = ("KiB", "MiB", "GiB", "TiB")


def size_text(size: float) -> str:
    """A number of bytes, in the largest unit of which there is at least one.

    Parameters
    ----------
    size : float

    Examples
    --------
    >>> size_text(1000), size_text(1536), size_text(3 * 2**28), size_text(2**40)
    ('1,000 bytes', '1.50 KiB', '768.00 MiB', '1.00 TiB')
    """
    power = min(max(int(size), 1).bit_length() // 10, len(UNITS))
    power -= power > 0 and size < 2 ** (10 * power)
    return f"{size / 2 ** (10 * power):,.2f} {UNITS[power - 1]}" if power else f"{size:,.0f} bytes"


def counted(count: int, one: str, many: str) -> str:
    """A number, and what there is of that number.

    Examples
    --------
    >>> counted(1, "edge", "edges"), counted(1200, "edge", "edges")
    ('1 edge', '1,200 edges')
    """
    return f"{count:,} {one if count == 1 else many}"
