"""``grandplus predict``: predictions of some nodes, of all, or of nodes that came later."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grandplus.cli._growth import add_options, given_options, load_predictor
from grandplus.pipeline.folders import DATA, PREDICTIONS
from grandplus.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grandplus.prediction.export import Predicted

FORMATS = ("tsv", "csv", "json")  # of grandplus.prediction.export, which takes a second to import


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "predict",
        help="predictions of some nodes, of all, or of new ones",
        description="Predict some nodes, all, or nodes that came later. Nodes of a file and new nodes are predicted "
        "from their rows of Π, with the exact L1 error of each row; all nodes are those of the last run, by exact "
        "inference.",
        epilog="example: grandplus predict --add-nodes nodes.csv --add-edges edges.csv --out predictions.parquet",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        help="file with the ids of nodes, one a line, with or without a header; - is standard input",
    )
    nodes.add_argument("--all", action="store_true", help="print the predictions of all nodes")
    parser.add_argument("--header", action="store_true", help="skip the first line of FILE, whatever it is")
    parser.add_argument("--format", choices=FORMATS, help="format of the output; default: tsv")
    words = "file to write, in place of printing: .parquet, .tsv, .csv or .json"
    parser.add_argument("--out", type=Path, metavar="FILE", help=words)
    parser.add_argument("--dataset", help="name of the dataset that the models must be of")
    add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print or write the prediction of each node, in the order of the file or of the graph.

    Raises
    ------
    GrandPlusError
        A file can't be read, there is no such node, or no finished run of the dataset; or its models and its
        predictions are of different runs.
    """
    from grandplus.prediction.export import write_as, write_file  # here, as torch takes a second

    _check(arguments)
    try:
        classes, predictions = _of_all(arguments) if arguments.all else _of_some(arguments)
    except ArgumentError as error:
        if error.found.startswith("dataset is"):
            error.fix = error.fix or f"leave --dataset out, or run dvc exp run -S dataset={arguments.dataset} first"
        raise
    if arguments.out is not None:
        nodes, confident = write_file(arguments.out, classes, predictions)
        print(f"{arguments.out}: {nodes:,} nodes, {confident:,} of them confident")
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal's language: this is data
    write_as(arguments.format or FORMATS[0], sys.stdout, classes, predictions)


def _check(arguments: argparse.Namespace) -> None:
    """Check that the options go with each other: none is left out of account."""
    if not (arguments.all or arguments.nodes or arguments.add_nodes):
        raise ArgumentError("no nodes are named", expected="--nodes, --all or --add-nodes")
    if arguments.header and not arguments.nodes:
        raise ArgumentError("--header is given without --nodes", expected="the file whose first line it skips")
    if arguments.all and (given := given_options(arguments)):
        expected = "--all for the nodes of the run, or the others for new ones"
        raise ArgumentError(f"--all is given with {' and '.join(given)}", expected=expected)
    out, chosen = arguments.out, arguments.format
    if out is not None and chosen is not None and out.suffix.lower() != f".{chosen}":
        found, expected = f"--format is {chosen}, and --out is {out}", f"a name that ends with .{chosen}"
        raise ArgumentError(found, expected=expected, fix="or leave --format out, as the name tells the format")


def _of_all(arguments: argparse.Namespace) -> tuple[list[str], Iterable[Predicted]]:
    from grandplus.prediction.calibration import CALIBRATION, Calibration
    from grandplus.prediction.export import read_predictions
    from grandplus.prediction.predictor import check_dataset, check_models

    if arguments.dataset is not None:
        check_dataset(DATA, arguments.dataset)
    check_models(DATA, Calibration.load(PREDICTIONS / CALIBRATION))
    return read_predictions(PREDICTIONS)


def _of_some(arguments: argparse.Namespace) -> tuple[list[str], Iterable[Predicted]]:
    """Those of the nodes of a file, or of all new nodes."""
    from grandplus.graph.grown import GrownGraph
    from grandplus.graph.ids import read_ids
    from grandplus.prediction.export import predict_nodes

    lines = None if arguments.nodes is None else read_ids(arguments.nodes)
    predictor = load_predictor(arguments, arguments.dataset)
    graph = predictor.graph
    if lines is not None:
        ids = _without_header(lines, predictor.stored_graph.node_ids, skip=arguments.header)
    elif isinstance(graph, GrownGraph):
        ids = graph.ids_of(graph.new_nodes)
    return graph.classes, predict_nodes(predictor, ids)


def _without_header(lines: list[str], node_ids: NDArray[Any], *, skip: bool) -> Sequence[str]:
    from grandplus.graph.ids import without_header

    ids = lines[1:] if skip else without_header(lines, node_ids)
    if len(ids) < len(lines):
        print(f"the first line, {lines[0]!r}, is taken for a header", file=sys.stderr)
    if not ids:
        raise ArgumentError("--header skips the only line", expected="ids of nodes below it")
    return ids
