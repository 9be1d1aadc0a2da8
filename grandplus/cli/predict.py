"""``grandplus predict``: predictions of some nodes, or of all, as text or JSON."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from grandplus.pipeline.folders import DATA, PREDICTIONS
from grandplus.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from grandplus.prediction.export import Predicted

FORMATS = ("tsv", "csv", "json")  # of grandplus.prediction.export, which takes a second to import


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "predict",
        help="predictions of some nodes, or of all",
        description="Predict some nodes, or all. Nodes of a file are predicted from their rows of Π, with the exact "
        "L1 error of each row; all nodes are those of the last run, whose inference is exact.",
    )
    nodes = parser.add_mutually_exclusive_group(required=True)
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        help="file with the ids of nodes, one a line, with or without a header; - is standard input",
    )
    nodes.add_argument("--all", action="store_true", help="print the predictions of all nodes")
    parser.add_argument("--header", action="store_true", help="skip the first line of FILE, whatever it is")
    parser.add_argument("--format", choices=FORMATS, default="tsv", help="format of the output; default: tsv")
    parser.add_argument("--dataset", help="name of the dataset that the models must be of")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the prediction of each node, in the order of the file or of the graph.

    Raises
    ------
    GrandPlusError
        The file can't be read, there is no such node, or no finished run of the dataset.
    """
    from grandplus.prediction.export import write_as  # here, as torch takes a second

    if arguments.all and arguments.header:
        raise ArgumentError("--header is given with --all", expected="it beside --nodes only")
    try:
        classes, predictions = _of_all(arguments) if arguments.all else _of_file(arguments)
    except ArgumentError as error:
        if error.found.startswith("dataset is"):
            error.fix = error.fix or f"leave --dataset out, or run dvc exp run -S dataset={arguments.dataset} first"
        raise
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal's language: this is data
    write_as(arguments.format, sys.stdout, classes, predictions)


def _of_all(arguments: argparse.Namespace) -> tuple[list[str], Iterable[Predicted]]:
    from grandplus.prediction.export import read_predictions
    from grandplus.prediction.predictor import check_dataset

    if arguments.dataset is not None:
        check_dataset(DATA, arguments.dataset)
    return read_predictions(PREDICTIONS)


def _of_file(arguments: argparse.Namespace) -> tuple[list[str], Iterable[Predicted]]:
    from grandplus.graph.ids import read_ids, without_header
    from grandplus.prediction.export import predict_nodes
    from grandplus.prediction.predictor import Predictor

    lines = read_ids(arguments.nodes)
    predictor = Predictor.load(DATA, dataset=arguments.dataset)
    ids = lines[1:] if arguments.header else without_header(lines, predictor.stored_graph.node_ids)
    if len(ids) < len(lines):
        print(f"the first line, {lines[0]!r}, is taken for a header", file=sys.stderr)
    if not ids:
        raise ArgumentError("--header skips the only line", expected="ids of nodes below it")
    return predictor.graph.classes, list(predict_nodes(predictor, ids))
