"""``grandplus search``: search for hyperparameters on validation nodes.

The search of the paper's appendix: first the network, then the propagation, each candidate by three seeds. Takes the
highest mean validation accuracy; test labels are not looked at. Every training is kept as soon as it is done, so a
search that is interrupted goes on from there. Trains as many at once as GRANDPLUS_WORKERS says. Writes the winner as
a card, data/catalog/<dataset>-<matrix>-tuned.yaml, and the history into experiments/search/<dataset>-<matrix>.
A card of an earlier search stays if it had more of the same validation nodes right.
Of another method than GRAND+ it searches the network alone, and the method's name stands in place of the matrix.
"""

from __future__ import annotations

import argparse
from typing import Any

from grandplus.methods.registry import check_method
from grandplus.pipeline.card import USUAL_MATRIX
from grandplus.propagation.matrices import MATRICES, parameters

TRIALS = {"network": 16, "propagation": 24}  # of each stage


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    tunable = [name for name, family in MATRICES.items() if not any(parameters(family).values())]
    parser = commands.add_parser(
        "search",
        help="search for hyperparameters on validation nodes",
        description="\n\n".join((__doc__ or "").split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dataset", help="name of a card in data/catalog")
    parser.add_argument("--matrix", choices=tunable, help=f"matrix to tune; default: {USUAL_MATRIX}")
    parser.add_argument("--model", default="grandplus", help="method to tune; default: grandplus")
    for stage, usual in TRIALS.items():
        words = f"number of candidates for the {stage}; default: {usual}"
        parser.add_argument(f"--{stage}", type=int, metavar="TRIALS", help=words)
    parser.set_defaults(run=run, experiment_follows=True)


def run(arguments: argparse.Namespace) -> None:
    """Search, and write what was found.

    Raises
    ------
    GrandPlusError
        The search can't be run, or an option has no effect.
    """
    from grandplus.pipeline.cases import Case
    from grandplus.search.run import search  # here, as torch and Optuna take seconds
    from grandplus.search.space import check_effect

    check_method(arguments.model, "--model")
    usual = {"matrix": USUAL_MATRIX} | TRIALS
    given = {option: value for option in usual if (value := getattr(arguments, option)) is not None}
    check_effect(given, Case(arguments.dataset, USUAL_MATRIX, model=arguments.model))
    trials = usual | given
    search(arguments.dataset, trials.pop("matrix"), trials, arguments.model)
