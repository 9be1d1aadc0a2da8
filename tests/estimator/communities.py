"""A small problem that can be learnt, and a classifier that learns it in a moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grandplus import GrandPlusClassifier

NODES = 90


def problem(seed: int = 0) -> tuple[Any, Any, Any]:
    """Three communities whose features tell them apart: adjacency, X and numbers of classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(NODES) % 3
    edges = sp.csr_array(np.triu(rng.random((NODES, NODES)) < np.where(labels[:, None] == labels, 0.3, 0.02), 1))
    return edges, np.eye(3)[labels] + 0.3 * rng.random((NODES, 3)), labels


def small(**changes: Any) -> GrandPlusClassifier:
    plain = {"order": 1, "features": "as-is", "dropout_input": 0, "dropout_hidden": 0, "lr": 0.05, "max_epochs": 60}
    return GrandPlusClassifier(**plain | {"train_per_class": 4, "val_per_class": 14} | changes)
