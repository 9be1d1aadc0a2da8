"""Where the seconds of a run go that has little to compute: DVC, starting Python, imports, and our work.

In a clone of the checkout, on Cora: a ``dvc repro`` that has nothing to do, an experiment that changes ``train.lr``
alone, and six queued ones. A script starts every stage and notes its seconds, and its imports by ``-X importtime``;
what worker processes import at the same time counts once. The rest of the whole is DVC's. Prints a JSON line each:

    python -m benchmarks.pipeline
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.lines import print_line

RATES = ("0.02", "0.019", "0.018", "0.017", "0.016", "0.015", "0.014")
SHIM = """#!/bin/bash
log=$(mktemp {logs}/XXXXXX)
start=$(date +%s.%N)
{python} -X importtime "$@" 2> $log.imports
code=$?
grep -v '^import time:' $log.imports >&2
echo "$start $(date +%s.%N) $*" > $log
exit $code
"""
_IMPORT = re.compile(r"import time:\s+(\d+) \|")
_HEADER = "import time: self [us]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--trials", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = _Clone(Path(folder), options.trials)
        clone.seconds("dvc", "repro")  # compiles kernels too
        clone.git("commit", "--quiet", "--all", "--message", "Cora")
        clone.measure("nothing to do", ["dvc", "repro"])
        clone.measure("train.lr alone", ["dvc", "exp", "run", "-S", f"train.lr={RATES[0]}"])
        for rate in RATES[1:]:
            clone.seconds("dvc", "exp", "run", "--queue", "-S", f"train.lr={rate}")
        clone.measure("six queued", [sys.executable, "-m", "grandplus", "queue"])


class _Clone:
    """A clone of this checkout, whose stages note what they take."""

    def __init__(self, folder: Path, trials: int) -> None:
        self.root, self.logs, shims = folder / "clone", folder / "logs", folder / "bin"
        self.logs.mkdir()
        shims.mkdir()
        shim = shims / "python"
        shim.write_text(SHIM.format(logs=self.logs, python=sys.executable))
        shim.chmod(0o755)
        checkout = Path(__file__).parents[1]
        who = {f"GIT_{role}_{what}": "benchmark" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        tools = Path(sys.executable).parent
        path = f"{shims}:{tools}:{os.environ['PATH']}"
        self.environment = os.environ | who | {"PATH": path, "PYTHONPATH": str(self.root)}
        subprocess.run(["git", "clone", "--quiet", checkout, self.root], check=True)
        for role in ("name", "email"):
            self.git("config", f"user.{role}", "benchmark")
        params = self.root / "params.yaml"
        text = params.read_text(encoding="utf-8")
        for key, value in (("dataset", "cora"), ("matrix", "ppr"), ("trials", trials)):
            text = re.sub(rf"^{key}: \w+", f"{key}: {value}", text, flags=re.MULTILINE)
        params.write_text(text, encoding="utf-8")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, check=True)

    def seconds(self, *command: str) -> float:
        """How long a command takes."""
        start = time.perf_counter()
        done = subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return time.perf_counter() - start

    def measure(self, case: str, command: list[str]) -> None:
        """Print the line of a command."""
        for log in self.logs.iterdir():
            log.unlink()
        whole = self.seconds(*command)
        stages = [_stage(log) for log in sorted(self.logs.iterdir()) if not log.suffix]
        start = _start_of_python() * len(stages)
        ours, imports = sum(one[0] for one in stages), sum(one[1] for one in stages)
        print_line(
            benchmark="pipeline", case=case, seconds=whole, stages=len(stages), dvc=whole - ours, python=start,
            imports=imports, work=ours - start - imports,
        )  # fmt: skip


def _stage(log: Path) -> tuple[float, float]:
    """Seconds of a stage, and those of its imports."""
    start, end, *_ = log.read_text(encoding="utf-8").split()
    first, *workers = log.with_suffix(".imports").read_text(encoding="utf-8").split(_HEADER)[1:]
    own, others = _microseconds(first), sum(map(_microseconds, workers))
    return float(end) - float(start), (own + others / max(len(workers), 1)) / 1e6


def _microseconds(imports: str) -> int:
    return sum(map(int, _IMPORT.findall(imports)))


def _start_of_python() -> float:
    """Seconds of a Python that does nothing: the least of five."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
