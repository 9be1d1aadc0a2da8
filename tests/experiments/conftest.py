"""A small graph in place of every case's."""

import numpy as np
import pytest
import scipy.sparse as sp

from experiments import trials
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.pipeline.cases import Case, Prepared
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights


@pytest.fixture
def prepared(monkeypatch):
    """Three communities of 20 nodes as the graph of every case, and short trainings."""
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")

    def prepare(case: Case, trials: int) -> Prepared:
        rng = np.random.default_rng(0)
        labels = np.arange(60) % 3
        same = labels[:, None] == labels
        edges = sp.csr_array(np.triu(rng.random((60, 60)) < np.where(same, 0.3, 0.05), 1))
        features = (np.eye(3)[labels] + 0.9 * rng.random((60, 3))).astype(np.float32)
        graph = Graph(as_adjacency(edges), features, labels, ["a", "b", "c"], np.arange(60))
        lr = dict(case.changes).get("train.lr", 0.01)
        changes = {"lr": lr, "max_epochs": 15, "hidden": 8}
        split = {"split": "per-class", "train_per_class": 3, "val_per_class": 4}
        settings = load_settings(dataset="cora", matrix="ppr", trials=9, train=changes, preprocess=split)
        rows = gfpush(graph, np.arange(60), weights=propagation_weights("avg", order=2), rmax=1e-6, top_k=8)
        splits = make_splits(labels, settings.preprocess, [], seed=0, trials=9)
        return Prepared(settings, graph, splits, rows, f"digest{lr}")

    monkeypatch.setattr(trials, "prepare", prepare)
    return prepare
