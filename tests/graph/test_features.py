"""Row-normalised features against exact sums; rows without a value."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grandplus.graph import features as module
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.features import row_normalize, zero_rows
from grandplus.graph.fitted import RAW_ROWS, FittedFeatures


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csr_matrix])
def test_rows_sum_to_one_and_zero_rows_stay_zero(kind):
    x = np.array([[1, 3, 0], [0, 0, 0], [0, 5, 0], [0.1, 0.1, 0.1]], np.float32)
    found = row_normalize(kind(x))
    assert found.dtype == np.float32
    assert sp.issparse(found) == (kind is not np.array)
    dense = found.toarray() if sp.issparse(found) else found
    assert dense == pytest.approx(np.array([[0.25, 0.75, 0], [0, 0, 0], [0, 1, 0], [1 / 3] * 3]))
    assert np.all(np.isfinite(dense))


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(0, 2**20, width=32)))
def test_rows_are_normalised_in_float64(x):
    sums = np.array([math.fsum(row) for row in x.tolist()])
    expected = np.divide(x, sums[:, None], out=np.zeros(x.shape), where=sums[:, None] > 0)
    for found in (row_normalize(x), row_normalize(sp.csr_array(x)).toarray()):
        assert found == pytest.approx(expected, rel=1.01 * 2**-24, abs=1e-45)  # one rounding to float32


def test_normalising_does_not_touch_its_input():
    x = sp.csr_array(np.array([[1, 3]], np.float32))
    row_normalize(x)
    assert x.toarray().tolist() == [[1, 3]]


def test_blocks_of_dense_rows_change_nothing(monkeypatch):
    x = np.random.default_rng(0).random((10, 3)).astype(np.float32)
    whole = row_normalize(x)
    monkeypatch.setattr(module, "BLOCK", 3)
    assert np.array_equal(row_normalize(x), whole)


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_rows_without_a_value_are_counted(kind):
    x = kind(np.array([[0, 0], [1, 0], [0, 0], [0, -1]], np.float32))
    assert zero_rows(x) == 2


def test_a_stored_zero_is_no_value():
    x = sp.csr_array(np.array([[1, 2], [3, 0], [0, 0]], np.float32))
    x.data[2] = 0
    assert zero_rows(x) == 2


def test_features_made_from_the_graph():
    """A star of four with an edge at one end, and a node alone."""
    edges = [(0, 1), (0, 2), (0, 3), (3, 4)]
    start, end = np.array(edges).T
    adjacency = as_adjacency(sp.coo_array((np.ones(4), (start, end)), shape=(6, 6)))
    dense = np.zeros((6, 6))
    for u, v in edges:
        dense[u, v] = dense[v, u] = 1
    found = dense.sum(axis=1)  # degrees: 3, 1, 1, 2, 1, 0
    made = {kind: fitted_rows(kind, adjacency) for kind in RAW_ROWS}
    assert made["degree"] == pytest.approx(np.log1p(found)[:, None])
    assert made["onehot-degree"].toarray().tolist() == [[float(d == column) for column in range(4)] for d in found]
    assert made["adjacency"].toarray() == pytest.approx(dense / np.maximum(found, 1)[:, None])
    deviations = np.where(dense.std(axis=0) == 0, 1, dense.std(axis=0))
    assert made["standardized-adjacency"] == pytest.approx((dense - dense.mean(axis=0)) / deviations)
    for features in made.values():
        assert features.dtype == np.float32
        assert np.all(np.isfinite(features.toarray() if sp.issparse(features) else features))


def fitted_rows(kind, adjacency):
    raw = RAW_ROWS[kind](adjacency)
    return FittedFeatures.fit(kind, raw, node_ids=np.arange(adjacency.nodes)).transform(raw)
