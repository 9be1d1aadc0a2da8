"""``grandplus suggest``: the nodes to label next, as a table and as a list of ids."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grandplus.cli.import_ import add_reading, errors_name_options, reading_of
from grandplus.pipeline.folders import GRAPH, PREDICTIONS
from grandplus.report.table import table
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.storage import finished_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grandplus.graph.graph import Graph
    from grandplus.suggestion.suggest import Suggestions

EXAMPLE = """example:
  grandplus suggest 50 edges.csv nodes.csv --out first.txt    of files that have no label yet
  grandplus suggest 50 --out next.txt                         of the graph in data/graph, after a run on it
  grandplus suggest 50 --labelled next.txt --out more.txt     50 more, while those are being labelled"""


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "suggest",
        help="the nodes to label next",
        description="Name the nodes whose labels would help most: representatives of the graph in data/graph, or of "
        "the files, and after a run of the nodes that are predicted unsurely. Nodes with a label are left out.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("number", type=int, help="how many nodes you can label")
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="file",
        help="file of a graph that isn't imported yet, as import takes it; labels may be missing",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the ids here, one a line, as import --train takes them"
    )
    parser.add_argument(
        "--labelled",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="list of ids, as --out writes it, that will be labelled too: they count as labelled; may be repeated",
    )
    parser.set_defaults(run=run, reading=add_reading(parser))


def run(arguments: argparse.Namespace) -> None:
    """Print the nodes, the most helpful first, and write their list.

    Raises
    ------
    GrandPlusError
        There is no graph, a list can't be read or names a node that the graph lacks, no node is without a label, or
        the file is there already.
    """
    from grandplus.graph.graph import Graph  # here, as these take a second
    from grandplus.prediction.predictions import read_probabilities
    from grandplus.suggestion.suggest import suggest

    _check_new(arguments.out)
    _check_reading(arguments)
    graph = _graph_of_files(arguments) if arguments.files else Graph.load(GRAPH)
    probabilities = None if arguments.files else read_probabilities(PREDICTIONS, graph)
    labelled = _labelled(graph, arguments.labelled)
    left = len(graph.labels) - len(labelled)
    if not left:
        all_nodes = f"all {len(labelled):,} nodes have a label{' or are listed' if arguments.labelled else ''}"
        raise GrandPlusError(
            all_nodes, where="" if arguments.files else GRAPH, expected="nodes without one, to choose among"
        )
    found = suggest(graph, graph.features, arguments.number, labelled=labelled, probabilities=probabilities)
    if arguments.out:
        with finished_whole(arguments.out, alone=True) as partial:
            partial.write_text("".join(f"{graph.node_ids[node]}\n" for node in found.node), encoding="utf-8")
    print(_head(len(found.node), left, arguments.number, after_run=probabilities is not None))
    print(table(_lines(graph, found, probabilities)))
    if not found.score.any():
        print(
            "every score is 0: these nodes are like labelled ones, or predicted with certainty; the order says nothing"
        )
    if arguments.out:
        print(f"the ids are in {arguments.out}, for grandplus import --train")


def _graph_of_files(arguments: argparse.Namespace) -> Graph:
    from grandplus.importing.files import graph_of_files

    with errors_name_options():
        read = reading_of(arguments, {})
        graph, unused = graph_of_files(
            arguments.files,
            read=read,
            file_format=arguments.format,
            features=arguments.features,
            direction=arguments.direction,
        )
    if unused:
        print(f"not used: {', '.join(unused)}", file=sys.stderr)
    return graph


def _check_new(file: Path | None) -> None:
    """Check that the list can be written: another one may be what is being labelled."""
    if file is not None and file.exists():
        raise GrandPlusError("is there already", where=file, fix="choose another name, or remove it first")
    if file is not None and not file.parent.is_dir():
        raise GrandPlusError("no such folder", where=file.parent, fix="make it, or choose another one")


def _check_reading(arguments: argparse.Namespace) -> None:
    given = [name for name in arguments.reading if getattr(arguments, name)]
    if given and not arguments.files:
        raise ArgumentError(f"--{given[0]} is given without a file", expected="it beside files that are to be read")


def _labelled(graph: Graph, lists: list[Path]) -> NDArray[np.int64]:
    from grandplus.graph.ids import read_ids, rows_of, without_header

    known = np.asarray(graph.labels) >= 0
    for file in lists:
        ids = without_header(read_ids(str(file)), graph.node_ids)
        try:
            known[rows_of(graph.node_ids, ids)] = True
        except GrandPlusError as error:
            raise error.at(file) from None
    return np.flatnonzero(known)


def _head(count: int, left: int, asked: int, *, after_run: bool) -> str:
    nodes = f"{count:,} of {left:,} nodes without a label" if left > count else f"all {left:,} nodes without a label"
    fewer = f", fewer than {asked:,}" if count < asked else ""
    by = "edges, features and the last run's predictions" if after_run else "edges and features"
    return f"{nodes}{fewer}, the most helpful first, by {by}"


def _lines(graph: Graph, found: Suggestions, probabilities: NDArray[np.float32] | None) -> list[dict[str, str]]:
    lines = [
        {"node": str(graph.node_ids[node]), "score": f"{score:.4f}", "stands for": f"{count:,}"}
        for node, score, count in zip(found.node, found.score, found.stands_for, strict=True)
    ]
    if probabilities is None:
        return lines
    of_nodes = probabilities[found.node]
    predicted = [
        {"predicted": graph.classes[number], "confidence": f"{confidence:.4f}"}
        for number, confidence in zip(of_nodes.argmax(axis=1), of_nodes.max(axis=1), strict=True)
    ]
    return [line | more for line, more in zip(lines, predicted, strict=True)]
