"""GRAND+ at the command line: your own graph, what runs came to, and predictions for single nodes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import grandplus
from grandplus.cli import (
    datasets,
    embed,
    experiments,
    explain,
    import_,
    predict,
    queue,
    report,
    results,
    search,
    settings,
    suggest,
    tune,
)
from grandplus.pipeline.dependencies import DVC_YAML
from grandplus.pipeline.ending import KEPT, ending
from grandplus.pipeline.git_identity import identity_note
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.system_errors import STANDARD_OUTPUT

# Modules with add(commands), which adds the verb to the parser, and run(arguments). What takes long to import is
# imported in run.
VERBS = (
    results,
    settings,
    datasets,
    import_,
    predict,
    explain,
    embed,
    suggest,
    report,
    experiments,
    tune,
    search,
    queue,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line, if none are given.

    Returns
    -------
    int
        The exit code: 0, what the verb says, 2 where the user has to act, 130 after Ctrl-C.
    """
    if sys.stdout is None:  # closed, as by >&-
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    chosen = _parser().parse_args(arguments)
    return ending(lambda: _run(chosen), chosen.interrupted)


def _parser() -> argparse.ArgumentParser:
    as_module = Path(sys.argv[0]).name == "__main__.py"
    parser = argparse.ArgumentParser(prog="python -m grandplus" if as_module else "grandplus", description=__doc__)
    parser.add_argument("--version", action="version", version=f"grandplus {grandplus.__version__}")
    parser.set_defaults(interrupted=KEPT, experiment_follows=False)
    commands = parser.add_subparsers(required=True, metavar="command")
    for verb in VERBS:
        verb.add(commands)
    return parser


def _run(chosen: argparse.Namespace) -> int:
    _check_folder()
    try:
        code: int | None = chosen.run(chosen)
        if chosen.experiment_follows and (note := identity_note()):
            print(note, file=sys.stderr)
        sys.stdout.flush()
    except BrokenPipeError:  # as by | head, which has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None and not _takes_output():
            error.filename = STANDARD_OUTPUT
        raise
    return code or 0


def _takes_output() -> bool:
    """Whether standard output takes a line more; what it did not take before is lost, so flushing it tells nothing."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except io.UnsupportedOperation:  # it is no file
        return True
    except OSError:
        return False
    return True


def _check_folder() -> None:
    """All verbs read or write files of a checkout, from its top folder."""
    here = Path.cwd()
    if (here / DVC_YAML).is_file():
        return
    top = next((folder for folder in here.parents if (folder / DVC_YAML).is_file()), None)
    if top is None:
        found = f"is in no checkout of GRAND+: there is no {DVC_YAML} here or above"
        raise GrandPlusError(found, where=here, fix="change to the top folder of a checkout first")
    found = f"is not the top folder of the checkout {top}"
    raise GrandPlusError(found, where=here, fix=f"run this first: cd {os.path.relpath(top, here)}")
