"""``python -m grandplus explain``: which neighbours a prediction comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from grandplus.answers.ids import rows_of
from grandplus.answers.predictor import Predictor
from grandplus.splits import Splits

SHOWN = 10  # neighbours


def print_explanation(node: str) -> None:
    """The neighbours that weigh most in a node's row of Π, and what is known and predicted of them."""
    predictor = Predictor.load()
    graph = predictor.graph
    [row] = rows_of(graph.node_ids, [node]).tolist()
    pushed = predictor.push(np.array([row]))
    held = pushed.neighbors[0] >= 0
    neighbors, weights = pushed.neighbors[0][held].astype(np.int64), pushed.weights[0][held].astype(np.float64)
    answers = predictor.answer(np.union1d(neighbors, [row]))
    own = int(np.searchsorted(answers.rows.node, row))
    table = Splits.load("data/graph").table
    trained_on = set(table.filter(pc.equal(table["part"], "train"))["node"].to_pylist())

    def known(of: int) -> list[str]:
        name = graph.classes[graph.labels[of]] if graph.labels[of] >= 0 else "-"
        return [name, "yes" if of in trained_on else "no"]

    def predicted(at: int) -> list[str]:
        return [graph.classes[answers.predicted[at]], f"{answers.confidence[at]:.4f}"]

    _print_columns(
        ["node", "label", "trained on", "predicted", "confidence", "confident", "L1 error of its row"],
        [[node, *known(row), *predicted(own), _yes(answers.confident[own]), f"{answers.rows.l1_error[own]:.4f}"]],
    )
    shares = weights / weights.sum()
    at = np.searchsorted(answers.rows.node, neighbors)
    lines = []
    for i, neighbor in enumerate(neighbors[:SHOWN].tolist()):
        name = f"{graph.node_ids[neighbor]}{' (itself)' if neighbor == row else ''}"
        lines.append([name, f"{weights[i]:.4f}", f"{shares[i]:.1%}", *known(neighbor), *predicted(at[i])])
    if len(neighbors) > SHOWN:
        rest = slice(SHOWN, None)
        lines.append([f"{len(neighbors) - SHOWN} others", f"{weights[rest].sum():.4f}", f"{shares[rest].sum():.1%}"])
    print()
    _print_columns(["neighbour", "weight", "share", "label", "trained on", "predicted", "confidence"], lines)
    by_class = np.bincount(answers.predicted[at], weights=shares, minlength=len(graph.classes))
    print()
    _print_columns(
        ["class", "probability", "share of the row that is predicted so"],
        [
            [graph.classes[c], f"{answers.probabilities[own, c]:.4f}", f"{by_class[c]:.1%}"]
            for c in np.argsort(-answers.probabilities[own], kind="stable").tolist()
        ],
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _print_columns(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[i]) for line in [head, *lines] if i < len(line)) for i in range(len(head))]
    for line in [head, *lines]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip())
