"""``grandplus explain``: the neighbours that a prediction comes from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.graph.ids import rows_of
from grandplus.graph.splits import Splits
from grandplus.runtime.errors import ArtifactError

SHOWN = 10  # neighbours


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("explain", help="the neighbours that a node's prediction comes from")
    parser.add_argument("node", help="its id")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the explanation.

    Raises
    ------
    GrandPlusError
        There is no such node or no finished run.
    """
    print_explanation(arguments.node)


def print_explanation(node: str) -> None:
    """Print the neighbours that weigh most in a node's row of Π, and what is known and predicted of them.

    Parameters
    ----------
    node : str
        Its id.
    """
    from grandplus.prediction.predictor import Predictor  # here, as torch takes a second

    predictor = Predictor.load()
    graph = predictor.graph
    row = rows_of(graph.node_ids, [node])
    answer, pushed = predictor.answer(row), predictor.push(row)
    held = pushed.neighbors[0] >= 0
    neighbors, weights = pushed.neighbors[0][held], pushed.values[0][held].astype(np.float64)
    shares, predicted = weights / weights.sum(), _predictions_of(neighbors)
    table = Splits.load("data/graph").table
    trained_on = set(table.filter(pc.equal(table["part"], "train"))["node"].to_pylist())

    def known(of: int) -> list[str]:
        name = graph.classes[graph.labels[of]] if graph.labels[of] >= 0 else "-"
        return [name, "yes" if of in trained_on else "no"]

    name, confidence = graph.classes[answer.predicted[0]], f"{answer.confidence[0]:.4f}"
    confident = "yes" if answer.confident[0] else "no"
    _print_columns(
        ["node", "label", "trained on", "predicted", "confidence", "confident", "L1 error of its row"],
        [[node, *known(int(row[0])), name, confidence, confident, f"{answer.l1_error[0]:.6f}"]],
    )
    lines = []
    for neighbor, weight, share, guess in zip(neighbors[:SHOWN].tolist(), weights, shares, predicted, strict=False):
        name = f"{graph.node_ids[neighbor]}{' (itself)' if neighbor == row[0] else ''}"
        guessed = [guess["predicted"], f"{guess['confidence']:.4f}"]
        lines.append([name, f"{weight:.4f}", f"{share:.1%}", *known(neighbor), *guessed])
    if len(neighbors) > SHOWN:
        lines.append(
            [f"{len(neighbors) - SHOWN} others", f"{weights[SHOWN:].sum():.4f}", f"{shares[SHOWN:].sum():.1%}"]
        )
    _print_columns(["neighbour", "weight", "share", "label", "trained on", "predicted", "confidence"], lines)
    by_class = dict.fromkeys(graph.classes, 0.0)
    for share, guess in zip(shares, predicted, strict=True):
        by_class[guess["predicted"]] += share
    likely = [
        (graph.classes[c], answer.probabilities[0, c]) for c in np.argsort(-answer.probabilities[0], kind="stable")
    ]
    _print_columns(
        ["class", "probability", "share of the row that is predicted so"],
        [[name, f"{probability:.4f}", f"{by_class[name]:.1%}"] for name, probability in likely],
    )


def _predictions_of(nodes: NDArray[Any]) -> list[dict[str, Any]]:
    """``predicted`` and ``confidence`` of each, by full inference."""
    from grandplus.prediction.calibration import PREDICTIONS

    file = Path("data/predictions") / PREDICTIONS
    try:
        table = pq.read_table(file, columns=["predicted", "confidence"], read_dictionary=["predicted"])
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(f"can't be read as predictions: {error}", where=file) from None
    return list(table.take(pa.array(nodes)).to_pylist())


def _print_columns(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[i]) for line in [head, *lines] if i < len(line)) for i in range(len(head))]
    for line in [head, *lines]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip())
    print()
