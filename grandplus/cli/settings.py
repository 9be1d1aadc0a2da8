"""``grandplus settings``: the values that the next run takes, and where each comes from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grandplus.pipeline.card import PARAMS
from grandplus.pipeline.settings import PLAIN, resolve
from grandplus.pipeline.yaml_files import read_yaml, yaml_mapping
from grandplus.report.table import table, value
from grandplus.runtime.errors import GrandPlusError


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("settings", help="the settings of the next run, and where each comes from")
    parser.add_argument(
        "-S",
        "--set-param",
        dest="changes",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change of params.yaml to try, as dvc exp run takes it; the option may be repeated",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print a line for each setting.

    Raises
    ------
    GrandPlusError
        A setting is unknown or impossible.
    """
    print(settings_table(arguments.changes))


def settings_table(changes: Sequence[str] = (), root: Path | str = ".") -> str:
    """The key, the value and the origin of each setting, as lines of text.

    Parameters
    ----------
    changes : sequence of str
        Changes of params.yaml, like ``train.lr=0.005``.
    root : path
        The top of a checkout.

    Raises
    ------
    GrandPlusError
        A setting is unknown or impossible, or a change is none.
    """
    params = read_yaml(Path(root) / PARAMS)
    for change in changes:
        _apply(params, change)
    resolved = resolve(root, params)
    rows = [
        {"setting": key, "value": value(setting), "from": resolved.origins[key]}
        for key, setting in _flattened(resolved.settings.flat()).items()
        if resolved.settings.needs_rows or not _is_of_rows(key)
    ]
    return table(rows)


def _apply(params: dict[str, Any], change: str) -> None:
    """Put a change like ``train.lr=0.005`` into the content of params.yaml."""
    key, equals, text = change.removeprefix("+").partition("=")  # DVC asks for + before a key that the file lacks
    if not equals:
        raise GrandPlusError(f"-S is {change!r}", expected="KEY=VALUE, like train.lr=0.005")
    section, _, name = key.rpartition(".")
    if section and not isinstance(params.get(section), dict):
        params[section] = {}
    target = params[section] if section else params
    target[name] = yaml_mapping(f"value: {text}", f"-S {change}")["value"]


def _is_of_rows(key: str) -> bool:
    return key == "matrix" or key.startswith("gfpush.")


def _flattened(values: dict[str, Any]) -> dict[str, Any]:
    plain = {key: values[key] for key in PLAIN}
    sections = {key: section for key, section in values.items() if key not in PLAIN}
    return plain | {f"{key}.{name}": setting for key, section in sections.items() for name, setting in section.items()}
