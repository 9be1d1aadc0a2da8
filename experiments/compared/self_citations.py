"""Why GBP on Citeseer is below the paper: its authors' edges keep the self-citations that Planetoid's files have.

    python -m experiments.compared.self_citations
    python -m experiments.compared.self_citations --trials 10

The same trials without and with them, accuracy on validation and test nodes. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from experiments.compared.measured import own_case
from grandplus.datasets.raw import read
from grandplus.evaluation.statistics import paired
from grandplus.graph.adjacency import Adjacency
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.cases import Prepared, prepare, train_blind
from grandplus.pipeline.ending import ending
from grandplus.pipeline.files import get_files

DATASET, MODEL, TRIALS = "citeseer", "gbp", 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS)
    given = parser.parse_args()
    return ending(lambda: show(given.trials))


def show(trials: int) -> None:
    """Print the table."""
    prepared = prepare(own_case(DATASET, MODEL), trials)
    loops = self_citations(prepared)
    graph = replace(prepared.graph, adjacency=with_diagonal(prepared.graph.adjacency, loops))
    ways = {"without": prepared, f"with all {len(loops)}": replace(prepared, graph=graph)}
    tests = []
    print("| self-citations | validation accuracy, % | test accuracy, % |\n|---|---|---|")
    for name, way in ways.items():
        validation, test = scores(way, trials)
        tests.append(test)
        print(f"| {name} | {_summary(validation)} | {_summary(test)} |")
    gain = paired(tests[1], tests[0])
    low, high = gain.interval
    print(f"\nwith - without, test: {100 * gain.difference:+.2f} points ({100 * low:+.2f} to {100 * high:+.2f})")


def self_citations(prepared: Prepared) -> NDArray[np.int64]:
    """The nodes that cite themselves in the files: int64 (l,)."""
    with tempfile.TemporaryDirectory() as folder:
        get_files(prepared.settings, Path(folder))
        starts, ends = read(Path(folder), prepared.settings.source, CATALOG).edges
    return np.unique(starts[starts == ends]).astype(np.int64)


def with_diagonal(adjacency: Adjacency, nodes: NDArray[np.int64]) -> Adjacency:
    """An adjacency that has self-loops at some nodes, which no graph of the pipeline has."""
    diagonal = np.zeros(adjacency.nodes, np.float32)
    diagonal[nodes] = 1
    both = (adjacency.matrix() + sp.diags_array(diagonal)).tocsr()
    both.eliminate_zeros()
    both.sort_indices()
    return Adjacency(both.indptr.astype(np.int64), both.indices.astype(adjacency.indices.dtype))


def scores(prepared: Prepared, trials: int) -> tuple[list[float], list[float]]:
    """Accuracy on validation and test nodes, trial by trial."""
    graph, validation, test = prepared.graph, [], []
    for trial in range(trials):
        split = prepared.splits.of(trial)
        model = train_blind(prepared, split, trial).model
        right = model.predict_proba(graph).argmax(axis=1) == graph.labels
        validation.append(float(right[split.val].mean()))
        test.append(float(right[split.test].mean()))
    return validation, test


def _summary(values: list[float]) -> str:
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1):.2f}"


if __name__ == "__main__":
    sys.exit(main())
