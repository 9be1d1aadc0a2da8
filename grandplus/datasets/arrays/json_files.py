"""Read a JSON file that may be large or damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grandplus.datasets.arrays.memory import check_taken
from grandplus.runtime.errors import GrandPlusError

MEMORY = 12  # times the size of its text, for a list of numbers as Python objects


def read_json_object(file: Path, fix: str = "") -> dict[str, Any]:
    """An object of a JSON file, in which each key stands once.

    Parameters
    ----------
    file : Path
    fix : str
        What to do if it doesn't fit into memory.

    Returns
    -------
    dict

    Raises
    ------
    GrandPlusError
        It is damaged, holds something else, or could exceed the memory at hand.
    """
    check_taken(file.stat().st_size * MEMORY, file, fix)
    content = parsed(file.read_bytes(), file)
    if not isinstance(content, dict):
        raise GrandPlusError(f"holds a {type(content).__name__}", where=file, expected="an object, like {...}")
    return content


def parsed(text: str | bytes, file: Path) -> Any:
    """What JSON holds, in whose objects each key stands once.

    Parameters
    ----------
    text : str or bytes
    file : Path
        For errors.

    Returns
    -------
    object

    Raises
    ------
    GrandPlusError
        It is damaged, or has half of a character, as only JSON can write it.
    """
    try:
        content = json.loads(text, object_pairs_hook=_once)
        escaped = "\\u" in text if isinstance(text, str) else b"\\u" in text
        if escaped:
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise GrandPlusError(f"has half of a character, {half}", where=file, expected="whole text") from None
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is one of them
        raise GrandPlusError(f"is no readable JSON: {error}", where=file) from None
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice!r} stands there twice")
    return content
