"""What do large graphs cost, stage by stage? One trial on synthetic twins of the paper's graphs.

    python -m benchmarks.large twin-mag-scholar-c --matrix single avg
    python -m benchmarks.large twin-mag-scholar-c --matrix single avg --scale 0.01 0.03 0.1 0.3
    python -m benchmarks.large --plot

Runs the stages as ``dvc repro`` would, in a folder that is removed afterwards, and adds a line for each stage to
large.csv: seconds, the resident memory of the largest process (files that it maps included), and that of all its
processes together, which is measured ten times a second. The line of evaluate has the accuracy, too, and that of
logistic regression on propagated features: how long a model takes that has learned less than it means nothing. The plot
is drawn from large.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.lines import print_line

FILE, PLOT = Path(__file__).with_suffix(".csv"), Path(__file__).with_suffix(".png")
ONCE, EACH = ("download", "preprocess"), ("gfpush", "baselines", "train", "infer", "evaluate")
SCORES = ("val", "test", "linear_val", "linear_test")
COLUMNS = (
    "dataset", "scale", "nodes", "edges", "matrix", "stage", "seconds", "gib", "gib_together", *SCORES,
)  # fmt: skip
PROJECT = Path(__file__).resolve().parents[1]
CHECKOUT = ("dvc.yaml", "stages", "grandplus", "data/catalog")  # what a stage finds in its folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", nargs="?", help="a synthetic one, like twin-amazon2m")
    parser.add_argument("--matrix", nargs="+", default=["avg"], choices=("ppr", "avg", "single"))
    parser.add_argument("--scale", nargs="+", default=[1.0], type=float, help="of its nodes and edges")
    parser.add_argument("--folder", help="where there is room for it: 20 GB for twin-mag-scholar-c")
    parser.add_argument("--plot", action="store_true", help="draw large.png from large.csv, and measure nothing")
    arguments = parser.parse_args()
    if arguments.plot:
        from benchmarks.large_plot import draw

        print_line(slopes=draw(read(), "twin-mag-scholar-c", "avg", PLOT))
        return
    if arguments.dataset is None:
        parser.error("name a dataset")
    for scale in arguments.scale:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            keep(measure(Path(folder), arguments.dataset, scale, arguments.matrix))


def measure(folder: Path, dataset: str, scale: float, matrices: list[str]) -> list[dict[str, Any]]:
    """A line for each stage; those before gfpush are the same for all matrices, and run once."""
    (folder / "data").mkdir()
    for name in CHECKOUT:
        (folder / name).symlink_to(PROJECT / name)
    lines = []
    for matrix in matrices:
        params = {"dataset": dataset, "model": "grandplus", "matrix": matrix, "seed": 0, "trials": 1}
        params["synthetic"] = {"scale": scale}
        (folder / "params.yaml").write_text(json.dumps(params))  # JSON is YAML
        for stage in (ONCE if matrix == matrices[0] else ()) + EACH:
            line = {"dataset": dataset, "scale": scale, "matrix": matrix if stage in EACH else ""}
            lines.append(line | {"stage": stage} | run(folder, stage) | (scores(folder) if stage == "evaluate" else {}))
            print_line(**lines[-1])
    facts = json.loads((folder / "data/graph/graph.json").read_text())
    return [line | {"nodes": facts["nodes"], "edges": facts["edges"]} for line in lines]


def run(folder: Path, stage: str) -> dict[str, float]:
    """Seconds and memory of a stage."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", f"stages.{stage}"], cwd=folder)
    memory = MemoryWatch(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{stage} failed")
    largest = max(usage.ru_maxrss * 1024, memory.largest)  # the first is exact, but of the process alone
    return {"seconds": seconds, "gib": largest / 2**30, "gib_together": memory.peak() / 2**30}


def scores(folder: Path) -> dict[str, float]:
    """Accuracy on validation and test nodes, beside that of logistic regression on propagated features."""
    metrics = json.loads((folder / "reports/metrics.json").read_text())
    linear = metrics["baselines"]["propagated_logistic_regression"]
    return {
        f"{prefix}{part}": of[part]["accuracy"]["mean"]
        for prefix, of in (("", metrics), ("linear_", linear))
        for part in ("val", "test")
    }


class MemoryWatch:
    """Measures the resident memory of a process and of those that it started, until it ends."""

    def __init__(self, pid: int) -> None:
        self.largest = 0  # of one process
        self._together = 0
        self._thread = threading.Thread(target=self._look, args=(psutil.Process(pid),), daemon=True)
        self._thread.start()

    def peak(self) -> int:
        """The most that all processes held together; waits for the end of the process."""
        self._thread.join()
        return self._together

    def _look(self, process: Any) -> None:
        while True:
            try:
                sizes = [each.memory_info().rss for each in (process, *process.children(recursive=True))]
            except psutil.Error:
                if not process.is_running():
                    return
                continue
            self.largest, self._together = max(self.largest, *sizes), max(self._together, sum(sizes))
            if process.status() == psutil.STATUS_ZOMBIE:
                return
            time.sleep(0.1)


def keep(lines: Iterable[dict[str, Any]]) -> None:
    """Add lines to large.csv in place of older ones of the same cases."""
    key = ("dataset", "scale", "matrix", "stage")
    rows = {tuple(str(row[name]) for name in key): row for row in read()}
    for line in lines:
        rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in line.items()}
        rows[tuple(str(rounded[name]) for name in key)] = rounded
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def read() -> list[dict[str, Any]]:
    if not FILE.exists():
        return []
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
