"""Standardised columns, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from grandplus.graph import features as module
from grandplus.graph.features import as_floats
from grandplus.graph.fitted import FittedFeatures


def standardize(features):
    return FittedFeatures.fit("standardize", features).transform(features)


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_scikit_learn(monkeypatch, rows, kind, dtype):
    monkeypatch.setattr(module, "BLOCK", rows)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(100, 6)) * [1, 10, 1e-3, 1e4, 1, 1] + [0, 5, 1, -1e6, 0, 0]).astype(dtype)
    x[rng.random(x.shape) < 0.3] = 0
    found = standardize(kind(x))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, StandardScaler().fit_transform(x.astype(np.float64)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e30, 1e-40])
def test_a_constant_column_becomes_0(value):
    x = np.full((1001, 2), value, np.float32)
    x[:, 1] = np.arange(1001)
    found = standardize(x)
    assert (found[:, 0] == 0).all()
    np.testing.assert_allclose([found[:, 1].mean(dtype=float), found[:, 1].std(dtype=float)], [0, 1], atol=1e-7)


def test_what_is_given_stays():
    x = np.arange(6.0).reshape(3, 2)
    standardize(x)
    assert x.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("first", [0, 1.6e9, 1e12])
@pytest.mark.parametrize("step", [1, 100])
def test_a_column_far_from_0_keeps_its_variance(first, step):
    """Timestamps: float32 knows no number between 1600000000 and 1600000128."""
    x = as_floats(first + step * np.stack([np.arange(2000) % 2, np.arange(2000) % 3], axis=1))
    expected = StandardScaler().fit_transform((x - first) / step)
    np.testing.assert_allclose(standardize(x), expected, rtol=1e-5, atol=2e-4)  # of the mean in float64


def test_rows_of_a_far_column_are_transformed_alike():
    fitted = FittedFeatures.fit("standardize", 1.6e9 + np.arange(4.0)[:, None])
    np.testing.assert_allclose(fitted.transform(np.array([[1.6e9]])), [[-1.5 / np.std(np.arange(4))]], rtol=1e-6)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ([2**24, 2**24 + 2], "float32"),  # exact
        ([1990.5, 2020.1], "float32"),
        ([0.1, 0.3], "float32"),
        ([0.1, 0.1], "float32"),  # no variance to be lost
        ([1e9, 1e9 + 1], "float64"),
        ([0.1, 0.1 + 1e-6], "float64"),
    ],
)
def test_float64_is_kept_only_where_it_matters(column, name):
    assert as_floats(np.array(column)[:, None]).dtype == name


def test_as_is_gives_float32():
    for kind in (np.asarray, sp.csr_matrix):
        assert FittedFeatures("as-is").transform(kind(np.ones((2, 2)))).dtype == np.float32
