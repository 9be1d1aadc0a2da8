"""Does GRAND+ learn on the twins of the paper's large graphs what a linear model finds in the same rows of Π?

    python -m experiments.twins
    python -m experiments.twins --dataset twin-mag-scholar-c --matrix single --scale 1 --trials 1

Trains with each twin's card and fits logistic regression, its penalty chosen on validation nodes, to the same rows of
ΠX. Both are scored on the validation nodes and on the nodes of U', which are test nodes whose rows are there: their
labels are seen by neither. Resumable: finished trials are kept in trials.csv, from which table.md is written. At full
size twin-mag-scholar-c takes 12 GiB of memory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from experiments.notes import note_all, read_notes, write_page
from grandplus.evaluation.baselines.inputs import propagated_rows_of
from grandplus.evaluation.baselines.linear import fit_linear
from grandplus.evaluation.baselines.protocol import Problem
from grandplus.methods.protocol import RowModel
from grandplus.pipeline.cases import Case, Prepared, check_cpu, prepare, train_blind
from grandplus.pipeline.ending import ending

FOLDER = Path(__file__).parent
TRIALS, TABLE = FOLDER / "trials.csv", FOLDER / "table.md"
DATASETS = ("twin-aminer-cs", "twin-reddit", "twin-amazon2m", "twin-mag-scholar-c")
MATRICES = ("ppr", "avg", "single")
SCORES = ("validation", "test", "linear_validation", "linear_test")
KEY = ("dataset", "scale", "matrix", "trial")
COLUMNS = (*KEY, *SCORES, "steps", "inputs")
SPLITS = 5  # drawn for each graph, so that more trials find its files again
ROWS_AT_ONCE = 1000
Row = dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--matrix", nargs="+", default=MATRICES, choices=MATRICES)
    parser.add_argument("--scale", nargs="+", default=[0.01], type=float, help="of the graph's nodes and edges")
    parser.add_argument("--trials", default=SPLITS, type=int, choices=range(1, SPLITS + 1))
    options = parser.parse_args()
    wanted = [
        (dataset, scale, matrix, trial)
        for scale in options.scale
        for dataset in options.dataset
        for matrix in options.matrix
        for trial in range(options.trials)
    ]
    return ending(lambda: make(wanted))


def make(wanted: list[tuple[str, float, str, int]]) -> None:
    """Add the trials that are missing to trials.csv, and write the table of all that are there."""
    check_cpu()
    torch.set_num_threads(1)
    for dataset, scale, matrix, trial in tqdm(wanted, unit="trial", disable=None):
        prepared = prepare(Case(dataset, matrix, (("synthetic.scale", scale),)), SPLITS)
        key = dataset, f"{scale:g}", matrix, str(trial)
        known = read().get(key)  # another process may have made it meanwhile
        if known is None or known["inputs"] != prepared.inputs:
            row = dict(zip(KEY, key, strict=True)) | score(prepared, trial) | {"inputs": prepared.inputs}
            note_all(TRIALS, [row], KEY, COLUMNS, order=lambda row: _order(tuple(row[name] for name in KEY)))
    text = table(read())
    write_page(TABLE, text)
    print(text)


def score(prepared: Prepared, trial: int) -> dict[str, Any]:
    """The accuracies of GRAND+ and of logistic regression in one trial, and the steps of training."""
    graph, split, rows = prepared.graph, prepared.splits.of(trial), prepared.rows
    assert rows is not None
    trained = train_blind(prepared, split, trial)
    model = trained.model
    assert isinstance(model, RowModel)
    push = prepared.settings.matrix.weights(), prepared.settings.gfpush.rmax, prepared.settings.gfpush.top_k
    problem = Problem(graph, [split], *push)
    candidates = problem.candidates(split)
    linear = fit_linear(problem, split, candidates, lambda nodes: propagated_rows_of(rows, graph.features, nodes))
    right: dict[str, list[float]] = {name: [] for name in SCORES}
    for part, nodes in (("validation", split.val), ("test", split.unlabelled)):
        for some in np.split(np.sort(nodes), range(ROWS_AT_ONCE, len(nodes), ROWS_AT_ONCE)):
            predicted = model.predict_proba_of_rows(model.inputs_of_rows(graph, rows.of(some))).argmax(axis=1)
            by_line = candidates[linear.scores(propagated_rows_of(rows, graph.features, some)).argmax(axis=1)]
            right[part] += (predicted == graph.labels[some]).tolist()
            right[f"linear_{part}"] += (by_line == graph.labels[some]).tolist()
    return {name: round(float(np.mean(values)), 4) for name, values in right.items()} | {"steps": model.info["steps"]}


def table(rows: dict[tuple[str, ...], Row]) -> str:
    """Markdown: mean accuracies in percent, and the least difference of a trial."""
    lines = [
        "| dataset | scale | matrix | trials | validation | linear | test | linear | least difference | steps |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case in dict.fromkeys(key[:3] for key in sorted(rows, key=_order)):
        trials = [row for key, row in rows.items() if key[:3] == case]
        scores = {name: [100 * float(row[name]) for row in trials] for name in SCORES}
        means = [f"{np.mean(scores[name]):.1f}" for name in ("validation", "linear_validation", "test", "linear_test")]
        least = min(ours - linear for ours, linear in zip(scores["test"], scores["linear_test"], strict=True))
        steps = round(np.mean([int(row["steps"]) for row in trials]))
        lines.append(f"| {' | '.join(case)} | {len(trials)} | {' | '.join(means)} | {least:+.1f} | {steps} |")
    return "\n".join(lines) + "\n"


def read() -> dict[tuple[str, ...], Row]:
    """The trials that are there, by dataset, scale, matrix and trial."""
    return {tuple(row[name] for name in KEY): row for row in read_notes(TRIALS)}


def _order(key: tuple[str, ...]) -> tuple[int, float, int, int]:
    dataset, scale, matrix, trial = key
    return DATASETS.index(dataset), float(scale), MATRICES.index(matrix), int(trial)


if __name__ == "__main__":
    sys.exit(main())
