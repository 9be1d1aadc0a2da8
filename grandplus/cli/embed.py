"""``grandplus embed``: the hidden layer of every node, as a Parquet file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from grandplus.pipeline.folders import DATA


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "embed",
        help="the hidden layer of every node, as a Parquet file",
        description="Write what the last layer of a trained model takes, for every node of the last run: its hidden "
        "layer, or the propagated features ΠX if it has one layer only.",
        epilog="example: grandplus embed --out embeddings.parquet",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="Parquet file to write")
    parser.add_argument("--trial", type=int, default=0, metavar="N", help="trial whose model embeds; default: 0")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write the file, and print what is in it.

    Raises
    ------
    GrandPlusError
        There is no finished run, no such trial, or the method has no hidden layer that sees neighbours.
    """
    from grandplus.prediction.embeddings import embed_run, write_embeddings  # here, as torch takes a second

    graph, embeddings = embed_run(DATA, arguments.trial)
    write_embeddings(arguments.out, graph, embeddings)
    nodes, width = embeddings.shape
    print(f"{arguments.out}: {width} numbers for each of {nodes:,} nodes, by the model of trial {arguments.trial}")
