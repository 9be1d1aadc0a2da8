"""``grandplus import``: write the card of your own graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grandplus.datasets.source import Reading
from grandplus.graph.settings import Preprocess
from grandplus.runtime.validation import checked_as

if TYPE_CHECKING:
    from grandplus.importing.files import Choices

COLUMN = "COLUMN"


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("import", help="the card of your own graph, from its files")
    parser.add_argument("name", help="name of the dataset, and of its card in data/catalog")
    parser.add_argument("files", nargs="+", type=Path, metavar="file", help="its files (docs/own-graph.md)")
    parser.add_argument("--format", help="format of the files, where it isn't clear from them")
    parser.add_argument("--features", help=f"what to do with features, or what stands for them: {_values('features')}")
    tables = parser.add_argument_group("tables", "a column is its name, or its number from 1")
    tables.add_argument("--edges", help="name of the file with the edges")
    tables.add_argument("--nodes", help="name of the file with the labels")
    tables.add_argument("--ends", type=_column, nargs=2, metavar=COLUMN, help="columns with the two ends of an edge")
    tables.add_argument("--id", type=_column, metavar=COLUMN, help="column with the ids of the nodes")
    tables.add_argument("--label", type=_column, metavar=COLUMN, help="column with the classes; of GML, the attribute")
    tables.add_argument(
        "--ignore", type=_column, metavar=COLUMN, action="append", help="column that is no feature; may be repeated"
    )
    tables.add_argument("--weights", help="ignore: all columns of edges but their ends are left out")
    splits = parser.add_argument_group("split")
    splits.add_argument("--split", help=_values("split"))
    for part in ("train", "val", "test"):
        splits.add_argument(
            f"--{part}", type=Path, metavar="FILE", help=f"file with the ids of the {part} nodes, one a line"
        )
    splits.add_argument("--train-per-class", help=f"default: {_default('train_per_class')}")
    splits.add_argument("--val-per-class", help=f"default: {_default('val_per_class')}")
    splits.add_argument("--shortage", help=f"{_values('shortage')}, where a class has fewer nodes")
    parser.add_argument("--replace", action="store_true", help="overwrite a card of this name")
    parser.set_defaults(run=run)


def _values(key: str) -> str:
    """What a setting may be, for the help."""
    return " | ".join(Preprocess.model_fields[key].annotation.__args__)  # type: ignore[union-attr]


def _default(key: str) -> int:
    return int(Preprocess.model_fields[key].default)


def _column(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def run(arguments: argparse.Namespace) -> None:
    """Look at the files, write the card, and print what was understood.

    Raises
    ------
    GrandPlusError
        The files can't be understood, or no run on them could work.
    """
    from grandplus.importing.files import import_files

    lists = _lists_of_ids(arguments)
    text = import_files(
        arguments.name,
        [*arguments.files, *lists.values()],
        read=_reading(arguments, lists),
        file_format=arguments.format,
        choices=_choices(arguments),
        replace=arguments.replace,
    )
    print(text)


def _lists_of_ids(arguments: argparse.Namespace) -> dict[str, Path]:
    """The files that list the nodes of a part, by part."""
    lists = {"train": arguments.train, "val": arguments.val, "test": arguments.test}
    return {part: file for part, file in lists.items() if file is not None}


def _reading(arguments: argparse.Namespace, lists: dict[str, Path]) -> Reading:
    """How the files are to be read."""
    given = {
        "edges": arguments.edges,
        "nodes": arguments.nodes,
        "ends": arguments.ends,
        "id": arguments.id,
        "label": arguments.label,
        "ignore": arguments.ignore or [],
        "weights": arguments.weights,
        **{part: file.name for part, file in lists.items()},
    }
    reading: Reading = checked_as(Reading, given, where="import")
    return reading


def _choices(arguments: argparse.Namespace) -> Choices:
    from grandplus.importing.files import Choices

    return Choices(
        features=arguments.features,
        split=arguments.split,
        train_per_class=arguments.train_per_class,
        val_per_class=arguments.val_per_class,
        shortage=arguments.shortage,
    )
