"""The models of an earlier run, from which the trials of a run start: trial i from trial i."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grandplus.pipeline.folders import MODEL, model_file
from grandplus.runtime.environment import from_root
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import remove
from grandplus.runtime.sums import sha256

SETTING = "train.from"


@dataclass(frozen=True)
class Start:
    """Models to start from.

    Attributes
    ----------
    name : str
        Of the run or the folder that has them.
    sums : list of str
        The SHA-256 of the model of each trial.
    files : fsspec.AbstractFileSystem
    folder : str
        Of the models, there.
    """

    name: str
    sums: list[str]
    files: Any
    folder: str

    @contextlib.contextmanager
    def copied(self, into: Path, trials: Sequence[int]) -> Iterator[None]:
        """The models of some trials lie in a folder for the length of a block.

        Parameters
        ----------
        into : Path
            Made, and removed at the end; a killed run may have left it.
        trials : sequence of int

        Raises
        ------
        GrandPlusError
            A model is no longer that which was found.
        """
        remove(into)
        into.mkdir()
        try:
            for trial in trials:
                file = model_file(into, trial)
                self.files.get_file(f"{self.folder}/{file.name}", str(file))
                if sha256(file) != self.sums[trial]:
                    raise GrandPlusError(f"{file.name} of {self.name} has changed", where=SETTING, fix="run again")
            yield
        finally:
            shutil.rmtree(into, ignore_errors=True)  # a worker may be reading there still, after an error


def find_start(name: str, trials: int) -> Start:
    """Find the models of a run, through DVC, so in its cache too; or those in a folder.

    Parameters
    ----------
    name : str
        Of an experiment, a Git revision, or a folder, which goes before the others.
    trials : int
        Of the run that starts from them: so many models are needed.

    Raises
    ------
    GrandPlusError
        There is no such run or folder, it has fewer models, or the run itself writes there.
    """
    folder = from_root(name, SETTING)
    if folder.resolve() == from_root(str(MODEL)).resolve():
        fix = f"name the run whose models they are, or run dvc checkout {MODEL}, and copy the folder"
        raise GrandPlusError(f"is {name}, which the run itself writes", where=SETTING, fix=fix)
    files, top = _folder(folder) if folder.is_dir() else _of_run(name)
    there = {path.rpartition("/")[2] for path in files.ls(top, detail=False)}
    names = [model_file(Path(), trial).name for trial in range(trials)]
    have = next((trial for trial, model in enumerate(names) if model not in there), trials)
    if have < trials:
        fix = f"set trials to {have}" if have else "dvc exp show has the names of runs"
        found = f"{name} has models of {have} trials" if have else f"{name} has no models"
        raise GrandPlusError(found, where=SETTING, expected=f"those of {trials}, one for each trial", fix=fix)
    sums = []
    for model in names:
        with files.open(f"{top}/{model}", "rb") as content:
            sums.append(hashlib.file_digest(content, "sha256").hexdigest())
    return Start(name, sums, files, top)


def _folder(folder: Path) -> tuple[Any, str]:
    from fsspec.implementations.local import LocalFileSystem  # DVC's, so it is there wherever a stage runs

    return LocalFileSystem(), str(folder.absolute())


def _of_run(name: str) -> tuple[Any, str]:
    """The files of a run, and the folder of its models there."""
    from dvc.api import DVCFileSystem  # here, as DVC takes a second
    from dvc.exceptions import DvcException
    from dvc_data.index import DataIndexError

    top, found, fix = MODEL.as_posix(), f"{name} is no folder, and no run", "dvc exp show has the names of runs"
    if ":" in name or not name.isprintable():  # which would name a file within a revision
        raise GrandPlusError(f"{name!r} is no folder, and no run", where=SETTING, fix=fix)
    try:
        files = DVCFileSystem(str(from_root(".")), rev=name)
        files.ls(top)
    except DvcException as error:
        raise GrandPlusError(f"{found}: {error}", where=SETTING, fix=fix) from None
    except (DataIndexError, FileNotFoundError):
        fix = "name a run that finished; if it ran elsewhere, dvc pull"
        raise GrandPlusError(f"the models of {name} are not in DVC's cache here", where=SETTING, fix=fix) from None
    return files, top
