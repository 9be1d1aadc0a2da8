"""Augmented features: their mean, what validation sees instead, and that sparse equals dense."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.random_propagation import RandomPropagation
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import GrandPlusError

PATH = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))
FEATURES = np.array([[1, 0, 2], [0, 3, 0], [4, 0, 0], [0, 0, 5]], np.float32)
DELTA = 0.4


def rows_of(adjacency, top_k=10):
    w = propagation_weights("avg", order=2)
    return gfpush(adjacency, np.arange(adjacency.shape[0]), weights=w, rmax=0, top_k=top_k)


def mean_by_enumeration(row_weights, row_features, renormalize):
    """E[X̄] over all 2^k outcomes of DropNode, in float64."""
    total = np.zeros(row_features.shape[1])
    for kept in itertools.product([0, 1], repeat=len(row_weights)):
        mixed = np.array(kept) * row_weights
        probability = np.prod(np.where(kept, 1 - DELTA, DELTA))
        if renormalize and mixed.sum() > 0:
            mixed = mixed / mixed.sum()
        total += probability * (mixed @ row_features)
    return total


@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_mean_over_draws_is_the_stated_formula(renormalize, make):
    rows = rows_of(PATH)
    propagation = RandomPropagation(make(FEATURES), rows, dropnode=DELTA, renormalize=renormalize)
    draws = np.stack([dense(propagation.draw(np.array([1]), seed))[0] for seed in range(10_000)])
    held = rows.neighbors[1] >= 0
    row_weights, row_features = rows.values[1][held].astype(float), FEATURES[rows.neighbors[1][held]]
    expected = mean_by_enumeration(row_weights, row_features, renormalize)
    if not renormalize:  # Eq. 8 has the closed form (1 - δ) Σ Π̃ X
        np.testing.assert_allclose(expected, (1 - DELTA) * row_weights @ row_features, rtol=1e-12)
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 5 * standard_error + 1e-7)


@pytest.mark.parametrize("renormalize", [True, False])
def test_each_draw_is_a_subset_of_the_neighbours(renormalize):
    """One-hot features show which neighbours survived, and with what weight."""
    rows = rows_of(PATH)
    propagation = RandomPropagation(np.eye(4, dtype=np.float32), rows, dropnode=DELTA, renormalize=renormalize)
    row = rows.to_csr().toarray()[1]
    for seed in range(50):
        drawn = dense(propagation.draw(np.array([1]), seed))[0]
        survivors = drawn > 0
        expected = np.where(survivors, row, 0)
        if renormalize and survivors.any():
            expected = expected / expected.sum()
        np.testing.assert_allclose(drawn, expected, rtol=1e-6)


def test_a_row_that_lost_every_neighbour_is_zero():
    propagation = RandomPropagation(FEATURES, rows_of(PATH), dropnode=0.999999, renormalize=True)
    drawn = dense(propagation.draw(np.arange(4), 0))
    np.testing.assert_array_equal(drawn, np.zeros_like(FEATURES))


@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_validation_sees_what_inference_sees_when_rows_are_exact(renormalize, make, train_settings):
    rng = np.random.default_rng(3)
    edges = sp.random_array((40, 40), density=0.06, rng=rng)
    features = make((rng.random((40, 7)) * (rng.random((40, 7)) < 0.5)).astype(np.float32))
    graph = Graph(as_adjacency(edges), features, np.zeros(40, np.int64), ["a", "b"], np.arange(40))
    rows = rows_of(edges, top_k=40)
    settings = train_settings(renormalize=renormalize, dropnode=DELTA)
    model = Model(classes=["a", "b"], settings=settings, mlp=MLP(7, 2, settings), weights=rows.info.weights)
    propagation = RandomPropagation(features, rows, dropnode=DELTA, renormalize=renormalize)
    np.testing.assert_allclose(dense(propagation.expected(np.arange(40))), model.shared_inputs(graph), atol=1e-6)


@given(seed=st.integers(0, 2**32), renormalize=st.booleans())
def test_all_ways_to_mix_draw_the_same(seed, renormalize):
    rng = np.random.default_rng(seed)
    edges = sp.random_array((12, 12), density=0.2, rng=rng)
    features = (rng.standard_normal((12, 9)) * (rng.random((12, 9)) < 0.4)).astype(np.float32)
    rows, nodes = rows_of(edges, top_k=5), rng.permutation(12)[:7]
    # Dropout this small drops nothing, but takes the way of one factor.
    ways = [(np.asarray, {}), (sp.csr_array, {}), (sp.csr_array, {"sparse": True})]
    ways.append((sp.csr_array, {"sparse": True, "dropout": 1e-12}))
    first, *others = (
        dense(
            RandomPropagation(make(features), rows, dropnode=DELTA, renormalize=renormalize, **way).draw(
                nodes, 1, augmentations=2
            )
        )
        for make, way in ways
    )
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-6)


def test_augmentations_are_drawn_independently():
    propagation = RandomPropagation(np.eye(4, dtype=np.float32), rows_of(PATH), dropnode=0.5, renormalize=False)
    batch = dense(propagation.draw(np.full(4000, 1), 0, augmentations=2))
    drawn = batch.reshape(2, 4000, 4) > 0
    agree = (drawn[0] == drawn[1])[:, :3].mean(axis=0)  # node 1 reaches nodes 0, 1 and 2
    assert np.all(np.abs(agree - 0.5) < 5 * 0.5 / np.sqrt(4000))


def test_dropout_of_sparse_inputs_drops_the_right_share_and_scales_the_rest():
    rng = np.random.default_rng(0)
    features = sp.csr_array(rng.random((4, 5000)).astype(np.float32))
    settings = {"dropnode": 0, "renormalize": True, "sparse": True, "dropout": 0.3}
    propagation = RandomPropagation(features, rows_of(PATH), **settings)
    whole = dense(propagation.expected(np.arange(4)))
    [batch] = propagation.draw(np.arange(4), 0).parts
    dropped = batch.to_dense() == 0
    assert abs(dropped.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / dropped.size)
    assert len(batch.data) == (~dropped).sum()  # what was dropped is not stored
    np.testing.assert_allclose(batch.to_dense()[~dropped], whole[~dropped] / 0.7, rtol=1e-5)


@pytest.mark.parametrize("dropout", [0.0, 1e-12], ids=["two factors", "one factor"])
def test_columns_of_a_sparse_row_are_distinct(dropout):
    settings = {"dropnode": 0, "renormalize": True, "sparse": True, "dropout": dropout}
    batch = RandomPropagation(sp.csr_array(FEATURES), rows_of(PATH), **settings).draw(np.arange(4), 0)
    for factor in batch.parts:
        for start, end in itertools.pairwise(factor.indptr):
            assert len(set(factor.indices[start:end])) == end - start


def test_the_second_factor_holds_each_node_that_is_needed_once():
    settings = {"dropnode": 0, "renormalize": True, "sparse": True}
    propagation = RandomPropagation(sp.csr_array(FEATURES), rows_of(PATH), **settings)
    mixing, features = propagation.draw(np.array([1, 0, 2]), 0, augmentations=3).parts
    assert mixing.shape == (9, 3)  # nodes 0, 1 and 2 are all that these rows reach
    assert sorted(map(tuple, features.to_dense())) == sorted(map(tuple, FEATURES[:3]))


def test_features_of_another_graph_are_refused():
    with pytest.raises(GrandPlusError, match="features have 3 rows; expected 4"):
        RandomPropagation(FEATURES[:3], rows_of(PATH), dropnode=0.5, renormalize=True)


def test_a_node_without_a_row_is_named():
    rows = gfpush(PATH, [0, 2], weights=[0.5, 0.5], rmax=0, top_k=4)
    propagation = RandomPropagation(FEATURES, rows, dropnode=0.5, renormalize=True)
    with pytest.raises(GrandPlusError, match="no row of node 3"):
        propagation.draw(np.array([0, 3]), 0)


def dense(batch):
    """The matrix that a batch stands for."""
    return batch.to_dense() if isinstance(batch, Factors) else np.asarray(batch)
