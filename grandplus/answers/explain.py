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
    neighbors = pushed.neighbors[0][pushed.neighbors[0] >= 0].astype(np.int64)
    weights = pushed.weights[0][: len(neighbors)].astype(np.float64)
    shares = weights / weights.sum()
    answers = predictor.answer(np.append(neighbors, row))
    own, at = np.searchsorted(answers.rows.node, row), np.searchsorted(answers.rows.node, neighbors)
    table = Splits.load("data/graph").table
    trained_on = set(table.filter(pc.equal(table["part"], "train"))["node"].to_pylist())

    def label(of: int) -> str:
        return graph.classes[graph.labels[of]] if graph.labels[of] >= 0 else "-"

    print(f"node       {node}")
    confident = "confident" if answers.confident[own] else "not confident"
    print(f"predicted  {graph.classes[answers.predicted[own]]}, {answers.confidence[own]:.4f}, {confident}")
    print(f"label      {label(row)}{', trained on' if row in trained_on else ''}")
    error = f"L1 error {answers.rows.l1_error[own]:.4f}"
    print(f"row of Π   {len(neighbors)} neighbours of weight {weights.sum():.4f} together; {error}\n")
    lines = []
    for i, neighbor in enumerate(neighbors[:SHOWN].tolist()):
        name = f"{graph.node_ids[neighbor]}{' (itself)' if neighbor == row else ''}"
        known = [label(neighbor), "yes" if neighbor in trained_on else "no"]
        guess = [graph.classes[answers.predicted[at[i]]], f"{answers.confidence[at[i]]:.4f}"]
        lines.append([name, f"{weights[i]:.4f}", f"{shares[i]:.1%}", *known, *guess])
    if len(neighbors) > SHOWN:
        rest = slice(SHOWN, None)
        lines.append([f"{len(neighbors) - SHOWN} others", f"{weights[rest].sum():.4f}", f"{shares[rest].sum():.1%}"])
    _print_columns(["neighbour", "weight", "share", "label", "trained on", "predicted", "confidence"], lines)
    print()
    by_class = np.bincount(answers.predicted[at], weights=shares, minlength=len(graph.classes))
    order = np.argsort(-answers.probabilities[own], kind="stable")
    _print_columns(
        ["class", "probability", "share of the row that is predicted so"],
        [[graph.classes[c], f"{answers.probabilities[own, c]:.4f}", f"{by_class[c]:.1%}"] for c in order.tolist()],
    )


def _print_columns(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[i]) for line in [head, *lines] if i < len(line)) for i in range(len(head))]
    for line in [head, *lines]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip())
