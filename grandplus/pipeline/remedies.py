"""Which command mends an error of the library: stages of dvc.yaml make the files that it reads, and DVC keeps them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from grandplus.pipeline.dependencies import maker_of
from grandplus.runtime.errors import ArtifactError, GrandPlusError

CACHE = Path(".dvc/cache/files")


def with_remedy(error: GrandPlusError) -> GrandPlusError:
    """The same error; with the command that makes the file anew, if a stage of this checkout has made it.

    Where the file is gone, the command that fetches an earlier one from DVC's cache is told too.

    Parameters
    ----------
    error : GrandPlusError
        Its ``fix`` is added to.

    Returns
    -------
    GrandPlusError
    """
    if isinstance(error, ArtifactError) and isinstance(error.where, str | os.PathLike):
        with contextlib.suppress(GrandPlusError):  # there is no pipeline here
            stage = maker_of(Path(error.where))
            command = f"run dvc repro {stage}" if stage else "run dvc repro"  # as for a folder with several outputs
            # DVC removes what a stage has made before it runs the stage again.
            if stage and CACHE.is_dir() and not Path(error.where).exists():
                command += f", or dvc checkout {stage} for that of the last finished run"
            error.fix = f"{error.fix}, then {command}" if error.fix else command
    return error
