"""YAML mappings, read in safe mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from grandplus.runtime.errors import GrandPlusError


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML mapping, in safe mode."""
    try:
        return yaml_mapping(file.read_text(encoding="utf-8"), file)
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix="run from the top of the checkout") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=file) from None


def yaml_mapping(text: str, where: object) -> dict[str, Any]:
    try:
        content = YAML(typ="safe", pure=True).load(text)
    # ruamel's own, and what slips past it
    except (YAMLError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=where) from None
    if not isinstance(content, dict):
        raise GrandPlusError(f"holds a {type(content).__name__}", where=where, expected="a mapping")
    return content
