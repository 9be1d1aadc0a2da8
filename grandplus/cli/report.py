"""``grandplus report``: runs compared, as a table on the terminal and as a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grandplus.report.table import percent, points, table, value, with_interval
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole

if TYPE_CHECKING:
    from grandplus.report.comparison import Comparison
    from grandplus.report.gather import Run

PAGE = Path("reports/report.html")


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("report", help="runs compared: a table, and a page with plots in reports/report.html")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="the name of an experiment, or a Git revision; by default the last run"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the table and write the page.

    Raises
    ------
    GrandPlusError
        There is no such run, or it has no results.
    """
    print_report(arguments.runs)


def print_report(names: Sequence[str]) -> None:
    """Print what came out of some runs and whether they differ, and write the page.

    Parameters
    ----------
    names : sequence of str
        Of experiments, or Git revisions; with none, the run of the workspace.

    Raises
    ------
    GrandPlusError
        There is no such run, or it has no results.
    """
    from grandplus.report.gather import gather  # here, as DVC takes a second
    from grandplus.report.page import page

    runs = gather(names)
    comparisons, missing = compared(runs)
    try:
        with finished_whole(PAGE, alone=True) as partial:
            partial.write_text(page(runs, comparisons, missing), encoding="utf-8")
    except OSError as error:
        raise GrandPlusError(f"can't be written: {error.strerror}", where=PAGE) from None
    print(table([_row(run) for run in runs]))
    if comparisons:
        print()
        print(table([_verdict(of, [run.name for run in runs]) for of in comparisons]))
    for line in missing:
        print(f"\n{line}")
    print(f"\n{PAGE} has the plots: open it in a browser")


def compared(runs: Sequence[Run]) -> tuple[list[Comparison], list[str]]:
    """Every two of them that can be compared, and in words, which can't."""
    from grandplus.report.comparison import compare

    found = compare([run.accuracy for run in runs], [run.pairs for run in runs], [run.subject for run in runs])
    missing = []
    alone = [run.name for run in runs if len(run.accuracy) == 1]
    if len(runs) > 1 and alone:
        missing.append(f"one trial says nothing of differences: run {', '.join(alone)} with more, as -S trials=10")
    if len({run.subject[:-1] for run in runs}) > 1:
        missing.append("runs on different graphs are not compared: their accuracies have nothing in common")
    if len({run.subject[-1] for run in runs}) > 1:
        of_validation = ", ".join(run.name for run in runs if run.subject[-1] == "val")
        missing.append(f"no test node of {of_validation} has a label, so its accuracy is of validation nodes")
    return found, missing


def _row(run: Run) -> dict[str, str]:
    test, val = run.metrics.get("test"), run.metrics["val"]
    ece = (test or val)["ece"]
    return {
        "run": run.name,
        "dataset": run.details["run"]["dataset"],
        "matrix": run.details["run"]["matrix"],
        "trials": str(run.details["run"]["trials"]),
        "settings": " ".join(f"{key}={value(used)}" for key, used in run.settings.items()),
        "test accuracy": with_interval(test["accuracy"]) if test else "",
        "validation": with_interval(val["accuracy"]),
        "macro-F1": percent(test["macro_f1"]["mean"]) if test else "",
        "ECE": f"{ece['mean']:.3f}",
        "calibrated": f"{ece['calibrated']:.3f}",
        "L1 error": f"{run.metrics['rows']['l1_error']['mean']:.4f}",
    }


def _verdict(of: Comparison, names: Sequence[str]) -> dict[str, str]:
    return {
        "runs": f"{names[of.first]} - {names[of.second]}",
        "points": points(of.test.difference),
        "95 % interval": f"{points(of.test.low)} to {points(of.test.high)}",
        "p": f"{of.test.p:.4f}",
        "corrected": f"{of.corrected:.4f}",
        "compared by": of.by,
        "so": of.verdict(names),
        "would take": of.would_take,
    }
