"""``python -m grandplus predict``: a line a node, between tabs."""

from __future__ import annotations

import csv
import sys

import numpy as np

from grandplus.graph.ids import read_ids, rows_of
from grandplus.prediction.predictor import Predictor


def print_predictions(file: str, dataset: str | None) -> None:
    """Of the nodes whose ids a file lists, in its order; ``-`` is standard input."""
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
