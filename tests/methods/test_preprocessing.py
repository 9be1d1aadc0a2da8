"""A model file alone transforms new raw rows as preprocessing did."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.features import degree_column
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.settings import Preprocess
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, method_of, settings_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights

NODES = 60
RAW = (np.random.default_rng(0).random((NODES, 3)) * [1, 1e4, 1e-5] + [0, -1e6, 1 / 3]).astype(np.float32)


def trained(kind: str, method: str):
    """A model that has learned for a step, and the graph that it learned from."""
    edges = np.random.default_rng(1).integers(0, NODES, (2, 150))
    labels = np.arange(NODES) % 2
    raw = RawGraph(edges, NODES, RAW, labels, ["a", "b"], np.arange(NODES), [], ["height", "year", "share"])
    chosen = Preprocess(features=kind, split="per-class", train_per_class=5, val_per_class=5)
    graph, splits = preprocess(raw, chosen, seed=0, trials=1)
    rows = gfpush(graph, np.arange(NODES), weights=propagation_weights("avg", order=2), rmax=1e-4, top_k=16)
    settings = settings_of(method).Settings(**({"max_epochs": 1} if method == "grandplus" else {}))
    return method_of(method).fit(Task(graph, splits.of(0), rows), settings).model, graph


@pytest.mark.parametrize("method", NAMES)
def test_standardized_columns(tmp_path, method):
    model, graph = trained("standardize", method)
    model.save(tmp_path / "model.safetensors")
    fitted = FittedFeatures.from_json(load_model(tmp_path / "model.safetensors").preprocessing)
    assert fitted.names == ["height", "year", "share"]
    assert fitted.transform(RAW).tobytes() == graph.features.tobytes()
    wide = RAW.astype(np.float64)
    new = np.array([[0.5, -1e6, 0.25]], np.float32)
    expected = (new - wide.mean(axis=0)) / wide.std(axis=0)
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-6)


@pytest.mark.parametrize("method", NAMES)
def test_one_hot_degrees(tmp_path, method):
    model, graph = trained("onehot-degree", method)
    model.save(tmp_path / "model.safetensors")
    fitted = FittedFeatures.from_json(load_model(tmp_path / "model.safetensors").preprocessing)
    degrees = degree_column(graph.adjacency)
    assert fitted.degrees.tolist() == sorted(set(degrees.ravel().tolist()))
    assert (fitted.transform(degrees) != sp.csr_array(graph.features)).nnz == 0
