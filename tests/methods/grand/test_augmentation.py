"""GRAND's random propagation against dense float64 products with the same nodes dropped."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from small_graph import NODES, normalized, small_graph

from grandplus.methods.grand.augmentation import EPS, PropagationByPowers, drawn_masks
from grandplus.methods.grand.by_matrix import PropagationByMatrix

WIDTH = 70  # no multiple of the columns that are propagated at a time


@pytest.fixture(params=["sparse", "dense"])
def graph(request):
    rng = np.random.default_rng(5)
    features = (rng.standard_normal((NODES, WIDTH)) * (rng.random((NODES, WIDTH)) < 0.3)).astype(np.float32)
    return dataclasses.replace(
        small_graph(), features=sp.csr_array(features) if request.param == "sparse" else features
    )


def exact(graph, masks, order):
    """X̄_s = (K + 1)⁻¹ Σ Âᵏ (m_s ⊙ X), one augmentation below the other."""
    features = sp.csr_array(graph.features).toarray().astype(np.float64)
    mean = sum(np.linalg.matrix_power(normalized(graph), power) for power in range(order + 1)) / (order + 1)
    return np.concatenate([mean @ (mask[:, None] * features) for mask in masks])


def drawn(graph, seed=3, **changes):
    chosen = {"order": 3, "augmentations": 3, "dropnode": 0.5, "dropout": 0.0, "standardize": False} | changes
    masks = drawn_masks(np.random.default_rng(seed), chosen["augmentations"], NODES, chosen["dropnode"])
    augmented = PropagationByPowers(graph, **chosen).draw(np.random.default_rng(seed))
    return augmented, exact(graph, masks, chosen["order"])


@pytest.mark.parametrize("order", [0, 1, 2, 8])
@pytest.mark.parametrize("dropnode", [0.0, 0.5])
def test_augmentations_are_means_of_powers_of_what_is_kept_without_rescaling(graph, order, dropnode):
    augmented, expected = drawn(graph, order=order, dropnode=dropnode)
    np.testing.assert_allclose(augmented.features, expected, atol=1e-6)


def test_masks_drop_their_share_of_nodes():
    masks = drawn_masks(np.random.default_rng(0), 4, 10_000, 0.3)
    assert set(np.unique(masks)) == {0, 1}
    np.testing.assert_allclose(masks.mean(axis=1), 0.7, atol=0.02)


@pytest.mark.parametrize("order", [1, 8])
def test_the_dense_matrix_gives_the_same_augmentations(order):
    graph = small_graph()
    chosen = {"order": order, "augmentations": 3, "dropnode": 0.5}
    by_matrix = PropagationByMatrix(graph, **chosen, dropout=0.0).draw(np.random.default_rng(4))
    expected = exact(graph, drawn_masks(np.random.default_rng(4), 3, NODES, 0.5), order)
    np.testing.assert_allclose(by_matrix.transpose(0, 2, 1).reshape(expected.shape), expected, atol=1e-6)


def test_standardized_columns_come_with_their_statistics(graph):
    """Of a column without variance, only EPS is in the divisor."""
    augmented, expected = drawn(graph, standardize=True)
    parts = expected.reshape(3, NODES, WIDTH)
    np.testing.assert_allclose(augmented.mean, parts.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(augmented.variance, parts.var(axis=1), atol=1e-6)
    scaled = (parts - parts.mean(axis=1, keepdims=True)) / np.sqrt(parts.var(axis=1, keepdims=True) + EPS)
    np.testing.assert_allclose(augmented.features[:, :WIDTH], scaled.reshape(-1, WIDTH), atol=1e-4)
    np.testing.assert_array_equal(augmented.features[:, WIDTH:], 1)


def test_dropout_comes_after_propagation_and_tells_its_factors(graph):
    whole, _ = drawn(graph, standardize=True)
    dropped, _ = drawn(graph, standardize=True, dropout=0.6)
    values, factors = dropped.features[:, :WIDTH], dropped.features[:, WIDTH:]
    assert set(np.unique(factors)) == {0, np.float32(2.5)}
    assert (factors > 0).mean() == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(values, whole.features[:, :WIDTH] * factors, rtol=1e-6)
    plain, expected = drawn(graph, dropout=0.6)
    np.testing.assert_allclose(plain.features, expected * factors, atol=1e-6)


def test_dropout_by_the_dense_matrix_keeps_its_share_and_the_mean():
    graph = small_graph()
    chosen = {"order": 2, "augmentations": 200, "dropnode": 0.0}
    expected = exact(graph, np.ones((1, NODES)), 2)
    out = PropagationByMatrix(graph, **chosen, dropout=0.25).draw(np.random.default_rng(0)).transpose(0, 2, 1)
    reached = expected > 1e-6
    kept = out[:, reached] != 0
    assert kept.mean() == pytest.approx(0.75, abs=0.005)
    np.testing.assert_allclose(
        out[:, reached][kept], (expected / 0.75)[None].repeat(200, 0)[:, reached][kept], rtol=1e-4
    )


def test_draws_differ_and_the_same_generator_gives_the_same(graph):
    propagation = PropagationByPowers(graph, order=2, augmentations=2, dropnode=0.5, dropout=0.5, standardize=False)
    rng = np.random.default_rng(0)
    first, second = propagation.draw(rng).features.copy(), propagation.draw(rng).features.copy()
    assert (first != second).any()
    np.testing.assert_array_equal(propagation.draw(np.random.default_rng(0)).features, first)
