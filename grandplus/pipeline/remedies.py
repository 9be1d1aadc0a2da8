"""Which command mends an error of the library: the stages of dvc.yaml make the files that it reads."""

from __future__ import annotations

import os
from pathlib import Path

from grandplus.pipeline.dependencies import DVC_YAML, maker_of
from grandplus.runtime.errors import ArtifactError, GrandPlusError


def with_remedy(error: GrandPlusError) -> GrandPlusError:
    """The same error; with the command that makes the file anew, if a stage of this checkout has made it.

    Parameters
    ----------
    error : GrandPlusError
        Its ``fix`` is added to.

    Returns
    -------
    GrandPlusError
    """
    if isinstance(error, ArtifactError) and isinstance(error.where, str | os.PathLike) and DVC_YAML.is_file():
        stage = maker_of(Path(error.where))
        command = f"run dvc repro {stage}" if stage else "run dvc repro"
        error.fix = f"{error.fix}, then {command}" if error.fix else command
    return error
