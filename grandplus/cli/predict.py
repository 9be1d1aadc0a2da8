"""``grandplus predict``: the predictions of a few nodes."""

from __future__ import annotations

import argparse
import csv
import sys
from typing import Any

import numpy as np

from grandplus.graph.ids import read_ids, rows_of


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("predict", help="predict a few nodes, with the exact L1 error of each one's row")
    parser.add_argument("--nodes", required=True, metavar="FILE", help="their ids, one a line; - is standard input")
    parser.add_argument("--dataset", help="the dataset that the models must be of")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the predictions.

    Raises
    ------
    GrandPlusError
        There is no such node or no finished run, or the models are of another dataset.
    """
    print_predictions(arguments.nodes, arguments.dataset)


def print_predictions(file: str, dataset: str | None = None) -> None:
    """Print a line for each node, with tabs between the columns.

    Parameters
    ----------
    file : str
        The ids of the nodes, one a line; lines are printed in this order. ``-`` is standard input.
    dataset : str, optional
        The dataset that the models must be of.
    """
    from grandplus.prediction.predictor import Predictor  # here, as torch takes a second

    ids = read_ids(file)
    predictor = Predictor.load(dataset=dataset)
    graph = predictor.graph
    wanted, at = np.unique(rows_of(graph.node_ids, ids), return_inverse=True)
    answers = predictor.answer(wanted)
    out = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    head = ["node", "predicted", "confidence", "confident", "l1_error"]
    out.writerow([*head, *(f"P({name})" for name in graph.classes)])
    for text, row in zip(ids, at.tolist(), strict=True):
        confident = "yes" if answers.confident[row] else "no"
        name = graph.classes[answers.predicted[row]]
        error, probabilities = f"{answers.l1_error[row]:.6f}", (f"{p:.4f}" for p in answers.probabilities[row])
        out.writerow([text, name, f"{answers.confidence[row]:.4f}", confident, error, *probabilities])
