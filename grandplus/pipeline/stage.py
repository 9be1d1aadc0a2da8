"""What every stage does around its work: check settings, report errors in a line, note what it took."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from grandplus.pipeline import usage
from grandplus.pipeline.ending import KEPT, ending
from grandplus.pipeline.folders import DATA
from grandplus.pipeline.git_identity import identity_note
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.runtime.supervision import end_with_starter


def run(name: str, work: Callable[[Settings], None]) -> None:
    """Run a stage, and end this process: with code 2 and one line where the user has to act.

    Parameters
    ----------
    name : str
        As in dvc.yaml.
    work : callable
        Gets the settings, all of which are checked before.
    """
    _follow_dvc()
    code = ending(lambda: _checked_and_measured(name, work), f"{name} was {KEPT}")
    sys.stdout.flush()
    sys.stderr.flush()
    # Python's own ending takes a second with torch and waits for worker threads; DVC is not watched during it.
    os._exit(code)


def _checked_and_measured(name: str, work: Callable[[Settings], None]) -> None:
    start = time.perf_counter()
    settings = load_settings()
    check_resources(settings, DATA)
    work(settings)
    usage.note(name, time.perf_counter() - start)
    if name == usage.STAGES[-1] and "DVC_EXP_NAME" in os.environ and (note := identity_note()):
        print(note, file=sys.stderr)


def _follow_dvc() -> None:
    """Do as DVC has it for its stages.

    A stage ends with a DVC that is killed, or it would write beside the next one; one that is started by hand has no
    such tie. ``DVC_ROOT`` is the checkout that an experiment was started from, so unfinished work lies there.
    """
    if "DVC_STAGE" in os.environ:
        end_with_starter()
    if root := os.environ.get("DVC_ROOT"):
        os.environ.setdefault("GRANDPLUS_ROOT", root)
