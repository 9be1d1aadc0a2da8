"""Runs for tests of the report: real details of made-up predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from project import ROOT

from grandplus.evaluation.baselines.table import BaselineScore
from grandplus.evaluation.details import details, overlap_of
from grandplus.evaluation.summary import summarize
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.methods.registry import settings_of
from grandplus.pipeline.settings import PLAIN, Settings, resolve
from grandplus.propagation.gfpush import gfpush
from grandplus.report.run import Run

NODES = 90
TOOK = {"train": {"seconds": 12.5, "memory": 512}, "infer": {"seconds": 2.5, "memory": 1024}}


def run(name: str, *, trials: int = 5, skill: float = 0.7, classes: int = 3, seed: int = 0, **settings: Any) -> Run:
    """A run whose predictions are right with probability ``skill``; runs of one seed have the same splits."""
    split = {"split": "per-class", "train_per_class": 2, "val_per_class": 3}
    if settings_of(settings.get("model", "grandplus")).NEEDS_ROWS:
        split["unlabelled"] = "all"
    values = {"dataset": "cora", "matrix": "ppr", "preprocess": split} | settings
    resolved = resolve(ROOT, {"trials": trials, "seed": seed, **values})
    return _run(name, resolved.settings, resolved.changed, skill, [f"class {number}" for number in range(classes)])


def _run(name: str, settings: Settings, changed: dict[str, Any], skill: float, classes: list[str]) -> Run:
    with_rows = settings_of(settings.model).NEEDS_ROWS
    rng = np.random.default_rng([settings.seed, round(1000 * skill)])
    shape = np.random.default_rng(0)
    labels = np.arange(NODES) % len(classes)
    adjacency, facts = build_adjacency((NODES * shape.random((2, 3 * NODES)) ** 2).astype(np.int64), NODES)
    features = sp.csr_array(np.eye(NODES, dtype=np.float32))
    graph = Graph(adjacency, features, labels, classes, np.arange(NODES), facts | {"nodes": NODES})
    splits = make_splits(labels, settings.preprocess, {}, seed=settings.seed, trials=settings.trials)
    rows = gfpush(graph, splits.needing_rows(), weights=[0.5, 0.5], rmax=0.01, top_k=4)
    predictions = []
    for trial in range(settings.trials):
        split = splits.of(trial)
        part = np.full(NODES, "train", object)
        part[split.val], part[split.test] = "val", "test"
        right = rng.random(NODES) < skill
        confidence = rng.uniform(1 / len(classes), 1, NODES).astype(np.float32)
        columns = {
            "part": part.tolist(),
            "label": labels,
            "predicted": np.where(right, labels, (labels + 1) % len(classes)),
            "confidence": confidence,
            "calibrated": confidence**0.5,
        }
        predictions.append(pa.table(columns))
    step = np.tile(np.arange(0, 50, 10), settings.trials)
    history = {"trial": np.repeat(np.arange(settings.trials), 5), "step": step}
    history |= {"train_loss": np.exp(-step / 20), "val_loss": np.exp(-step / 40)}
    given = {"history": pa.table(history), "predictions": predictions}
    run = {key: value for key, value in settings.flat().items() if key in PLAIN}
    content = details(run, changed, graph=graph, splits=splits, rows=rows if with_rows else None, **given)
    l1_error = rows.l1_error if with_rows else None
    baselines = [BaselineScore(trial, "label_propagation", 0.5, 0.45) for trial in range(settings.trials)]
    overlap = overlap_of(content)
    metrics = summarize(predictions, classes, l1_error=l1_error, baselines=baselines, overlap=overlap)
    return Run(name, content, metrics, TOOK)
