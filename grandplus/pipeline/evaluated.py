"""Which run the reports are of: after an interrupted one, they may be of another run than the files beside them.

At its end, evaluation lists its files and what it has read in ``reports/SHA256SUMS``, which ``sha256sum -c`` takes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grandplus.pipeline.folders import BASELINES, GRAPH, MODEL, PREDICTIONS, ROWS
from grandplus.pipeline.settings import load_settings
from grandplus.pipeline.yaml_files import read_yaml
from grandplus.runtime.errors import ArtifactError, GrandPlusError
from grandplus.runtime.sums import SUMS, parse_sums, sha256, write_sums

REPORTS = Path("reports")
SETTINGS = REPORTS / "settings.yaml"  # of the run that the reports are of
FILES = ("settings.yaml", "per_class.json", "details.json", "diagnosis.json", "metrics.json")
READ = (GRAPH, ROWS, BASELINES, MODEL, PREDICTIONS)


def list_reports() -> None:
    """Write ``reports/SHA256SUMS``, when all other files of the reports are there."""
    files = {name: REPORTS / name for name in FILES} | {_name(folder): folder / SUMS for folder in READ}
    write_sums(REPORTS, {name: sha256(file) for name, file in files.items()})


def check_one_run(sums: bytes, contents: Mapping[str, bytes], run: str) -> None:
    """Check that files of a run's reports are of one run.

    Parameters
    ----------
    sums : bytes
        The content of their ``SHA256SUMS``.
    contents : mapping of {str: bytes}
        Of the files, by name.
    run : str
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        The list is damaged, or a file is not that which it lists.
    """
    if fault := _fault(sums, contents):
        raise GrandPlusError(fault, where=f"reports of {run}", fix="run it again")


def check_reports() -> None:
    """The same for the reports in this checkout.

    Raises
    ------
    ArtifactError
        A file is missing, damaged, or of another run than the others.
    """
    for name in (*FILES, SUMS):
        if not (REPORTS / name).exists():  # metrics are in git, so they are there before anything is run
            raise ArtifactError("no such file", where=REPORTS / name)
    contents = {name: (REPORTS / name).read_bytes() for name in FILES}
    if fault := _fault((REPORTS / SUMS).read_bytes(), contents):
        raise ArtifactError(fault, where=REPORTS)


def is_of_reports(folder: Path, root: Path = Path()) -> bool:
    """Whether a folder is of the run that the settings in the reports are of.

    Parameters
    ----------
    folder : Path
        That evaluation has read, from the top of the checkout.
    root : Path
        The top.
    """
    files = {SETTINGS.name: root / SETTINGS, _name(folder): root / folder / SUMS}
    try:
        listed = parse_sums((root / REPORTS / SUMS).read_bytes()) or {}
        return all(sha256(file) == listed.get(name) for name, file in files.items())
    except OSError:
        return False


def remarks() -> list[str]:
    """What lies in this checkout of another run than the reports: a sentence for each kind, none if it is all one run.

    Returns
    -------
    list of str

    Raises
    ------
    GrandPlusError
        See `check_reports`; params.yaml, its card or the settings of the reports can't be read.
    """
    check_reports()
    listed = parse_sums((REPORTS / SUMS).read_bytes()) or {}
    missing = [folder for folder in READ if not (folder / SUMS).exists()]
    other = [folder for folder in READ if folder not in missing and sha256(folder / SUMS) != listed.get(_name(folder))]
    found = [f"{folder} is missing" for folder in missing] + [f"{folder} is of another run" for folder in other]
    before, now = _flat(read_yaml(SETTINGS)), _flat(load_settings().flat())
    changed = [f"{key}={now[key]}" for key in now if key in before and before[key] != now[key]]
    sentences = []
    if found:
        sentences.append(f"the results are of an earlier run: {', '.join(found)}; run dvc repro")
    if changed:
        sentences.append(f"params.yaml has other settings now: {' '.join(changed)}; run dvc repro to get their results")
    return sentences


def _fault(sums: bytes, contents: Mapping[str, bytes]) -> str:
    listed = parse_sums(sums)
    if listed is None:
        return f"{SUMS} is damaged"
    other = [name for name, content in contents.items() if hashlib.sha256(content).hexdigest() != listed.get(name)]
    return f"{other[0]} is of another run than the other files" if other else ""


def _name(folder: Path) -> str:
    """Of a folder's list, as seen from the reports."""
    return f"../{folder.as_posix()}/{SUMS}"


def _flat(settings: Mapping[str, Any]) -> dict[str, str]:
    """Keys with dots, and values as JSON, which has no tuples."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": json.dumps(each) for name, each in value.items()}
        else:
            flat[key] = value if isinstance(value, str) else json.dumps(value)
    return flat
