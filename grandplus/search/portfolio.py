"""Tuning of a card: the portfolio on its graph, and a card with what is best."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from grandplus.evaluation.suited import suited_to_features
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.card import CATALOG, USUAL_MATRIX
from grandplus.pipeline.cases import STORE, Case, check_cpu, graph_folder, inputs_key
from grandplus.pipeline.commands import run_command
from grandplus.pipeline.dependencies import code_of
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.trials import trials_at_once
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime import environment
from grandplus.runtime.storage import digest_of_code, key_of, locked
from grandplus.search.cards import save_card
from grandplus.search.space import changed
from grandplus.tuning import tuner
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.outcome import Outcome
from grandplus.tuning.portfolio import PROPAGATION, TRAINING, Change

_OF_MATRICES = {key for family in MATRICES.values() for key in parameters(family)}


def tune(dataset: str) -> None:
    """Compare the portfolio on a dataset, write the card ``<dataset>-tuned``, and print what was found.

    Parameters
    ----------
    dataset : str
        A card in data/catalog.

    Raises
    ------
    GrandPlusError
        The graph can't be had, or nothing can be trained on it.
    """
    check_cpu()
    begun, own = time.monotonic(), Case(dataset, USUAL_MATRIX)
    own.settings(tuner.TRIALS)  # refused before anything is said, if they are wrong
    print(
        f"tune {dataset}: up to {len(PROPAGATION) + len(TRAINING)} settings are compared on validation nodes",
        flush=True,
    )
    outcome = compared(own)
    name, best = tuned_name(dataset), case_of(own, outcome.change)
    staged = save_card(name, best, f"By grandplus tune {dataset}: {outcome.gained()}.")
    card = CATALOG / f"{name}.yaml"
    print(outcome)
    print(f"{'found':<9} {outcome.gained()}")
    print(f"{'tried':<9} {len(outcome.tried)} settings, {tuner.TRIALS} trials each")
    print(f"{'took':<9} {time.monotonic() - begun:.0f} s")
    print(f"{'card':<9} {card}, {'staged in git' if staged else 'not staged in git: git add it'}")
    cards = f"{CATALOG / f'{dataset}.yaml'} {card}"
    print(f"{'next':<9} git add {cards} && git commit -m 'Dataset {name}' {cards}")
    print(f"{'':<9} {run_command(name, matrix=best.matrix)}")


def case_of(own: Case, change: Change) -> Case:
    """A case with what a line of the portfolio changes.

    Parameters
    ----------
    own : Case
    change : dict
        By the names of the classifier's parameters.

    Examples
    --------
    >>> case_of(Case("cora", "avg"), {"matrix": "single", "order": 4, "layers": 1})
    Case(dataset='cora', matrix='single', changes=(('gfpush.order', 4), ('train.layers', 1)), model='grandplus')
    """
    values: dict[str, Any] = {f"{_section(name)}.{name}": value for name, value in change.items() if name != "matrix"}
    return changed(Case(own.dataset, change.get("matrix", own.matrix), own.changes, own.model), values)


def tuned_name(dataset: str) -> str:
    """The name of the card that tuning writes.

    Parameters
    ----------
    dataset : str

    Examples
    --------
    >>> tuned_name("photo"), tuned_name("photo-tuned"), tuned_name("photo-tuned-2")
    ('photo-tuned', 'photo-tuned-2', 'photo-tuned-3')
    """
    before = re.fullmatch(r"(.+)-tuned(?:-(\d+))?", dataset)
    return f"{before[1]}-tuned-{int(before[2] or 1) + 1}" if before else f"{dataset}-tuned"


def compared(own: Case) -> Outcome:
    """Compare the portfolio on the graph of a case. What is finished is kept, here and for later.

    Parameters
    ----------
    own : Case
        The settings that are tuned.

    Raises
    ------
    GrandPlusError
        The graph can't be had, or nothing can be trained on it.
    """
    settings = own.settings(tuner.TRIALS)
    of_graph = graph_folder(settings)
    graph, split = Graph.load(of_graph), Splits.load(of_graph).of(0)
    at_most = trials_at_once(graph, split, settings)
    code = [code_of(stage, settings) for stage in ("download", "preprocess", "gfpush", "train", "infer")]
    code.append(digest_of_code([Path(tuner.__file__).parent]))
    key = key_of({"inputs": inputs_key(settings, graph), "seed": settings.seed}, " ".join(code))
    folder = STORE.absolute() / f"tune-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        return tuner.tune(
            _OfCard(own),
            folder,
            seed=settings.seed,
            workers=min(environment.workers(), at_most),
            name=f"tune {own.dataset}",
        )


class _OfCard:
    """A card's settings, and its graphs in the store of experiments."""

    def __init__(self, own: Case) -> None:
        self._own = own
        self._settings: dict[str, Settings] = {}

    def candidate(self, change: Change) -> Candidate:
        if "features" in change:  # what suits them is taken with them
            scaled = case_of(self._own, {"features": change["features"]}).settings(tuner.TRIALS)
            change = change | suited_to_features(Graph.load(graph_folder(scaled))) | change
        settings = case_of(self._own, change).settings(tuner.TRIALS)
        candidate = Candidate(settings.preprocess, settings.matrix, settings.gfpush, settings.train, change)
        self._settings[candidate.values()] = settings
        return candidate

    def graph(self, candidate: Candidate) -> Path:
        return graph_folder(self._settings[candidate.values()])


def _section(name: str) -> str:
    if name == "features":
        return "preprocess"
    return "gfpush" if name in _OF_MATRICES or name in GFPush.model_fields else "train"
