"""Facts of a good result, of which each test spoils one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grandplus.evaluation.diagnosis.facts import Facts, Labelled, Trial
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.settings import Settings
from grandplus.propagation.gfpush import gfpush

CLASSES = 4
TRAIN, VAL = 10, 25  # of each class; so a validation node is one point of accuracy
NODES = CLASSES * (TRAIN + VAL)
LABELS = np.arange(NODES) % CLASSES
TRAIN_NODES, VAL_NODES = np.arange(CLASSES * TRAIN), np.arange(CLASSES * TRAIN, NODES)


def graph(*, labels: Any = LABELS, features: Any = None, edges: Any = None, kind: str = "row-normalize") -> Graph:
    """Nodes whose edges join, by default, those of the same class: a ring for each class."""
    nodes = np.arange(len(labels))
    start, end = (nodes, np.roll(nodes, -CLASSES)) if edges is None else edges
    adjacency = as_adjacency(sp.coo_array((np.ones(len(start)), (start, end)), (len(labels),) * 2))
    features = np.eye(len(labels), dtype=np.float32) if features is None else features
    return Graph(adjacency, features, np.asarray(labels), list("abcd"), nodes, fitted=FittedFeatures(kind))


def predictions(right: int, *, labels: Any = LABELS, wrong: int | None = None) -> Any:
    """Of validation nodes, the first of which are right; the others are of the next class, or of a given one."""
    actual = labels[VAL_NODES]
    others = (actual + 1) % CLASSES if wrong is None else np.full(len(actual), wrong)
    return np.where(np.arange(len(actual)) < right, actual, others)


def history(**changes: Any) -> dict[str, Any]:
    """Of five validations; the fourth is the best."""
    scores = {
        "step": [0, 10, 20, 30, 40],
        "train_loss": [1.4, 0.8, 0.3, 0.1, 0.05],
        "train_accuracy": [0.3, 0.7, 0.9, 1.0, 1.0],
        "val_loss": [1.4, 0.9, 0.6, 0.5, 0.6],
        "val_accuracy": [0.3, 0.6, 0.8, 0.9, 0.85],
        "consistency_loss": [0.0, 0.2, 0.1, 0.05, 0.002],
        "val_top_share": [0.5, 0.3, 0.26, 0.25, 0.26],
    }
    return {name: np.array(values, float) for name, values in (scores | changes).items()}


def best_of(scores: dict[str, Any]) -> int:
    """The latest validation of the highest accuracy, whose parameters GRAND+ keeps."""
    accuracy = scores["val_accuracy"]
    return int(np.flatnonzero(accuracy == accuracy.max())[-1])


def facts(trials: int = 2, **changes: Any) -> Facts:
    """Of trials of which 90 of 100 validation nodes are right; a change may be a list with one for each trial."""
    plain: dict[str, Any] = {
        "graph": graph(),
        "predicted": predictions(90),
        "history": history(),
        "kept": None,
        "labelled": Labelled(train=TRAIN_NODES, val=VAL_NODES),
        "settings": Settings(),
        "rows": None,
        "order": None,
        "baselines": {},
    }
    given = plain | changes
    each = {
        key: given[key] if isinstance(given[key], list) else [given[key]] * trials
        for key in ("predicted", "history", "labelled")
    }
    return Facts(
        graph=given["graph"],
        labelled=each["labelled"],
        trials=[
            Trial(predicted=p, history=h, kept=best_of(h) if given["kept"] is None else given["kept"])
            for p, h in zip(each["predicted"], each["history"], strict=True)
        ],
        settings=given["settings"],
        rows=given["rows"],
        order=given["order"],
        baselines=given["baselines"],
    )


def rows(made: Graph, *, top_k: int = 32, rmax: float = 1e-6, matrix: str = "avg") -> Any:
    """Rows of Π of all nodes."""
    nodes = np.arange(len(made.labels))
    return gfpush(made, nodes, weights=[0.2] * 5, rmax=rmax, top_k=top_k, matrix=matrix)
