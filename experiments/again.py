"""Are the kept trials those of today's code, on this machine? Trains the first one of each case once more.

    python -m experiments.again compared/citation.csv --seconds 10
    python -m experiments.again table2/trials.csv

A trial is kept by its settings and its graph, not by the code. So a method that was mended leaves rows of the old one,
which have to be deleted by hand and made anew. Prints a line for each case; ends with 1 if one differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from experiments.trials import Row, read_rows, score_trial
from grandplus.pipeline.card import OWN_METHOD
from grandplus.pipeline.cases import Case
from grandplus.pipeline.ending import ending
from grandplus.pipeline.yaml_files import yaml_mapping

FOLDER = Path(__file__).parent
COMPARED = ("validation", "test", "steps")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="of trials, from the folder of the experiments on")
    parser.add_argument("--seconds", type=float, help="leave out cases whose kept trial took longer")
    given = parser.parse_args()
    rows = [row for file in given.files for row in read_rows(FOLDER / file)]
    return ending(lambda: sys.exit(int(check(first_of_each(rows), given.seconds))))


def check(rows: Iterable[Row], seconds: float | None = None) -> int:
    """Train these trials again, and print what differs.

    Parameters
    ----------
    rows : iterable of dict
        Of a file of trials.
    seconds : float, optional
        Leave out those that took longer; a file without seconds has none to leave out.

    Returns
    -------
    int
        How many differ.
    """
    differing = 0
    for row in rows:
        if seconds is not None and row.get("seconds", 0) > seconds:
            continue
        case, trial = case_of(row), int(row["trial"])
        now = score_trial(trial + 1, case, trial)
        same = all(now[name] == row[name] for name in COMPARED)
        differing += not same
        print(f"{case.dataset} {case.matrix} {case.change}".rstrip(), f"trial {trial}", end=": ")
        print("same" if same else f"kept {_numbers(row)}, now {_numbers(now)}", flush=True)
        if now["inputs"] != row["inputs"]:
            print("  its settings or its graph have changed")
    return differing


def case_of(row: Row) -> Case:
    """The case that a row is of.

    >>> case_of({"dataset": "cora", "matrix": "ppr", "change": "model=gat train.lr=0.1 train.watched=loss"})
    Case(dataset='cora', matrix='ppr', changes=(('train.lr', 0.1), ('train.watched', 'loss')), model='gat')
    """
    lines = [part.replace("=", ": ", 1) for part in row["change"].split()]
    changes = yaml_mapping("\n".join(lines), row["change"]) if lines else {}
    model = changes.pop("model", OWN_METHOD)
    return Case(row["dataset"], row["matrix"], tuple(changes.items()), model)


def first_of_each(rows: Iterable[Row]) -> list[Row]:
    """The row of the lowest trial of each case."""
    found: dict[Case, Row] = {}
    for row in sorted(rows, key=lambda row: int(row["trial"])):
        found.setdefault(case_of(row), row)
    return list(found.values())


def _numbers(row: Row) -> str:
    return ", ".join(f"{name} {row[name]}" for name in COMPARED)


if __name__ == "__main__":
    main()
