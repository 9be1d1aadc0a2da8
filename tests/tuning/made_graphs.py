"""Graphs of which it is known what a good setting must do, in a folder each, with the splits of tuning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.settings import Preprocess
from grandplus.methods.grandplus.settings import Settings
from grandplus.propagation.matrices import MATRICES
from grandplus.propagation.settings import GFPush
from grandplus.tuning import tuner
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.portfolio import Change

CLASSES = 3
SPLIT = Preprocess(features="as-is", split="per-class", train_per_class=10, val_per_class=30)
SHORT = {"max_epochs": 60, "warmup": 0, "dropout_input": 0.0, "hidden": 16, "weight_decay": 1e-4}


def made(*, homophily: float, noise: float, nodes: int = 360, degree: int = 8, seed: int = 0) -> RawGraph:
    """A graph whose edges join nodes of one class with a probability, with as much noise in its features."""
    rng = np.random.default_rng(seed)
    labels = np.arange(nodes) % CLASSES
    ends = rng.integers(nodes, size=nodes * degree // 2)
    shift = np.where(rng.random(len(ends)) < homophily, 0, rng.integers(1, CLASSES, len(ends)))
    others = (rng.integers(nodes // CLASSES, size=len(ends)) * CLASSES + (labels[ends] + shift) % CLASSES) % nodes
    features = np.eye(CLASSES)[labels] + noise * rng.standard_normal((nodes, CLASSES))
    return RawGraph(
        edges=np.stack([ends, others]),
        nodes=nodes,
        features=features.astype(np.float32),
        labels=labels,
        classes=[f"class {number}" for number in range(CLASSES)],
        node_ids=np.arange(nodes),
        splits=[],
    )


def saved(raw: RawGraph, folder: Path, test_labels: int | None = None) -> Path:
    """The graph and its splits in a folder; all labels but those of training and validation may be another one."""
    graph, splits = preprocess(raw, SPLIT, seed=0, trials=tuner.TRIALS)
    if test_labels is not None:
        seen = np.zeros(raw.nodes, bool)
        for trial in range(tuner.TRIALS):
            split = splits.of(trial)
            seen[split.train] = seen[split.val] = True
        graph = replace(graph, labels=np.where(seen, graph.labels, test_labels))
    folder.mkdir(parents=True)
    graph.save(folder)
    splits.save(folder)
    return folder


@dataclass(frozen=True)
class Saved:
    """A graph in a folder, which is tuned for short trainings."""

    folder: Path

    def candidate(self, change: Change) -> Candidate:
        values: dict[str, Any] = SHORT | {key: value for key, value in change.items() if key in Settings.model_fields}
        of_matrix = {key: change[key] for key in ("order", "alpha") if key in change}
        push = GFPush(**{key: change[key] for key in GFPush.model_fields if key in change})
        return Candidate(SPLIT, MATRICES[change.get("matrix", "avg")](**of_matrix), push, Settings(**values), change)

    def graph(self, candidate: Candidate) -> Path:
        return self.folder
