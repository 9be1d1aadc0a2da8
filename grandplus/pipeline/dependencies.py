"""What a stage depends on, by dvc.yaml: settings, files of earlier stages, and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grandplus.pipeline.settings import Settings
from grandplus.pipeline.yaml_files import read_yaml
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import digest_of_code

DVC_YAML = Path("dvc.yaml")
CHECKOUT = Path(__file__).resolve().parents[2]  # whose code runs
_TEMPLATE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Stage:
    """A stage of dvc.yaml.

    Attributes
    ----------
    name : str
    settings : tuple of str
        The attributes of `Settings` that it reads, from params.yaml or from the card.
    inputs : dict of {Path: tuple of str}
        The folders of earlier stages that it reads, each with the names of the files; with no name, all of them.
    code : tuple of Path
        Files and folders, from the top of the checkout.
    outputs : tuple of Path
    """

    name: str
    settings: tuple[str, ...]
    inputs: dict[Path, tuple[str, ...]]
    code: tuple[Path, ...]
    outputs: tuple[Path, ...]


def read_stage(name: str, settings: Settings) -> Stage:
    """A stage of dvc.yaml, with the values of settings in place of ``${model}`` and the like.

    Parameters
    ----------
    name : str
    settings : Settings

    Raises
    ------
    GrandPlusError
        There is no dvc.yaml that can be read.
    """
    stages = _stages(CHECKOUT)
    folders = [folder for stage in stages.values() for folder in _outputs(stage)]
    values = settings.flat()
    inputs: dict[Path, tuple[str, ...]] = {}
    code = []
    for text in stages[name].get("deps", []):
        path = Path(_TEMPLATE.sub(lambda match: str(values[match[1]]), text))
        if path in folders:
            inputs[path] = ()
        elif path.parent in folders:
            inputs[path.parent] = (*inputs.get(path.parent, ()), path.name)
        else:
            code.append(path)
    return Stage(name, tuple(_settings(stages[name])), inputs, tuple(code), tuple(_outputs(stages[name])))


def code_of(name: str, settings: Settings) -> str:
    """A digest of the code that a stage depends on.

    Parameters
    ----------
    name : str
        Of the stage.
    settings : Settings

    Raises
    ------
    GrandPlusError
        There is no dvc.yaml that can be read.
    """
    return digest_of_code(CHECKOUT / path for path in read_stage(name, settings).code)


def maker_of(path: Path) -> str | None:
    """The stage that makes a file or a folder, by the dvc.yaml of the current folder; None if none does.

    Parameters
    ----------
    path : Path

    Raises
    ------
    GrandPlusError
        There is no dvc.yaml that can be read.
    """
    for name, stage in _stages(Path()).items():
        if any(path.absolute().is_relative_to(output.absolute()) for output in _outputs(stage)):
            return str(name)
    return None


def _stages(top: Path) -> dict[str, Any]:
    stages = read_yaml(top / DVC_YAML).get("stages")
    if not isinstance(stages, dict):
        raise GrandPlusError("has no stages", where=top / DVC_YAML)
    return stages


def _settings(stage: dict[str, Any]) -> Iterator[str]:
    """Keys of params.yaml, and those of the card: each is the name of a section or value of the settings."""
    for entry in stage.get("params", []):
        if isinstance(entry, str):
            yield entry
        else:
            yield from (key for keys in entry.values() for key in keys)


def _outputs(stage: dict[str, Any]) -> Iterator[Path]:
    for entry in [*stage.get("outs", []), *stage.get("metrics", [])]:
        yield Path(entry if isinstance(entry, str) else next(iter(entry)))
