"""Predictions of all nodes against dense float64 formulas, whichever side of the first layer is propagated."""

import dataclasses
import errno
import os

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.propagation import plan
from grandplus.propagation.plan import Plan
from grandplus.propagation.power import BUFFERS
from grandplus.runtime.errors import GrandPlusError

WEIGHTS = (0.5, 0.2, 0.3)


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    edges = sp.random_array((30, 30), density=0.08, rng=rng)
    features = (rng.random((30, 12)) * (rng.random((30, 12)) < 0.4)).astype(np.float32)
    return Graph(as_adjacency(edges), sp.csr_array(features), np.zeros(30, np.int64), ["a", "b", "c"], np.arange(30))


def model_of(train_settings, **changes):
    torch.manual_seed(0)
    settings = train_settings(**changes)
    mlp = MLP(12, 3, settings)
    for norm in mlp.norms:  # as if trained
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    return Model(classes=["a", "b", "c"], settings=settings, mlp=mlp, weights=WEIGHTS)


def propagated(graph):
    """Σ wₙ(D̃⁻¹Ã)ⁿX, dense in float64."""
    adjacency = graph.adjacency
    ones = np.ones(len(adjacency.indices))
    walk = sp.csr_array((ones, adjacency.indices, adjacency.indptr), shape=(adjacency.nodes,) * 2).toarray()
    walk += np.eye(len(walk))
    walk /= walk.sum(axis=1, keepdims=True)
    return sum(
        weight * np.linalg.matrix_power(walk, order) @ graph.features.toarray() for order, weight in enumerate(WEIGHTS)
    )


@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize(
    ("changes", "first"),
    [({"hidden": 5}, True), ({"hidden": 20}, False), ({"layers": 1}, True), ({"layers": 1, "batchnorm": True}, False)],
)
def test_probabilities_are_those_of_the_dense_formula(graph, train_settings, changes, first, renormalize):
    model = model_of(train_settings, renormalize=renormalize, **changes)
    assert model.multiplies_first is first
    inputs = propagated(graph) * (1 if renormalize else 1 - model.settings.dropnode)
    exact = model.mlp.double()(torch.from_numpy(inputs)).softmax(-1).detach().numpy()
    model.mlp.float()
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=1e-5)


def test_dense_features_give_what_the_same_sparse_ones_do(graph, train_settings):
    model = model_of(train_settings, hidden=5)
    assert model.multiplies_first
    dense = dataclasses.replace(graph, features=graph.features.toarray())
    np.testing.assert_allclose(model.predict_proba(dense), model.predict_proba(graph), rtol=1e-6)


@pytest.mark.parametrize("changes", [{"hidden": 20, "batchnorm": True}, {"hidden": 40, "embed": True}])
def test_any_budget_gives_the_same_bytes(graph, train_settings, monkeypatch, tmp_path, changes):
    """From all in memory, over some columns at a time, to arrays in files."""
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path))
    monkeypatch.setattr(plan, "LINE", 3)
    model = model_of(train_settings, **changes)
    width = 40 if model.multiplies_first else 12
    whole = model.predict_proba(graph)
    fixed = model.plan(graph).peak - 4 * 30 * width * (1 + BUFFERS)
    ways = []
    for bytes_ in (4 * 30 * width * 9, 4 * 30 * (width + 3 * BUFFERS), 4 * 30 * 3 * BUFFERS):
        monkeypatch.setenv("GRANDPLUS_MEMORY", str(fixed + bytes_))
        ways.append(model.plan(graph))
        assert ways[-1].peak <= fixed + bytes_
        assert model.predict_proba(graph).tobytes() == whole.tobytes()
    assert [(way.columns, way.in_memory) for way in ways] == [(width, True), (3, True), (3, False)]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(fixed + 4 * 30 * 3 * BUFFERS - 1))
    needed = r"power iteration would need \d+\.\d\d MiB of memory, and may use \d+\.\d\d MiB; set GRAND"
    with pytest.raises(GrandPlusError, match=needed):
        model.predict_proba(graph)


def test_a_disk_too_small_for_the_file_is_an_error_before_the_work(graph, train_settings, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path))
    monkeypatch.setattr(plan, "reserve", full)
    way = Plan(12, 3, False, 0)
    with pytest.raises(GrandPlusError, match=r"can't keep 1\.41 KiB in a file: No space left .* GRANDPLUS_SCRATCH"):
        way.array(30)
    assert list(tmp_path.iterdir()) == []


def test_shared_inputs_give_the_same_bytes(graph, train_settings):
    model = model_of(train_settings, batchnorm=True)
    np.testing.assert_array_equal(model.predict_proba(graph, model.shared_inputs(graph)), model.predict_proba(graph))
