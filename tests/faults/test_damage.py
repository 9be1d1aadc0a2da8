"""A file between stages that is damaged where DVC does not look: a clear error, and a rerun that makes it anew.

A few by default, all with GRANDPLUS_KILLS.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Note, Workspace

from grandplus.propagation.rows import Rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def truncate(file: Path) -> None:
    with file.open("r+b") as content:
        content.truncate(file.stat().st_size // 2)


def flip_a_bit(file: Path) -> None:
    with file.open("r+b") as content:
        content.seek(file.stat().st_size // 3)
        (byte,) = content.read(1)
        content.seek(-1, os.SEEK_CUR)
        content.write(bytes([byte ^ 1]))


def of_another_graph(file: Path) -> None:
    """A sound shard, but made from other edges."""
    rows = Rows.load(file.parent)
    other = dataclasses.replace(rows, info=dataclasses.replace(rows.info, graph="0" * 64))
    other.write_shard(file.with_suffix(".other"))
    file.write_bytes(file.with_suffix(".other").read_bytes())  # into the same file, which is the cache's too
    file.with_suffix(".other").unlink()


SHARD = "data/rows/rows-00000-of-00001.parquet"
CASES = [
    ("train", SHARD, flip_a_bit),
    ("train", SHARD, truncate),
    ("train", SHARD, of_another_graph),
    ("infer", "data/model/trial-00001.safetensors", flip_a_bit),
    ("preprocess", "data/raw/files.json", truncate),
    ("gfpush", "data/graph/indices.npy", flip_a_bit),
    ("train", "data/graph/features.data.npy", flip_a_bit),
    ("infer", "data/graph/SHA256SUMS", truncate),
    ("infer", "data/model/SHA256SUMS", flip_a_bit),
    ("evaluate", "data/predictions/trial-00002.parquet", truncate),
]


@pytest.mark.parametrize(("stage", "file", "damage"), CASES if os.environ.get("GRANDPLUS_KILLS") else CASES[:4:3])
def test_damage_is_told_and_mended(
    workspace: Workspace, note: Note, stage: str, file: str, damage: Callable[[Path], None]
) -> None:
    problems = workspace.damage_and_rerun(stage, file, damage)
    note("", stage, "", damage.__name__, file, problems, workspace.digest())
    assert not problems, "\n".join(problems)


def test_two_runs_at_once(workspace: Workspace, note: Note) -> None:
    problems = workspace.run_two_at_once()
    note("", "all", "", "two runs at once", "dvc repro", problems, workspace.digest())
    assert not problems, "\n".join(problems)
