"""The same graphs after ``grandplus tune``: the column "after tune" of the table.

    python -m experiments.defaults.tuned --files FOLDER [GRAPH ...]
    python -m experiments.defaults --files FOLDER --tuned experiments/defaults/tuned.csv

Tunes the card that an import would write, and scores the card that tuning would write, trial by trial, as a run would.
Resumable: a graph that tuned.csv has is left as it is. By default all graphs, the unseen half first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.defaults.graphs import CHOOSING, SHOWN, Given
from experiments.defaults.scores import choosing_nodes
from experiments.notes import note_all, read_notes
from grandplus.datasets.preprocess import preprocess
from grandplus.evaluation.orders import FAMILIES, suited_order
from grandplus.evaluation.suited import suited_to_features, suited_top_k
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.importing.card import card_text
from grandplus.methods.fitting import fit
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.card import USUAL_MATRIX, checked_card
from grandplus.pipeline.ending import ending
from grandplus.pipeline.yaml_files import yaml_mapping
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime import environment
from grandplus.tuning import tuner
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.portfolio import Change

FILE = Path(__file__).parent / "tuned.csv"
COLUMNS = ("graph", "trial", "settings", "validation", "test", "gain", "seconds")


class Imported:
    """A graph with the card that an import writes for it."""

    def __init__(self, given: Given, files: Path, folder: Path) -> None:
        self._raw, self._preprocess = given.load(files)
        self._folder, self._folders = folder, dict[Preprocess, Path]()
        graph, splits = self._loaded(self._preprocess)
        push = GFPush(top_k=suited_top_k(graph))
        orders = {matrix: suited_order(graph, splits.of(0), matrix, push) for matrix in FAMILIES}
        source = {"format": "edges-npz", "files": {"graph.npz": None}, "places": [{"mirror": "GRANDPLUS_MIRROR"}]}
        expect = {"nodes": 1, "edges": 1, "classes": 2, "features": None}
        text = card_text(given.name, source, self._preprocess, graph, splits.of(0), expect, orders)
        self._card = checked_card(yaml_mapping(text, given.name), given.name)

    def candidate(self, change: Change) -> Candidate:
        """The card's settings with a change."""
        scaled = self._preprocess.model_copy(update={"features": change.get("features", self._preprocess.features)})
        if "features" in change:
            change = change | suited_to_features(self._loaded(scaled)[0]) | change
        matrix = change.get("matrix", USUAL_MATRIX)
        own = parameters(MATRICES[matrix])
        push = self._card.overrides("gfpush", matrix) | _of({*GFPush.model_fields, *own}, change)
        train = self._card.overrides("train", matrix) | _of(set(Settings.model_fields), change)
        of_matrix = {key: push.pop(key) for key in own if key in push}
        return Candidate(scaled, MATRICES[matrix](**of_matrix), GFPush(**push), Settings(**train), change)

    def graph(self, candidate: Candidate) -> Path:
        """The folder of its graph and splits."""
        settings = candidate.preprocess
        if settings not in self._folders:
            graph, splits = preprocess(self._raw, settings, seed=0, trials=tuner.TRIALS)
            self._folders[settings] = self._folder / f"graph-{len(self._folders)}"
            self._folders[settings].mkdir()
            graph.save(self._folders[settings])
            splits.save(self._folders[settings])
        return self._folders[settings]

    def _loaded(self, settings: Preprocess) -> tuple[Graph, Splits]:
        any_settings: Any = None
        folder = self.graph(Candidate(settings, any_settings, any_settings, any_settings))
        return Graph.load(folder), Splits.load(folder)


def _of(keys: set[str], change: Change) -> Change:
    return {key: value for key, value in change.items() if key in keys}


def rows_of(given: Given, files: Path, *, choosing: bool) -> list[dict[str, Any]]:
    """Tune a graph, and score what was found in each trial."""
    with tempfile.TemporaryDirectory() as name:
        begun, folder = time.monotonic(), Path(name)
        imported = Imported(given, files, folder)
        outcome = tuner.tune(imported, folder / "tuned", workers=environment.workers(), name=given.name)
        seconds = time.monotonic() - begun
        print(given.name, outcome, outcome.gained(), f"{seconds:.0f} s", sep="\n", flush=True)
        chosen = outcome.candidates[outcome.winner]
        graph, splits = Graph.load(imported.graph(chosen)), Splits.load(imported.graph(chosen))
        push, weights = chosen.gfpush, chosen.matrix.weights()
        pushed = gfpush(graph, splits.needing_rows(), weights=weights, rmax=push.rmax, top_k=push.top_k)
        rows = []
        for trial in range(tuner.TRIALS):
            split, _ = choosing_nodes(splits, trial, graph.labels, choosing=choosing)
            seen = np.full_like(graph.labels, -1)
            for nodes in (split.train, split.val):
                seen[nodes] = graph.labels[nodes]
            trained = fit(Task(replace(graph, labels=seen), split, pushed, seed=[0, trial]), chosen.train)
            right = trained.model.predict_proba(graph).argmax(axis=1) == graph.labels
            scores = {part: round(float(right[getattr(split, part)].mean()), 4) for part in ("val", "test")}
            rows.append(
                {
                    "graph": given.name,
                    "trial": trial,
                    "settings": str(chosen),
                    "validation": scores["val"],
                    "test": scores["test"],
                    "gain": round(outcome.after - outcome.before, 4),
                    "seconds": round(seconds),
                }
            )
        return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, required=True, metavar="FOLDER", help="with cases/ and graphdata/")
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help="names; by default all of them")
    arguments = parser.parse_args()
    return ending(lambda: make(arguments.files, arguments.graphs))


def make(files: Path, names: list[str]) -> None:
    """Add the graphs that the file lacks, or has not all trials of."""
    torch.set_num_threads(1)
    known = Counter(row["graph"] for row in read_notes(FILE))
    for given, choosing in [*((given, False) for given in SHOWN), *((given, True) for given in CHOOSING)]:
        missing = known[given.name] < tuner.TRIALS
        if missing and given.present(files) and given.name in (names or [given.name]):
            note_all(FILE, rows_of(given, files, choosing=choosing), COLUMNS[:2], COLUMNS)


if __name__ == "__main__":
    raise SystemExit(main())
