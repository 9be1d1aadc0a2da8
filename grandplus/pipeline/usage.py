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

STAGES = ("download", "preprocess", "gfpush", "baselines", "train", "infer", "evaluate")  # in dvc.yaml's order
LAST = Path("reports/resources.json")
EXPERIMENTS = Path(".grandplus/resources")  # of the main checkout


class Taken(TypedDict):
    """By one stage: wall-clock seconds, and the most memory that one of its processes had (MiB, resident)."""

    seconds: float
    memory: int


def note(stage: str, seconds: float) -> None:
    """Note what this process and its worker processes took for the work of a stage.

    Parameters
    ----------
    stage : str
    seconds : float
        Wall-clock time.

    Raises
    ------
    GrandPlusError
        The file of earlier notes is damaged.
    """
    taken: Taken = {"seconds": round(seconds, 2), "memory": _peak()}
    add(LAST, stage, taken)
    name = os.environ.get("DVC_EXP_NAME")  # DVC sets it and the other two for an experiment
    if name:
        root = Path(os.environ.get("DVC_ROOT") or ".")
        add(root / of_experiment(os.environ.get("DVC_EXP_BASELINE_REV", ""), name), stage, taken)


def of_experiment(baseline: str, name: str) -> Path:
    """The file of an experiment, from the top of the main checkout.

    Parameters
    ----------
    baseline : str
        The commit that it started from.
    name : str
    """
    return EXPERIMENTS / f"{baseline[:12]}-{name}.json"


def read(file: Path) -> dict[str, Taken]:
    """What was noted, by stage.

    Parameters
    ----------
    file : Path
        It may be missing: then all results came from the cache, and nothing ran here.

    Raises
    ------
    GrandPlusError
        The file is damaged.
    """
    try:
        by_stage: dict[str, Taken] | None = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        by_stage = None
    if not isinstance(by_stage, dict) or not all(isinstance(taken, dict) for taken in by_stage.values()):
        raise GrandPlusError("is damaged", where=file, expected="what stages took", fix="delete it")
    return by_stage


def add(file: Path, stage: str, taken: Taken) -> None:
    """Note in a file what a stage took, in place of an earlier run of it.

    Parameters
    ----------
    file : Path
        It may hold other stages.
    stage : str
    taken : Taken

    Raises
    ------
    GrandPlusError
        The file is damaged.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file.with_suffix(".lock"), quiet=True), finished_whole(file, alone=True) as partial:
        partial.write_text(json.dumps(read(file) | {stage: taken}, indent=2) + "\n", encoding="utf-8")


def _peak() -> int:
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // unit
