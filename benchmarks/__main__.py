"""All benchmarks that need no more than minutes, one after the other, and a table of their ratios.

Each prints its JSON lines. At the end ``benchmarks/summary.md`` shows today's ratios beside those of the last release.
Ends with 1 if a benchmark found a wrong result; the table is not rewritten then:

    python -m benchmarks
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.summary import add_run
from grandplus import __version__

PARTS = ("gfpush", "power", "training", "training_threads", "embedding", "answers", "one_trial")


def main() -> int:
    lines, failed = [], []
    for part in PARTS:
        printed, code = _run(part)
        lines += printed
        failed += [part] if code else []
    if failed:
        print(f"wrong: {', '.join(failed)}", file=sys.stderr)
        return 1
    print("\n" + add_run(lines, __version__))
    return 0


def _run(part: str) -> tuple[list[dict[str, Any]], int]:
    """The lines of a benchmark, which are printed as they come, and its exit code."""
    command = [sys.executable, "-m", f"benchmarks.{part}"]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("{"):  # not what a download says
                lines.append(json.loads(line))
    return lines, process.returncode


if __name__ == "__main__":
    sys.exit(main())
