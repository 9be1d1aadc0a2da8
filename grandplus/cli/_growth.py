"""The options of verbs that predict nodes which came later, and the grown graph that these options mean."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grandplus.pipeline.folders import DATA
from grandplus.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from grandplus.datasets.source import Reading
    from grandplus.prediction.predictor import Predictor

OPTIONS = ("--add-nodes", "--add-edges", "--features")
NEW_NODES = "for nodes that came later, run grandplus import NAME --grow NODES EDGES, and then the dataset NAME again"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a verb."""
    group = parser.add_argument_group(
        "nodes and edges that came later", "tables, or files of graphs; no file of the run changes (docs/answers.md)"
    )
    group.add_argument("--add-nodes", type=Path, metavar="FILE", help="table of new nodes: ids and features")
    group.add_argument("--add-edges", type=Path, metavar="FILE", help="table of new edges, of old nodes or new ones")
    group.add_argument(
        "--features", type=Path, metavar="FILE", help="file with the features of the new nodes, if not in their table"
    )


def given_options(arguments: argparse.Namespace) -> list[str]:
    """Those of the options that are given."""
    return [option for option in OPTIONS if getattr(arguments, option.removeprefix("--").replace("-", "_"))]


def load_predictor(arguments: argparse.Namespace, dataset: str | None = None, without_rows: str = "") -> Predictor:
    """The predictor of the last run, on the graph with what the options add; what was added and left out is told.

    Parameters
    ----------
    arguments : argparse.Namespace
    dataset : str, optional
        The one that the models must be of.
    without_rows : str
        What to do if the method of the run has no rows, for nodes of the run; by default as the library says.

    Raises
    ------
    GrandPlusError
        There is no finished run of such a method; or a file can't be read, or doesn't go with the graph.
    """
    from grandplus.prediction.predictor import Predictor, RowsNeededError  # here, as torch takes a second

    try:
        predictor = Predictor.load(DATA, dataset=dataset)
    except RowsNeededError as error:
        error.fix = NEW_NODES if given_options(arguments) else without_rows or error.fix
        raise
    return _on_grown(predictor, arguments) if given_options(arguments) else predictor


def _on_grown(predictor: Predictor, arguments: argparse.Namespace) -> Predictor:
    from grandplus.datasets.growth.files import read_growth

    if arguments.features is not None and arguments.add_nodes is None:
        raise ArgumentError("--features is given without --add-nodes", expected="the table of the new nodes, too")
    files = arguments.add_nodes, arguments.add_edges, arguments.features
    found = read_growth(predictor.stored_graph, *files, _reading(predictor))
    for what, text in found.account.items():
        print(what, text, file=sys.stderr)
    return predictor.on(found.graph)


def _reading(predictor: Predictor) -> Reading | None:
    """How the run's own files were read, if their card is here."""
    from grandplus.pipeline.card import CATALOG, read_card

    file = CATALOG / f"{predictor.models[0].info.get('dataset')}.yaml"
    return read_card(file).source.read if file.is_file() else None
