"""``grandplus predict``: predictions of a few nodes, a line a node with tabs between the columns."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grandplus.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from grandplus.prediction.predictor import Predictor


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("predict", help="predict a few nodes, with the exact L1 error of each one's row")
    parser.add_argument("--nodes", required=True, metavar="FILE", help="ids of nodes, one a line; - is standard input")
    parser.add_argument("--dataset", help="the dataset that the models must be of")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print a line for each node whose id a file lists, in its order.

    Raises
    ------
    GrandPlusError
        The file can't be read, there is no such node, or no finished run of the dataset.
    """
    from grandplus.graph.ids import read_ids
    from grandplus.prediction.predictor import Predictor  # here, as torch takes a second

    ids = read_ids(arguments.nodes)
    out = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    try:
        predictor = Predictor.load(dataset=arguments.dataset)
    except ArgumentError as error:
        error.fix = error.fix or f"leave --dataset out, or run dvc exp run -S dataset={arguments.dataset} first"
        raise
    out.writerows(prediction_rows(predictor, ids))


def prediction_rows(predictor: Predictor, ids: Sequence[str]) -> list[list[str]]:
    """Predict nodes: a head, and a row of text for each.

    Parameters
    ----------
    predictor : Predictor
    ids : sequence of str
        They may repeat.

    Raises
    ------
    GrandPlusError
        There is no such node.
    """
    import numpy as np

    from grandplus.graph.ids import rows_of

    graph = predictor.graph
    nodes, position = np.unique(rows_of(graph.node_ids, ids), return_inverse=True)
    predictions = predictor.predict(nodes)
    rows = [["node", "predicted", "confidence", "confident", "l1_error", *(f"P({name})" for name in graph.classes)]]
    for text, number in zip(ids, position.tolist(), strict=True):
        rows.append(
            [
                text,
                graph.classes[predictions.predicted[number]],
                f"{predictions.confidence[number]:.4f}",
                "yes" if predictions.confident[number] else "no",
                f"{predictions.l1_error[number]:.6f}",
                *(f"{probability:.4f}" for probability in predictions.probabilities[number]),
            ]
        )
    return rows
