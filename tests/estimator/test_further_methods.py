"""A classifier of another method is its parameters alone: SGC, which needs no rows of Π."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from communities import NODES, problem
from sklearn.base import clone

from grandplus.estimator.base import GraphClassifier
from grandplus.methods.sgc.settings import Settings
from grandplus.runtime.errors import ArgumentError


class SGCClassifier(GraphClassifier):
    _method: ClassVar[str] = "sgc"

    def __init__(
        self,
        *,
        order: int = 2,
        lr: float = 0.2,
        weight_decay: float = 1e-5,
        epochs: int = 100,
        features: str | None = None,
        train_per_class: int = 4,
        val_per_class: int = 14,
        split: str = "per-class",
        random_state: int = 0,
        trials: int = 1,
        edge_weights: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.features = features
        self.train_per_class = train_per_class
        self.val_per_class = val_per_class
        self.split = split
        self.random_state = random_state
        self.trials = trials
        self.edge_weights = edge_weights
        self.verbose = verbose


def test_it_learns_and_has_no_rows():
    adjacency, X, y = problem()
    classifier = clone(SGCClassifier(trials=2, order=1)).fit(adjacency, X, y)
    assert classifier.score(np.arange(NODES), y) > 0.95
    assert classifier.rows_ is None
    assert [model.method for model in classifier.models_] == ["sgc", "sgc"]
    assert classifier.models_[0].settings == Settings(order=1)


def test_its_own_values_are_checked():
    with pytest.raises(ArgumentError, match=r"^SGCClassifier: epochs is 0; expected greater than or equal to 1"):
        SGCClassifier(epochs=0).fit(*problem())
