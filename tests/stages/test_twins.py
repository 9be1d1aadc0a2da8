"""Each synthetic twin at a percent of its size or less, from generation to metrics; and what the pipeline does about
read-only files and full disks, for which they serve too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from project import copy_project

SHORT = {"max_epochs": 15, "warmup": 10}
OUTPUTS = ("data/raw", "data/graph", "data/rows", "data/model", "data/predictions", "reports/plots")


def dvc(project: Path, *command: str, fails: bool = False, before: Iterable[str] = (), **variables: str) -> str:
    """What DVC prints, run by a command that stands ``before`` it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DVC_", "GIT_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*before, sys.executable, "-m", "dvc", *command],
        cwd=project,
        env=environment | {"PATH": path, "GRANDPLUS_DEVICE": "cpu"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, output
    return output


@pytest.mark.parametrize(
    ("name", "scale", "nodes", "classes"),
    [
        ("aminer-cs", 0.01, 5935, 18),
        ("reddit", 0.01, 2330, 41),
        ("amazon2m", 0.004, 9796, 47),
        ("mag-scholar-c", 0.004, 42166, 8),
    ],
)
def test_a_small_twin(tmp_path, name, scale, nodes, classes):
    settings = {"dataset": f"twin-{name}", "matrix": "single", "trials": 1, "train": SHORT}
    copy_project(tmp_path, settings | {"synthetic": {"scale": scale}})
    dvc(tmp_path, "repro", before=like_a_user())
    predictions = pq.read_table(tmp_path / "data/predictions/trial-00000.parquet")
    assert len(predictions) == nodes
    assert predictions["probabilities"].type.list_size == classes
    accuracy = json.loads((tmp_path / "reports/metrics.json").read_text())["test"]["accuracy"]["mean"]
    assert accuracy > 3 / classes  # chance is at most 1.1 / classes, the share of the largest class
    # The workspace has the cache's own files, which can't be written to; of equal ones, the first is.
    made = {file: file.read_bytes() for folder in OUTPUTS for file in (tmp_path / folder).iterdir()}
    shared = {content for file, content in made.items() if file.stat().st_nlink > 1 and not file.stat().st_mode & 0o222}
    assert shared == set(made.values())
    if name == "aminer-cs":  # every stage once more, over read-only outputs
        dvc(tmp_path, "repro", "--force", before=like_a_user())
        assert {file: file.read_bytes() for file in made} == made


def like_a_user() -> list[str]:
    """Root may write to read-only files, so root gives that up."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may write to read-only files, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]


def test_a_full_disk_is_an_error_in_a_line_and_more_room_completes_the_run(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", disk], capture_output=True).returncode:
        pytest.skip("a small file system can't be mounted here")
    try:
        project = tmp_path / "project"
        project.mkdir()
        settings = {"dataset": "twin-aminer-cs", "matrix": "single", "trials": 1, "train": SHORT}
        copy_project(project, settings | {"synthetic": {"scale": 0.005}})
        output = dvc(project, "repro", "gfpush", fails=True, GRANDPLUS_SCRATCH=str(disk))
        assert "No space left on device; free some, or set GRANDPLUS_SCRATCH to a folder with more room" in output
        assert "Traceback" not in output
        subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
        dvc(project, "repro", "gfpush", GRANDPLUS_SCRATCH=str(disk))
    finally:
        subprocess.run(["umount", disk], check=True)
