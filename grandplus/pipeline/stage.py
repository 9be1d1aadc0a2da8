"""What every stage does around its work: check settings, report errors in a line, note what it took."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from grandplus.pipeline import usage
from grandplus.pipeline.preflight import refuse_too_large
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.supervision import die_with_dvc

DATA = Path("data")


def run(name: str, work: Callable[[Settings], None]) -> None:
    """Run a stage; ends the process with code 2 and one line where the user has to act."""
    die_with_dvc()
    start, code = time.perf_counter(), 0
    try:
        settings = load_settings()
        refuse_too_large(settings, DATA)
        work(settings)
        usage.note(name, time.perf_counter() - start)
    except GrandPlusError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f"{error.filename}: " if error.filename else ""
        fix = "free some, or set GRANDPLUS_SCRATCH to a folder with more room; finished work is kept"
        print(f"error: {where}{os.strerror(error.errno)}; {fix}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print(f"{name} was interrupted; finished work is kept, so running it again goes on from there", file=sys.stderr)
        code = 130
    sys.stdout.flush()
    sys.stderr.flush()
    # Python's own ending takes a second with torch, in which nothing watches DVC any more, and
    # waits for worker threads.
    os._exit(code)
