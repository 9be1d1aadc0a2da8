"""Two systems that are below the paper, with the self-loops of their authors' programs in place of ours.

    python -m experiments.compared.loops
    python -m experiments.compared.loops --trials 10

Graphs of the pipeline have no self-loops, and its rows of Π one at every node. The edges of GBP's authors keep the
self-citations that Planetoid's files have; PPRGo's push without any self-loop. The same trials both ways, accuracy on
validation and test nodes. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from experiments.compared.measured import own_case
from experiments.compared.noise import symmetric
from experiments.trials import mean_and_std
from grandplus.datasets.raw import read
from grandplus.evaluation.statistics import paired
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.pprgo.method import INFERENCE_STEPS
from grandplus.methods.protocol import Model
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.cases import Prepared, prepare, train_blind
from grandplus.pipeline.ending import ending
from grandplus.pipeline.files import get_files
from grandplus.propagation.rows import Rows

TRIALS = 40
STEPS = 60  # of a walk; what lies beyond, 5 % of the weight at α = 0.05, is left out

Predict = Callable[[Model, Graph], NDArray[np.float32]]  # logits or probabilities of all nodes


class Way(NamedTuple):
    """Trials, and how their models predict all nodes."""

    name: str
    prepared: Prepared
    predict: Predict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS)
    given = parser.parse_args()
    return ending(lambda: show(given.trials))


def show(trials: int) -> None:
    """Print the table."""
    print(
        "| system | self-loops | validation accuracy, % | test accuracy, % | more, points (95 % CI) |\n"
        + "|---" * 5
        + "|"
    )
    for title, ways in (("GBP on Citeseer", gbp(trials)), ("PPRGo on Pubmed", pprgo(trials))):
        tests: list[list[float]] = []
        for way in ways:
            validation, test = scores(way, trials)
            tests.append(test)
            gain = paired(test, tests[0])
            low, high = (100 * end for end in gain.interval)
            more = f"{100 * gain.difference:+.2f} ({low:+.2f} to {high:+.2f})" if len(tests) > 1 else ""
            print(f"| {title} | {way.name} | {mean_and_std(validation)} | {mean_and_std(test)} | {more} |", flush=True)


def gbp(trials: int) -> list[Way]:
    """On edges without self-citations, and with them."""
    prepared = prepare(own_case("citeseer", "gbp"), trials)
    loops = _self_citations(prepared)
    with_loops = replace(prepared.graph, adjacency=_with_diagonal(prepared.graph.adjacency, loops))
    return [
        Way("none", prepared, _own),
        Way(f"{len(loops)} self-citations", replace(prepared, graph=with_loops), _own),
    ]


def pprgo(trials: int) -> list[Way]:
    """On rows of PageRank with a self-loop at every node, and without any; then inference has none, either."""
    prepared = prepare(own_case("pubmed", "pprgo"), trials)
    rows = prepared.rows
    assert rows is not None
    without = _rows_without_loops(prepared.graph.adjacency, rows)
    alpha = rows.info.weights[0]
    return [
        Way("one at each node", prepared, _own),
        Way("none", replace(prepared, rows=without), lambda model, graph: _inferred(model, graph, alpha)),
    ]


def scores(way: Way, trials: int) -> tuple[list[float], list[float]]:
    """Accuracy on validation and test nodes, trial by trial."""
    graph, found = way.prepared.graph, list[tuple[float, float]]()
    for trial in range(trials):
        split: Split = way.prepared.splits.of(trial)
        model = train_blind(way.prepared, split, trial).model
        right = way.predict(model, graph).argmax(axis=1) == graph.labels
        found.append((float(right[split.val].mean()), float(right[split.test].mean())))
    validation, test = zip(*found, strict=True)
    return list(validation), list(test)


def _own(model: Model, graph: Graph) -> NDArray[np.float32]:
    return model.predict_proba(graph)


def _self_citations(prepared: Prepared) -> NDArray[np.int64]:
    """The nodes that cite themselves in the files: int64 (l,)."""
    with tempfile.TemporaryDirectory() as folder:
        get_files(prepared.settings, Path(folder))
        starts, ends = read(Path(folder), prepared.settings.source, CATALOG).edges
    return np.unique(starts[starts == ends]).astype(np.int64)


def _with_diagonal(adjacency: Adjacency, nodes: NDArray[np.int64]) -> Adjacency:
    """An adjacency that has self-loops at some nodes, which no graph of the pipeline has."""
    diagonal = np.zeros(adjacency.nodes, np.float32)
    diagonal[nodes] = 1
    both = (adjacency.matrix() + sp.diags_array(diagonal)).tocsr()
    both.eliminate_zeros()
    both.sort_indices()
    return Adjacency(both.indptr.astype(np.int64), both.indices.astype(adjacency.indices.dtype))


def _rows_without_loops(adjacency: Adjacency, rows: Rows) -> Rows:
    """The k largest entries of α Σ (1 - α)^l (D⁻¹A)^l of its first steps, in the same rows.

    The method scales an entry by the roots of degrees with the self-loop: here by what makes them those without.
    """
    alpha, degrees = rows.info.weights[0], np.maximum(1, adjacency.degrees - 1)
    walk = sp.diags_array(1 / degrees) @ adjacency.matrix()
    power = np.zeros((len(rows), adjacency.nodes))
    power[np.arange(len(rows)), rows.node] = 1
    ranks = alpha * power
    for step in range(1, STEPS):
        power = power @ walk
        ranks += alpha * (1 - alpha) ** step * power
    neighbors = np.argsort(-ranks, axis=1, kind="stable")[:, : rows.neighbors.shape[1]]
    values = np.take_along_axis(ranks, neighbors, axis=1)
    change = np.sqrt(degrees / adjacency.degrees)
    scaled = values * change[rows.node][:, None] / change[neighbors]
    empty = values == 0
    kept: Any = {"neighbors": np.where(empty, -1, neighbors).astype(rows.neighbors.dtype)}
    return replace(rows, **kept, values=np.where(empty, 0, scaled).astype(np.float32))


def _inferred(model: Any, graph: Graph, alpha: float) -> NDArray[np.float32]:
    """Logits of all nodes by steps of power iteration with D^-½AD^-½."""
    first, second = model.network.weights
    local = np.maximum(graph.features @ first, 0) @ second
    step, logits = symmetric(graph.adjacency), local
    for _ in range(INFERENCE_STEPS):
        logits = (1 - alpha) * (step @ logits) + alpha * local
    return np.asarray(logits, np.float32)


if __name__ == "__main__":
    sys.exit(main())
