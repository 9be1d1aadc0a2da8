"""``grandplus import``: write the card of your own graph."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grandplus.datasets.source import NO_IDS, Reading
from grandplus.graph.settings import Preprocess
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.sizes import counted
from grandplus.runtime.validation import checked_as

if TYPE_CHECKING:
    from grandplus.importing.files import Choices

COLUMN = "COLUMN"
OPTIONS = "import"  # what an error says that it was found in, if that are the options
_KEYS = "|".join({*Preprocess.model_fields, *Reading.model_fields} - {"unlabelled"})  # which have an option
_KEY_AT_START = re.compile(rf"^({_KEYS})\b(?:\.\d+)?")  # ends.0: the first value of --ends
_KEY_OF_CARD = re.compile(rf"\b(?:preprocess|source\.read)\.({_KEYS})\b")
_IN_BRACKETS = re.compile(r" \([^()]*(?:in the card|import --)[^()]*\)")  # the other of the two names


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser("import", help="the card of your own graph, made from its files")
    parser.add_argument("name", help="name of the dataset, and of its card in data/catalog")
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="file",
        help="file of the graph, or a folder or zip archive with its files (docs/own-graph.md lists the formats)",
    )
    words = (
        "the two files are nodes and edges that came later, as in import NAME --grow nodes.csv edges.csv: the dataset "
    )
    words += "gets a new version with them, and all choices of its card stay (docs/answers.md)"
    parser.add_argument("--grow", action="store_true", help=words)
    add_reading(parser)
    splits = parser.add_argument_group("split")
    splits.add_argument("--split", metavar="KIND", help=f"way of splitting the nodes: {_values('split')}")
    for part, purpose in (("train", "train on"), ("val", "validate on"), ("test", "test on")):
        words = f"file that holds the ids of the nodes to {purpose}, one a line"
        splits.add_argument(f"--{part}", type=Path, metavar="FILE", help=words)
    for part, purpose in (("train", "train on"), ("val", "validate on")):
        words = f"number of nodes of each class to {purpose}; default: {_default(f'{part}_per_class')}"
        splits.add_argument(f"--{part}-per-class", metavar="NUMBER", help=words)
    words = f"what to do where a class has fewer nodes: {_values('shortage')}"
    splits.add_argument("--shortage", metavar="KIND", help=words)
    parser.add_argument("--replace", action="store_true", help="overwrite the card of this name, if there is one")
    words = "refuse to drop, merge or leave out anything that no option names"
    parser.add_argument("--strict", action="store_true", help=words)
    parser.set_defaults(run=run, experiment_follows=True)


def add_reading(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    """Add the options that say how files are read; returns their names."""
    tables = parser.add_argument_group("tables", "a column is its name, or its number from 1")
    actions = [
        parser.add_argument("--format", help="format of the files, where they leave it open"),
        parser.add_argument(
            "--features",
            metavar="KIND",
            help=f"scaling of the features, or what is made from the graph: {_values('features')}; "
            "with import --grow, the file with the features of the new nodes, if they are not in their table",
        ),
        parser.add_argument(
            "--direction",
            metavar="KIND",
            help="which edges of a node count: all, those that start at it or those that end at it: "
            f"{_values('direction')}",
        ),
        tables.add_argument("--edges", metavar="NAME", help="name of the file, or variable, that holds the edges"),
        tables.add_argument("--nodes", metavar="NAME", help="name of the file that holds the labels"),
        tables.add_argument(
            "--ends", type=_column, nargs=2, metavar=COLUMN, help="columns that hold the two ends of an edge"
        ),
        tables.add_argument(
            "--id",
            type=_column,
            metavar=COLUMN,
            help=f"column that holds the ids of the nodes, or {NO_IDS}, if line i has the label of node i, from 0",
        ),
        tables.add_argument(
            "--label",
            type=_column,
            metavar=COLUMN,
            help="name of the column, attribute or variable that holds the class",
        ),
        tables.add_argument(
            "--header", metavar="yes|no", help="whether the first line is a header, where the ids leave it open"
        ),
        tables.add_argument(
            "--ignore",
            type=_column,
            metavar=COLUMN,
            action="append",
            help="column that is no feature; the option may be repeated",
        ),
        tables.add_argument(
            "--na",
            metavar="VALUE",
            action="append",
            help="label that means unknown, in place of the usual ones; the option may be repeated",
        ),
        tables.add_argument(
            "--decimal",
            metavar="MARK",
            help="mark before the fraction of a number, '.' or ','; default: what the cells show",
        ),
        tables.add_argument(
            "--weights",
            metavar="use|ignore",
            help="whether a walk follows edges by their share of weight, or every edge counts once",
        ),
        tables.add_argument(
            "--weight",
            type=_column,
            metavar=COLUMN,
            help="column or attribute of edges that holds the weights; default: by its name, or the only one",
        ),
    ]
    return tuple(action.dest for action in actions)


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

    if arguments.grow:
        print(_grown(arguments))
        return
    lists = _lists_of_ids(arguments)
    with errors_name_options():
        text = import_files(
            arguments.name,
            [*arguments.files, *lists.values()],
            read=reading_of(arguments, lists),
            file_format=arguments.format,
            choices=_choices(arguments),
            replace=arguments.replace,
            strict=arguments.strict,
        )
    print(text)


def _grown(arguments: argparse.Namespace) -> str:
    """A new version of a dataset, for which no option but those of the files makes sense."""
    from grandplus.importing.files import Choices
    from grandplus.importing.grow import grow_dataset

    choices = {"format", "replace", "strict", *Reading.model_fields, *Choices.__dataclass_fields__}
    for key in sorted(choices - {"features"}):
        if getattr(arguments, key, None):
            expected = "--features alone beside it, as the card keeps its choices"
            raise ArgumentError(f"--{key.replace('_', '-')} is given with --grow", expected=expected)
    if len(arguments.files) != 2:
        files = counted(len(arguments.files), "file is", "files are")
        raise ArgumentError(f"{files} given with --grow", expected="two, of nodes and of edges, in this order")
    nodes, edges = arguments.files
    return grow_dataset(arguments.name, nodes, edges, None if arguments.features is None else Path(arguments.features))


@contextlib.contextmanager
def errors_name_options() -> Iterator[None]:
    """An error in this block names what the user can type, where the library names a key of the card."""
    try:
        yield
    except GrandPlusError as error:
        if error.where == OPTIONS:
            error.where, error.found = "", _KEY_AT_START.sub(_option, error.found)
        for part in ("found", "expected", "fix"):
            text = _IN_BRACKETS.sub("", getattr(error, part))
            setattr(error, part, _KEY_OF_CARD.sub(_option, text))
        raise


def _option(key: re.Match[str]) -> str:
    return f"--{key[1].replace('_', '-')}"


def _lists_of_ids(arguments: argparse.Namespace) -> dict[str, Path]:
    """The files that list the nodes of a part, by part."""
    lists = {"train": arguments.train, "val": arguments.val, "test": arguments.test}
    return {part: file for part, file in lists.items() if file is not None}


def reading_of(arguments: argparse.Namespace, lists: dict[str, Path]) -> Reading:
    """How the files are to be read; ``lists`` has those of ids, by part."""
    given = {
        "edges": _file_name(arguments.edges, arguments.files),
        "nodes": _file_name(arguments.nodes, arguments.files),
        "ends": arguments.ends,
        "id": arguments.id,
        "label": arguments.label,
        "header": arguments.header,
        "ignore": arguments.ignore or [],
        "na": arguments.na,
        "decimal": arguments.decimal,
        "weights": arguments.weights,
        "weight": arguments.weight,
        **{part: file.name for part, file in lists.items()},
    }
    reading: Reading = checked_as(Reading, given, where=OPTIONS)
    return reading


def _file_name(said: str | None, files: list[Path]) -> str | None:
    """What the import calls a file, if its path is said in place of its name."""
    from grandplus.importing.gather import origins_of

    if said is None or os.path.basename(said) == said:
        return said
    names = {os.path.abspath(path): name for name, path in origins_of(files).items()}
    return names.get(os.path.abspath(said), said)


def _choices(arguments: argparse.Namespace) -> Choices:
    from grandplus.importing.files import Choices

    return Choices(
        features=arguments.features,
        direction=arguments.direction,
        split=arguments.split,
        train_per_class=arguments.train_per_class,
        val_per_class=arguments.val_per_class,
        shortage=arguments.shortage,
    )
