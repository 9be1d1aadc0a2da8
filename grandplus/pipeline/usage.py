"""What each stage took on this machine: kept apart from the metrics, as it is what differs between equal runs.

``reports/resources.json`` has the last run of each stage in this checkout. What ran for an experiment is noted
once more under its name, in the main checkout, wherever it ran.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import TypedDict

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole, locked

STAGES = ("download", "preprocess", "gfpush", "train", "infer", "evaluate")  # in the order in which they run
LAST = Path("reports/resources.json")
EXPERIMENTS = Path(".grandplus/resources")  # of the main checkout


class Taken(TypedDict):
    """By one stage: wall-clock seconds, and the most memory that one of its processes had (MiB, resident)."""

    seconds: float
    memory: int


def note(stage: str, seconds: float) -> None:
    """Note what this process took, with its worker processes, to do a stage's work."""
    taken: Taken = {"seconds": round(seconds, 2), "memory": _peak()}
    add(LAST, stage, taken)
    name = os.environ.get("DVC_EXP_NAME")  # set by DVC, like the other two
    if name:
        root = Path(os.environ.get("DVC_ROOT") or ".")
        add(root / of_experiment(os.environ.get("DVC_EXP_BASELINE_REV", ""), name), stage, taken)


def of_experiment(baseline: str, name: str) -> Path:
    """The file of an experiment, by the commit that it started from and its name."""
    return EXPERIMENTS / f"{baseline[:12]}-{name}.json"


def read(file: Path) -> dict[str, Taken]:
    """What was noted, by stage; nothing where nothing ran here, as all came from the cache.

    Raises
    ------
    GrandPlusError : the file is damaged.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        found: dict[str, Taken] | None = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(of, dict) for of in found.values()):
        raise GrandPlusError("is damaged", where=file, expected="what stages took", fix="delete it")
    return found


def add(file: Path, stage: str, taken: Taken) -> None:
    """Note it in a file, beside other stages and in place of an earlier run of this one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file.with_suffix(".lock"), quiet=True), finished_whole(file, alone=True) as partial:
        partial.write_text(json.dumps(read(file) | {stage: taken}, indent=2) + "\n", encoding="utf-8")


def _peak() -> int:
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // unit
