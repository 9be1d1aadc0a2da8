"""``grandplus experiments``: all experiments of this checkout in one table."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("experiments", help="table of all experiments: what differs and what came out")
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> None:
    """Print a line for the workspace, the last commit, and each experiment.

    Raises
    ------
    GrandPlusError
        There is no DVC repository here, or DVC can't list its experiments.
    """
    from grandplus.report.experiments import experiments_table  # here, as DVC takes a second

    print(experiments_table())
