"""``grandplus report``: runs and their differences as a table for the terminal, and as a page with charts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole

PAGE = Path("reports/report.html")


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("report", help=f"comparison of runs: a table, and a page with charts in {PAGE}")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="name of an experiment, or a Git revision; by default the last run"
    )
    parser.add_argument(
        "--with",
        dest="reference",
        metavar="RUN",
        help="compare the others with this run alone; by default every two are compared, which takes more trials",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print what came out of runs and whether they differ, and write the page.

    Raises
    ------
    GrandPlusError
        There is no such run, it has no results, or none is named beside ``--with``.
    """
    from grandplus.report.comparison import compare_runs  # here, as DVC takes a second
    from grandplus.report.gather import gather
    from grandplus.report.page import page
    from grandplus.report.text import report_text

    reference = [arguments.reference] if arguments.reference else []
    others = [name for name in arguments.runs if name not in reference]
    if reference and not others:
        raise GrandPlusError(
            f"--with {arguments.reference} has no run beside it", fix="name the runs to compare with it"
        )
    runs = gather([*reference, *others])
    comparisons, notes = compare_runs(runs, with_first=bool(reference))
    notes += [f"{run.name}: {note}" for run in runs for note in run.notes]
    with finished_whole(PAGE, alone=True) as partial:
        partial.write_text(page(runs, comparisons, notes), encoding="utf-8")
    print(report_text(runs, comparisons, notes))
    print(f"\n{PAGE} has the charts: open it in a browser")
