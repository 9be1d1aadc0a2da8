"""Verbs and stages under real limits: little memory, folders that may not be written to, files that may not grow."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

FEW = ["--train-per-class", "2", "--val-per-class", "2"]
IMPORT = ["-m", "grandplus", "import", "mine", "edges.csv", "nodes.csv", *FEW]
# A user who may override permissions loses that for the process: to read, to write, and as an owner.
OVERRIDING = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
PR_CAPBSET_DROP = 24
BIG = """
import numpy as np
from pathlib import Path
from grandplus.pipeline.stage import run
from grandplus.runtime.storage import scratch

def work(settings):
    with scratch("graph", "key", Path("data/graph")) as folder:
        np.save(folder / "indices.npy", np.ones(2**33, np.int8))

run("preprocess", work)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Files to import, and an imported card."""
    folder = tmp_path / "checkout"
    (folder / "data/catalog").mkdir(parents=True)
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / "data/catalog/pubmed.yaml", folder / "data/catalog")
    (folder / "data/catalog/mine.yaml").write_text("title: old\n")
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i + 1) % 12}\n" for i in range(12)))
    (folder / "nodes.csv").write_text("id,label,height\n" + "".join(f"{i},{'ab'[i % 2]},{i / 2}\n" for i in range(12)))
    return folder


def refusal(checkout: Path, *arguments: str, limit: tuple[int, int] | None = None, **environment: str) -> str:
    """The one line that a command ends with under a limit of the system."""

    def limited() -> None:
        if limit:
            resource.setrlimit(limit[0], (limit[1], limit[1]))
        if sys.platform == "linux":
            for capability in OVERRIDING:
                ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)

    own = {"PYTHONPATH": str(ROOT), "GRANDPLUS_MIRROR": ""}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=os.environ | own | environment,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


linux = pytest.mark.skipif(sys.platform != "linux", reason="the system does not keep to such a limit")


@linux
@pytest.mark.parametrize("command", [IMPORT, ["-m", "stages.train"]], ids=["verb", "stage"])
def test_memory_that_libraries_do_not_fit_in(checkout, command):
    assert refusal(checkout, *command, limit=(resource.RLIMIT_AS, 400 * 2**20)) == (
        "error: this process may take 400.00 MiB of memory; expected at least 768.00 MiB, which libraries take before "
        "any work; raise the limit (ulimit -v)"
    )


@linux
def test_memory_that_the_work_does_not_fit_in(checkout):
    """The old output of the stage is still there."""
    (checkout / "big.py").write_text(BIG)
    (checkout / "data/graph").mkdir()
    (checkout / "data/graph/indices.npy").write_text("old")
    line = refusal(checkout, "big.py", limit=(resource.RLIMIT_AS, 3 * 2**30))
    assert line.startswith("error: memory is used up: Unable to allocate 8.00 GiB for an array")
    assert line.endswith("or raise the limit (ulimit -v shows it); finished work is kept")
    assert (checkout / "data/graph/indices.npy").read_text() == "old"


@linux
def test_a_catalog_that_may_not_be_written_to(checkout):
    (checkout / "data/catalog").chmod(0o500)
    line = refusal(checkout, *IMPORT, "--replace")
    assert line == (
        "error: data/catalog/mine.yaml.partial: Permission denied; make the file and its folder readable and writable"
    )
    assert (checkout / "data/catalog/mine.yaml").read_text() == "title: old\n"
    assert len(list((checkout / "data/catalog").iterdir())) == 2


@linux
def test_a_cache_that_may_not_be_written_to(checkout):
    cache = checkout.parent / "cache"
    (cache / "kernels").mkdir(parents=True)
    (cache / "kernels").chmod(0o500)
    line = refusal(checkout, *IMPORT, "--replace", GRANDPLUS_CACHE=str(cache))
    assert line.startswith(f"error: {cache}/kernels/")
    assert line.endswith(": Permission denied; set GRANDPLUS_CACHE to a folder that you may write to")


def test_a_card_that_the_disk_has_no_room_for(checkout):
    line = refusal(checkout, *IMPORT, "--replace", limit=(resource.RLIMIT_FSIZE, 200))
    assert line.startswith("error: data/catalog/mine.yaml: File too large; free some, or set GRANDPLUS_SCRATCH")
    assert (checkout / "data/catalog/mine.yaml").read_text() == "title: old\n"
    assert len(list((checkout / "data/catalog").iterdir())) == 2
