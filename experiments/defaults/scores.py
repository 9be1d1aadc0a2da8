"""Trials of defaults and of baselines on the graphs, each scored once and kept in a CSV file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.defaults.graphs import Given
from experiments.notes import note_all, read_notes
from grandplus.datasets.preprocess import preprocess
from grandplus.evaluation.baselines.scores import score_baselines
from grandplus.evaluation.orders import suited_order, usual_order
from grandplus.evaluation.suited import suited_top_k, suited_values
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split, Splits
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.card import USUAL_MATRIX
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.rows import Rows
from grandplus.propagation.settings import GFPush

KEY = ("graph", "defaults", "trial")
COLUMNS = (*KEY, "order", "validation", "choosing", "test", "steps", "inputs")
CHOOSING_NODES = 100  # of each class at most, and at most half of those that neither train nor validate
Row = dict[str, Any]


@dataclass(frozen=True)
class Defaults:
    """Settings for a graph that nobody has tuned them for.

    Attributes
    ----------
    name : str
    order : {"usual", "suited"}
        N of avg: 4, or what `suited_order` finds.
    weight_decay : float or "usual"
        Times what `suited_values` finds.
    confidence : {"usual", "suited"}
        γ: 2 / C, or what `suited_values` finds.
    gfpush, train : dict
        Further changes.
    """

    name: str
    order: Literal["usual", "suited"] = "suited"
    weight_decay: Literal["usual"] | float = 1.0
    confidence: Literal["usual", "suited"] = "usual"
    gfpush: dict[str, Any] = field(default_factory=dict)
    train: dict[str, Any] = field(default_factory=dict)

    def of(self, graph: Graph, split: Split) -> tuple[int, GFPush, Settings]:
        """N, and the settings for a graph."""
        push = GFPush(**{"top_k": suited_top_k(graph)} | self.gfpush)
        order = suited_order(graph, split, USUAL_MATRIX, push) if self.order == "suited" else usual_order(USUAL_MATRIX)
        suited = suited_values(graph, split, order)
        if self.weight_decay == "usual":
            suited.pop("weight_decay")
        else:
            suited["weight_decay"] *= self.weight_decay
        if self.confidence == "usual":
            suited.pop("confidence")
        return order, push, Settings(**(suited | self.train))


class Loaded:
    """A graph with the splits of its trials, and what its trials share."""

    def __init__(self, given: Given, folder: Path, trials: int, *, choosing: bool) -> None:
        raw, settings = given.load(folder)
        self.name, self.choosing = given.name, choosing
        self.graph, self.splits = preprocess(raw, settings, seed=0, trials=trials, name=given.name)
        digest = hashlib.sha256(self.graph.adjacency.fingerprint.encode())
        digest.update(self.graph.labels.tobytes())
        digest.update(settings.model_dump_json().encode())
        self.inputs = digest.hexdigest()[:12]
        self._settings: dict[str, tuple[int, GFPush, Settings]] = {}
        self._rows: dict[tuple[int, GFPush], Rows] = {}

    def split(self, trial: int) -> tuple[Split, NDArray[np.int64]]:
        """The split of a trial, and nodes that are neither trained on nor tested, to choose by."""
        return choosing_nodes(self.splits, trial, self.graph.labels, choosing=self.choosing)

    def settings(self, defaults: Defaults) -> tuple[int, GFPush, Settings]:
        """N, and the settings, which are the same for all trials."""
        if defaults.name not in self._settings:
            self._settings[defaults.name] = defaults.of(self.graph, self.split(0)[0])
        return self._settings[defaults.name]

    def inputs_of(self, defaults: Defaults) -> str:
        """A digest of all that a score depends on, but for the code."""
        order, push, settings = self.settings(defaults)
        used = [self.inputs, order, push.model_dump(exclude_defaults=True), settings.model_dump(exclude_defaults=True)]
        return hashlib.sha256(json.dumps(used).encode()).hexdigest()[:12]

    def score(self, defaults: Defaults, trial: int) -> Row:
        """Train a trial, and score it."""
        torch.set_num_threads(1)
        split, choosing = self.split(trial)
        order, push, settings = self.settings(defaults)
        key = order, push
        if key not in self._rows:
            weights, nodes = propagation_weights(USUAL_MATRIX, order=order), self.splits.needing_rows()
            rows = gfpush(self.graph, nodes, weights=weights, rmax=push.rmax, top_k=push.top_k, matrix=USUAL_MATRIX)
            self._rows = {key: rows}  # of one matrix at a time
        seen = np.full_like(self.graph.labels, -1)
        for nodes in (split.train, split.val):
            seen[nodes] = self.graph.labels[nodes]
        trained = fit(Task(replace(self.graph, labels=seen), split, self._rows[key], seed=[0, trial]), settings)
        right = trained.model.predict_proba(self.graph).argmax(axis=1) == self.graph.labels
        return {
            "graph": self.name,
            "defaults": defaults.name,
            "trial": trial,
            "order": order,
            "validation": round(trained.model.info["val_accuracy"], 4),
            "choosing": _mean(right[choosing]),
            "test": _mean(right[split.test]),
            "steps": trained.model.info["steps"],
            "inputs": self.inputs_of(defaults),
        }

    def score_baselines(self, defaults: Defaults, trials: int) -> Iterator[Row]:
        """Every baseline on every split, with Π as these defaults have it."""
        order, push, _ = self.settings(defaults)
        parts = [self.split(trial) for trial in range(trials)]
        weights = propagation_weights(USUAL_MATRIX, order=order)
        scores = score_baselines(
            self.graph, [split for split, _ in parts], weights=weights, rmax=push.rmax, top_k=push.top_k
        )
        for score in scores:
            yield {
                "graph": self.name,
                "defaults": score.baseline,
                "trial": score.trial,
                "order": order,
                "validation": _rounded(score.val_accuracy),
                "choosing": None,
                "test": _rounded(score.test_accuracy),
                "steps": 0,
                "inputs": self.inputs_of(defaults),
            }


def choosing_nodes(
    splits: Splits, trial: int, labels: NDArray[np.int64], *, choosing: bool
) -> tuple[Split, NDArray[np.int64]]:
    """Set nodes of each class aside to choose by, which are test nodes no longer.

    Parameters
    ----------
    splits : Splits
    trial : int
    labels : int64 (n,)
    choosing : bool
        Whether any are.

    Returns
    -------
    Split
        The split of the trial.
    int64 array
        Sorted.
    """
    split = splits.of(trial)
    if not choosing:
        return split, np.zeros(0, np.int64)
    rng = np.random.default_rng([trial, len(labels)])
    parts = []
    for label in np.unique(labels[split.test]):
        members = rng.permutation(split.test[labels[split.test] == label])
        parts.append(members[: min(CHOOSING_NODES, len(members) // 2)])
    aside = np.sort(np.concatenate(parts))
    return replace(split, test=np.setdiff1d(split.test, aside)), aside


def read_rows(file: Path) -> list[Row]:
    """The whole lines of the file; one that a kill has cut short is left out."""
    rows: list[Row] = [dict(row) for row in read_notes(file)]
    for row in rows:
        row |= {name: int(row[name]) for name in ("trial", "order", "steps")}
        row |= {name: float(row[name]) if row[name] else None for name in ("validation", "choosing", "test")}
    return rows


def keep(file: Path, rows: Iterable[Row]) -> None:
    """Add rows to the file, each in place of an earlier one of the same trial."""
    note_all(file, rows, KEY, COLUMNS)


def _mean(right: NDArray[np.bool_]) -> float | None:
    return round(float(right.mean()), 4) if len(right) else None


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
