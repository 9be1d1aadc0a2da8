"""``grandplus explain``: the neighbours that a node's prediction comes from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from grandplus.cli._growth import add_options, load_predictor
from grandplus.report.table import table

if TYPE_CHECKING:
    from grandplus.prediction.explain import Explanation, Neighbour

SHOWN_NEIGHBOURS = 10
WITHOUT_ROWS = "a prediction is explained by the node's row of Π: run such a method to explain it"


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("explain", help="the neighbours that a node's prediction comes from")
    parser.add_argument("node", help="id of the node, as in your data")
    add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the neighbours with the largest entries in a node's row of Π, and what is known and predicted of them.

    Raises
    ------
    GrandPlusError
        There is no such node, or no finished run.
    """
    from grandplus.prediction.explain import explain  # here, as torch takes a second

    print(explanation_text(explain(load_predictor(arguments, without_rows=WITHOUT_ROWS), arguments.node)))


def explanation_text(explanation: Explanation) -> str:
    """An explanation as three tables: the node, its neighbours, and the classes.

    Parameters
    ----------
    explanation : Explanation
    """
    node = {
        "node": str(explanation.node),
        "label": explanation.label or "-",
        "trained on": _yes_or_no(explanation.trained_on),
        "predicted": explanation.predicted,
        "confidence": f"{explanation.confidence:.4f}",
        "confident": _yes_or_no(explanation.confident),
        "L1 error of its row": f"{explanation.l1_error:.6f}",
    }
    neighbours = [_row(neighbour, explanation.node) for neighbour in explanation.neighbours[:SHOWN_NEIGHBOURS]]
    others = explanation.neighbours[SHOWN_NEIGHBOURS:]
    if others:
        value, share = sum(other.value for other in others), sum(other.share for other in others)
        summed = {"neighbour": f"{len(others)} others", "entry of Π": f"{value:.4f}", "share": f"{share:.1%}"}
        neighbours.append(dict.fromkeys(neighbours[0], "") | summed)
    classes = [
        {
            "class": of_class.name,
            "probability": f"{of_class.probability:.4f}",
            "share of the row that is predicted so": f"{of_class.share:.1%}",
        }
        for of_class in explanation.classes
    ]
    return "\n\n".join(table(rows) for rows in ([node], neighbours, classes))


def _row(neighbour: Neighbour, node: Any) -> dict[str, str]:
    return {
        "neighbour": f"{neighbour.node}{' (itself)' if neighbour.node == node else ''}",
        "entry of Π": f"{neighbour.value:.4f}",
        "share": f"{neighbour.share:.1%}",
        "label": neighbour.label or "-",
        "trained on": _yes_or_no(neighbour.trained_on),
        "predicted": neighbour.predicted,
        "confidence": f"{neighbour.confidence:.4f}",
    }


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
