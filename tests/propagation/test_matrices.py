"""w_0..w_N of each propagation matrix, by hand."""

import numpy as np
import pytest
from graphs import mixtures
from hypothesis import given
from hypothesis import strategies as st

from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import GrandPlusError


@pytest.mark.parametrize(
    ("matrix", "order", "expected"),
    [
        ("avg", 0, [1]),
        ("avg", 1, [1 / 2, 1 / 2]),
        ("avg", 4, [1 / 5] * 5),
        ("single", 0, [1]),
        ("single", 1, [0, 1]),
        ("single", 3, [0, 0, 0, 1]),
    ],
)
def test_average_and_single_by_hand(matrix, order, expected):
    assert propagation_weights(matrix, order=order).tolist() == expected


@pytest.mark.parametrize(
    ("order", "alpha", "expected"),
    [
        (0, 0.2, [1]),
        # α(1-α)ⁿ = .5, .25, .125: divided by their sum .875.
        (2, 0.5, [4 / 7, 2 / 7, 1 / 7]),
        # .2, .16, .128, sum .488
        (2, 0.2, [0.2 / 0.488, 0.16 / 0.488, 0.128 / 0.488]),
        # The walk ends where it starts.
        (3, 1, [1, 0, 0, 0]),
    ],
)
def test_ppr_is_truncated_and_renormalised(order, alpha, expected):
    assert propagation_weights("ppr", order=order, alpha=alpha) == pytest.approx(expected, abs=1e-15)


@given(order=st.integers(0, 60), alpha=st.floats(1e-6, 1))
def test_ppr_falls_geometrically_and_sums_to_one(order, alpha):
    found = propagation_weights("ppr", order=order, alpha=alpha)
    assert found.dtype == np.float64
    assert found.shape == (order + 1,)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found[1:] == pytest.approx(found[:-1] * (1 - alpha), rel=1e-9, abs=1e-300)


def test_ppr_with_a_tiny_alpha_tends_to_the_average():
    assert propagation_weights("ppr", order=4, alpha=1e-9) == pytest.approx([1 / 5] * 5, abs=1e-8)


@given(mixtures())
def test_custom_weights_are_taken_as_they_are(given_weights):
    assert propagation_weights("custom", weights=given_weights.tolist()) == pytest.approx(given_weights, rel=1e-12)


def test_custom_weights_that_sum_to_one_but_for_rounding_are_made_to():
    found = propagation_weights("custom", weights=[0.3333333, 0.3333333, 0.3333333])
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    "custom",
    [None, [], [0.5, 0.4], [0.5, 0.6], [1.5, -0.5], [float("nan"), 1], [float("inf")], [[0.5, 0.5]], [0, 0], [1, 1e-5]],
)
def test_custom_weights_must_be_a_distribution(custom):
    with pytest.raises(GrandPlusError, match="at least 0 and summing to 1"):
        propagation_weights("custom", weights=custom)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": "avg"}, "order is None; expected a whole number of at least 0"),
        ({"matrix": "single", "order": -1}, "order is -1"),
        ({"matrix": "ppr", "order": 3}, "alpha is None; expected a number above 0 and at most 1"),
        ({"matrix": "ppr", "order": 3, "alpha": 0}, "alpha is 0"),
        ({"matrix": "ppr", "order": 3, "alpha": 1.5}, "alpha is 1.5"),
        ({"matrix": "ppr", "order": 3, "alpha": float("nan")}, "alpha is nan"),
        ({"matrix": "PPR", "order": 3}, "matrix is 'PPR'; expected ppr, avg, single or custom"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(GrandPlusError, match=message):
        propagation_weights(**arguments)
