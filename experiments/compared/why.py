"""Why may GRAND be better than GRAND+ on Amazon Computers? What GRAND+ does otherwise, changed one by one.

    python -m experiments.compared.why

GRAND propagates exactly, looks at all nodes in each step of its consistency loss, and by its defaults drops no inputs.
GRAND+ keeps 128 entries of a row, takes a batch of 100 unlabelled nodes, and drops half of the inputs. The ten splits
are those of the table of graphs without published settings. Resumable: trials are kept in why.csv. Writes why.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.compared.measured import own_case
from experiments.compared.unseen import FILE as UNSEEN
from experiments.compared.unseen import TRIALS
from experiments.notes import write_page
from experiments.trials import Row, fill, mean_and_std, read_rows, rows_of
from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.statistics import overlap_of_splits, paired
from grandplus.pipeline.cases import prepare
from grandplus.pipeline.ending import ending

FILE = Path(__file__).parent / "why.csv"
OWN, GRAND = (own_case("amazon-computers", model) for model in ("grandplus", "grand"))
CHANGES: dict[str, tuple[tuple[str, Any], ...]] = {
    "as it is": (),
    "1024 entries in a row": (("gfpush.top_k", 1024),),
    "1000 unlabelled nodes in a batch": (("train.batch_unlabelled", 1000),),
    "no dropout of inputs": (("train.dropout_input", 0.0),),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    return ending(lambda: make(FILE, UNSEEN))


def make(file: Path, unseen: Path) -> None:
    """Complete the trials, and write the table; GRAND's are those of the other table."""
    cases = {name: replace(OWN, changes=changes) for name, changes in CHANGES.items()}
    rows = fill(file, list(cases.values()), TRIALS)
    trials = {name: rows_of(rows, case) for name, case in cases.items()}
    trials["GRAND"] = rows_of(read_rows(unseen), GRAND)
    split = prepare(OWN, TRIALS).splits.of(0)
    write_page(file.with_suffix(".md"), table(trials, overlap_of_splits(train=len(split.train), test=len(split.test))))
    print(file.with_suffix(".md").read_text(encoding="utf-8"))


def table(trials: dict[str, list[Row]], overlap: float) -> str:
    """Markdown: accuracies of each, and its difference to GRAND+ as it is with a corrected 95 % interval."""
    first, *_ = tests = [[row["test"] for row in rows] for rows in trials.values()]
    lines = ["| GRAND+ on Amazon Computers | validation, % | test, % | more, points (95 % CI) |", "|---|---|---|---|"]
    for (name, rows), of_test in zip(trials.items(), tests, strict=True):
        gap = paired(of_test, first, overlap=overlap)
        more = f"{points(gap.difference)} ({points_interval(gap.interval)})" if of_test is not first else ""
        lines.append(
            f"| {name} | {mean_and_std([row['validation'] for row in rows])} | {mean_and_std(of_test)} | {more} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
