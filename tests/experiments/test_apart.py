"""Work in a process of its own: limits hold, and what ends by one says so."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from processes import is_alive, wait_for

from experiments.compared.apart import peak_memory, run_apart
from grandplus.runtime.errors import GrandPlusError, MemoryShortageError


def work(what: str, tell) -> None:
    """What a process may come to."""
    tell({"began": what})
    if what == "waits":
        time.sleep(60)
    elif what == "refused":
        raise MemoryShortageError("it is too large", fix="choose less")
    elif what == "impossible":
        raise GrandPlusError("its settings are wrong", fix="choose others")
    elif what == "fills the disk":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "rows")
    elif what == "fills memory":
        np.ones(2**28)
    elif what == "killed":
        os._exit(9)
    filled = np.ones(2**24)
    tell({"limit": os.environ.get("GRANDPLUS_MEMORY"), "filled": filled.nbytes})


@pytest.mark.parametrize(
    ("what", "ended"),
    [
        ("works", ""),
        ("waits", "not done after 0.5 seconds"),
        ("refused", "refused: it is too large"),
        ("fills memory", "failed: memory is used up"),
    ],
)
def test_every_end_by_a_limit_is_told(what, ended):
    outcome = run_apart(work, what, seconds=0.5 if what == "waits" else 60, memory=2**31)
    assert outcome.told["began"] == what
    assert outcome.ended.startswith(ended)
    assert bool(outcome.ended) == bool(ended)
    assert 2**25 < outcome.memory < 2**31
    if not ended:
        assert outcome.memory > outcome.told["filled"] == 2**27
        assert outcome.told["limit"] == str(2**31 * 7 // 8)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("impossible", "its settings are wrong; choose others"),
        ("fills the disk", "rows: No space left on device; free some"),
        ("killed", "work: the process for it ended without a word"),
    ],
)
def test_what_tells_nothing_of_the_work_is_an_error(what, message):
    with pytest.raises(GrandPlusError, match=message):
        run_apart(work, what, seconds=60, memory=2**31)


def test_a_process_that_has_ended_is_not_measured_as_this_one():
    process = subprocess.Popen([sys.executable, "-c", ""])
    wait_for(lambda: not is_alive(process.pid), "its end")  # it is there still, as nobody has asked for its end
    assert peak_memory(process.pid) == 0
    process.wait()
    assert peak_memory(process.pid) == 0
    assert peak_memory() == peak_memory(os.getpid()) > 2**24
