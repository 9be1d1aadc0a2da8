"""How long `grandplus import` takes for large tables, and how much memory: CSV files of random edges and of nodes.

The files are made in the folder for temporary files, about 18 bytes an edge. Prints a JSON line:

    python -m benchmarks.importing
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.lines import print_line

ROOT = Path(__file__).resolve().parents[1]
CLASSES = 5
BLOCK = 10**6  # lines that are written at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--edges", type=int, default=60_000_000)
    parser.add_argument("--nodes", type=int, default=5_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng(0)
        _write(folder / "edges.csv", options.edges, lambda lines, _: _edges(rng, options.nodes, lines))
        _write(folder / "nodes.csv", options.nodes, lambda lines, first: _nodes(rng, lines, first))
        shutil.copy(ROOT / "params.yaml", folder)
        shutil.copy(ROOT / "dvc.yaml", folder)
        (folder / "data/catalog").mkdir(parents=True)
        seconds, memory = _import(folder)
    print_line(benchmark="importing", edges=options.edges, nodes=options.nodes, seconds=seconds, gib=memory / 2**30)


def _write(file: Path, count: int, part: Callable[[int, int], pa.Table]) -> None:
    writer = None
    for first in range(0, count, BLOCK):
        table = part(min(BLOCK, count - first), first)
        writer = writer or pyarrow.csv.CSVWriter(file, table.schema)
        writer.write(table)
    assert writer is not None
    writer.close()


def _edges(rng: np.random.Generator, nodes: int, lines: int) -> pa.Table:
    return pa.table({name: rng.integers(0, nodes, lines) for name in ("source", "target")})


def _nodes(rng: np.random.Generator, lines: int, first: int) -> pa.Table:
    labels = [f"class {label}" for label in rng.integers(0, CLASSES, lines)]
    features = {name: rng.random(lines).round(3) for name in ("x", "y")}
    return pa.table({"id": np.arange(first, first + lines), "label": labels, **features})


def _import(folder: Path) -> tuple[float, int]:
    """Seconds, and the most bytes that the process had in memory."""
    command = [sys.executable, "-m", "grandplus", "import", "random", "edges.csv", "nodes.csv"]
    environment, start = os.environ | {"PYTHONPATH": str(ROOT)}, time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - start, 1024 * usage.ru_maxrss


if __name__ == "__main__":
    main()
