"""``grandplus datasets``: the graphs that can be chosen, where they come from, and the best committed results."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grandplus.pipeline.catalog import Best, Listed

FORMATS = ("text", "tsv", "csv", "json")
DELIMITERS = {"tsv": "\t", "csv": ","}


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "datasets",
        help="the graphs of the catalog, and the best committed results",
        description="List the cards in data/catalog: size, edge homophily (where it is committed, or the graph is that "
        "of the last run), whether the files are on this machine, source, licence, and the best committed result. The "
        "settings of that are chosen by validation accuracy; shown is test accuracy.",
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the output; default: text")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print a line for each card.

    Raises
    ------
    GrandPlusError
        A card is wrong.
    """
    from grandplus.pipeline.catalog import list_cards  # here, as it takes a second
    from grandplus.report.table import table

    cards = list_cards()
    if arguments.format == "text":
        print(table([_as_text(card) for card in cards]))
    elif arguments.format == "json":
        print(json.dumps([_values(card) for card in cards], indent=2, ensure_ascii=False))
    else:
        rows = [_values(card) for card in cards]
        writer = csv.DictWriter(sys.stdout, rows[0], delimiter=DELIMITERS[arguments.format], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _as_text(card: Listed) -> dict[str, str]:
    best = card.best
    return {
        "dataset": card.dataset,
        "nodes": _count(card.nodes),
        "edges": _count(card.edges),
        "classes": _count(card.classes),
        "features": _count(card.features),
        "homophily": "" if card.homophily is None else f"{card.homophily:.2f}",
        "here": "yes" if card.here else "no",
        "source": card.source,
        "licence": card.licence,
        "best test accuracy": "" if best is None else f"{_accuracy(best)} ({best.settings}, {_trials(best)})",
    }


def _values(card: Listed) -> dict[str, Any]:
    """For programs: numbers as they are, and None where something is not known."""
    best = card.best
    values = {key: value for key, value in vars(card).items() if key != "best"}
    return values | {
        "best_test": None if best is None else round(best.test.mean, 6),
        "best_std": None if best is None or best.test.trials < 2 else round(best.test.std, 6),
        "best_trials": None if best is None else best.test.trials,
        "best_settings": None if best is None else best.settings,
        "best_file": None if best is None else best.file,
    }


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _accuracy(best: Best) -> str:
    deviation = f" ± {100 * best.test.std:.2f}" if best.test.trials > 1 else ""
    return f"{100 * best.test.mean:.2f}{deviation} %"


def _trials(best: Best) -> str:
    return f"{best.test.trials} trial{'s' * (best.test.trials > 1)}"
