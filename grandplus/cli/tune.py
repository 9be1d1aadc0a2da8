"""``grandplus tune``: choose settings for your graph on validation nodes, in minutes.

Compares up to 29 settings: first matrix, order and k, then, with the best of these, weight decay, layers, dropout and
the scaling of features. Each is trained for a short time with two seeds. Then the best three and the card's own
settings are trained in full. The card's own settings stay if none is better by more than noise. Test labels are not
looked at. What is finished is kept, so tuning that is interrupted goes on from there. Writes a card,
data/catalog/<dataset>-tuned.yaml, and prints how to run it.
"""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    parser = commands.add_parser(
        "tune",
        help="choose settings for your graph on validation nodes, in minutes",
        description="\n\n".join((__doc__ or "").split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dataset", help="name of a card in data/catalog")
    parser.set_defaults(run=run, experiment_follows=True)


def run(arguments: argparse.Namespace) -> None:
    """Tune, write the card, and print what was found.

    Raises
    ------
    GrandPlusError
        The graph can't be had, or nothing can be trained on it.
    """
    from grandplus.search.portfolio import tune  # here, as torch takes seconds

    tune(arguments.dataset)
