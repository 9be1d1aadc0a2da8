"""A copy of this project in a repository of its own, as DVC wants one, with other settings."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ("dvc.lock", "reports")  # of the checkout that is copied


def copy_project(target: Path, params: dict[str, Any]) -> None:
    """Copy what git would commit and commit it there, with ``params`` put into params.yaml."""
    names = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in names:
        if (ROOT / name).is_file() and not name.startswith(RESULTS):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    set_params(target, params)
    _git(target, "init", "--quiet")
    commit(target, "copy")


def set_params(project: Path, params: dict[str, Any]) -> None:
    """Change values of params.yaml; sections are merged."""
    yaml, file = YAML(), project / "params.yaml"
    content = yaml.load(file)
    for key, value in params.items():
        if isinstance(value, dict):
            content[key].update(value)
        else:
            content[key] = value
    yaml.dump(content, file)


def commit(project: Path, message: str) -> None:
    _git(project, "add", "--all")
    _git(project, *_WHO, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", message)


_WHO: Iterable[str] = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout
