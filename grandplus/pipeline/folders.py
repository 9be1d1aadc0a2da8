"""The folders between stages: made whole, with a SHA256SUMS, which is checked by whoever reads them.

DVC looks at the time and the size of a file, so it does not see a bit that flips on a disk. A file that is found
damaged here is therefore marked as changed: then ``dvc repro`` makes it anew, and drops the copy in its cache, which
is the same file.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grandplus.pipeline.dependencies import Stage, code_of, read_stage
from grandplus.pipeline.settings import Settings
from grandplus.runtime import pools
from grandplus.runtime.digests import remembered
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.storage import key_of, remove_unfinished, scratch
from grandplus.runtime.sums import SUMS, files_below, read_sums, sha256, write_sums

DATA = Path("data")
RAW, GRAPH, ROWS, BASELINES, MODEL, PREDICTIONS = (
    DATA / name for name in ("raw", "graph", "rows", "baselines", "model", "predictions")
)


@contextmanager
def output(stage: str, settings: Settings, *, sums: bool = True, **more: Any) -> Iterator[Path]:
    """A folder to collect the first output of a stage in; it is moved there when the block ends without an error.

    Its inputs are checked before. What a killed run has finished is in the folder, if that run had the same settings,
    inputs and code, as far as the stage depends on them by dvc.yaml.

    Parameters
    ----------
    stage : str
        Its name.
    settings : Settings
    sums : bool
        Whether to list the files with their SHA-256.
    **more
        What else the output depends on, like the device.

    Yields
    ------
    Path

    Raises
    ------
    ArtifactError
        A file of an earlier stage is missing or damaged.
    """
    read = read_stage(stage, settings)
    with scratch(stage, _key(read, settings, more), read.outputs[0]) as folder:
        yield folder
        remove_unfinished(folder)  # left by a cluster's worker that died; another one has done its task
        if sums:
            names = sorted(files_below(folder) - {SUMS})
            digests = pools.map_threads(sha256, [folder / name for name in names])
            write_sums(folder, dict(zip(names, digests, strict=True)))


def checked(folder: Path, *names: str) -> dict[str, str]:
    """Check files of an earlier stage.

    Parameters
    ----------
    folder : Path
        Made by `output`.
    *names : str
        Of the files; with none, all are checked.

    Returns
    -------
    dict of {str: str}
        The SHA-256 of each file, by name.

    Raises
    ------
    ArtifactError
        A file is missing, or is not what the earlier stage wrote.
    """
    sums = listed(folder)
    files = {name: folder / name for name in names or sorted(sums)}
    for name, file in files.items():
        if name not in sums or not file.is_file():
            raise ArtifactError("no such file", where=file)
    for (name, file), digest in zip(files.items(), pools.map_threads(_sha256, files.values()), strict=True):
        if digest != sums[name]:
            _mark(file, folder / SUMS)  # either may be the damaged one
            raise ArtifactError(f"is damaged: its SHA-256 is {digest}", where=file, expected=sums[name])
    return {name: sums[name] for name in files}


def model_file(folder: Path, trial: int) -> Path:
    """The file of a trial's model in the train stage's folder."""
    return folder / f"trial-{trial:05d}.safetensors"


def history_file(folder: Path, trial: int) -> Path:
    """The file of a trial's validations in the train stage's folder."""
    return folder / f"history-{trial:05d}.parquet"


def folder_of_growth(folder: Path, number: int) -> Path:
    """Where the files of what came later lie, counted from 0, in the folder of a dataset's files."""
    return folder / f"grown-{number + 1}"


def _sha256(file: Path) -> str:
    return remembered("sha256", [file], functools.partial(sha256, file))


def _key(stage: Stage, settings: Settings, more: dict[str, Any]) -> str:
    inputs = {str(folder): checked(folder, *names) for folder, names in stage.inputs.items()}
    used = settings.model_dump(include=set(stage.settings))
    return key_of({"settings": used, "inputs": inputs, **more}, code_of(stage.name, settings))


def listed(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of an earlier stage, by name, as its list has it: the files are not read.

    Parameters
    ----------
    folder : Path
        Made by `output`.

    Raises
    ------
    ArtifactError
        There is no list, or it is damaged.
    """
    try:
        sums = read_sums(folder)
    except FileNotFoundError:
        raise ArtifactError("no such file", where=folder / SUMS) from None
    if sums is None:
        _mark(folder / SUMS)
        raise ArtifactError("is damaged", where=folder / SUMS, expected="a SHA-256 and a name for each file beside it")
    return sums


def _mark(*files: Path) -> None:
    """Make DVC look at files, and at the links to them in its cache, which it trusts as long as they are read-only."""
    for file in files:
        with contextlib.suppress(OSError):  # another user's
            file.chmod(0o644)
            os.utime(file)
