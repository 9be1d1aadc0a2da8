"""Why PPRGo and GBP learn next to nothing on the twins: what a node's own features tell there, and what they hide.

    python -m experiments.compared.noise

A logistic regression on X, on Â²X as SGC has it, and on personalised PageRank of X as GBP has it, with and without the
node's own share: accuracy on the test nodes of the small twin of AMiner-CS. Prints a Markdown table.
"""

from __future__ import annotations

import sys

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from experiments.compared.large import case_of
from grandplus.graph.adjacency import Adjacency
from grandplus.pipeline.cases import prepare
from grandplus.pipeline.ending import ending

ALPHA, STEPS = 0.1, 60  # GBP's default; what lies beyond has 0.2 % of the weight


def main() -> int:
    return ending(show)


def show() -> None:
    """Print the table."""
    prepared = prepare(case_of("twin-aminer-cs", "sgc", 0.01), 1)
    graph, split = prepared.graph, prepared.splits.of(0)
    x, step = np.asarray(graph.features, np.float64), symmetric(graph.adjacency)
    pagerank = ALPHA * x
    power = x
    for n in range(1, STEPS):
        power = step @ power
        pagerank = pagerank + ALPHA * (1 - ALPHA) ** n * power
    inputs = {
        "X": x,
        "Â²X": step @ (step @ x),
        f"PageRank of X, α = {ALPHA}": pagerank,
        "the same without αX": pagerank - ALPHA * x,
    }
    print("| inputs of a logistic regression | test accuracy, % |\n|---|---|")
    for name, values in inputs.items():
        scaled = values / values.std()
        fitted = LogisticRegression(max_iter=2000, C=100).fit(scaled[split.train], graph.labels[split.train])
        print(f"| {name} | {100 * fitted.score(scaled[split.test], graph.labels[split.test]):.1f} |")


def symmetric(adjacency: Adjacency) -> sp.csr_array:
    """D^-½AD^-½, without self-loops; the rows of isolated nodes are 0: float64 (n, n)."""
    root: NDArray[np.float64] = 1 / np.sqrt(np.maximum(1, adjacency.degrees - 1))
    scale = sp.diags_array(root)
    return (scale @ adjacency.matrix() @ scale).tocsr()


if __name__ == "__main__":
    sys.exit(main())
