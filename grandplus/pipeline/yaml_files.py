"""YAML mappings, read in safe mode."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MantissaNoDotYAML1_1Warning, YAMLError

from grandplus.runtime.errors import GrandPlusError


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a file of a checkout that holds a mapping.

    Parameters
    ----------
    file : Path

    Raises
    ------
    GrandPlusError
        It is missing, no YAML, or no mapping.
    """
    return yaml_mapping(yaml_text(file), file)


def yaml_text(file: Path) -> str:
    """The text of a file of a checkout, with its comments.

    Parameters
    ----------
    file : Path

    Raises
    ------
    GrandPlusError
        It is missing, or not in UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix="run from the top of the checkout") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=file) from None


def yaml_mapping(text: str, where: object) -> dict[str, Any]:
    """Read a mapping.

    Parameters
    ----------
    text : str
    where : object
        What the text is of, for errors.

    Raises
    ------
    GrandPlusError
        It is no YAML, or no mapping.
    """
    try:
        content = YAML(typ="safe", pure=True).load(text)
    # ruamel raises its own errors, and lets others of Python through
    except (YAMLError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=where) from None
    if not isinstance(content, dict):
        raise GrandPlusError(f"holds a {type(content).__name__}", where=where, expected="a mapping")
    return content


def stays_text(word: str) -> bool:
    """Whether YAML reads a word as this very text, in its versions 1.1 and 1.2.

    Parameters
    ----------
    word : str
        Without white space and punctuation that mean something in YAML.

    Examples
    --------
    >>> [word for word in ("cora", "2024", "null", "yes", "1e3", "2024-01-01", "v2") if stays_text(word)]
    ['cora', 'v2']
    """
    return all(_read_by(version, word) == word for version in ((1, 1), (1, 2)))


def _read_by(version: tuple[int, int], word: str) -> object:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MantissaNoDotYAML1_1Warning)  # of 1e3
        return yaml.load(word)
