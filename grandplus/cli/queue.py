"""``grandplus queue``: run all experiments that are queued."""

from __future__ import annotations

import argparse
from typing import Any

INTERRUPTED = (
    "interrupted; what is queued stays queued, and what has begun goes on: see dvc queue status, dvc queue stop"
)


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    words = "run the queued experiments, and the stages that they share once"
    parser = commands.add_parser("queue", help=words, description=words)
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="NUMBER",
        help="number of experiments side by side, each with GRANDPLUS_WORKERS; default: 1",
    )
    parser.set_defaults(run=run, interrupted=INTERRUPTED, experiment_follows=True)


def run(arguments: argparse.Namespace) -> int:
    """Run the queue to its end.

    Returns
    -------
    int
        The exit code: 1 if an experiment failed.

    Raises
    ------
    GrandPlusError
        Nothing is queued, or what is queued can't be run.
    """
    from grandplus.pipeline.queue import run_queue  # here, as DVC takes a second

    return int(run_queue(arguments.jobs))
