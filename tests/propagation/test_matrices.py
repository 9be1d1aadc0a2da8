"""w_0..w_N of each propagation matrix, by hand."""

import numpy as np
import pytest
from graphs import mixtures
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy import linalg

from grandplus.propagation.matrices import MATRICES, PPR, Family, checked_weights, propagation_weights
from grandplus.runtime.errors import ArgumentError


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
    w = propagation_weights("ppr", order=order, alpha=alpha)
    assert w.dtype == np.float64
    assert w.shape == (order + 1,)
    assert w.sum() == pytest.approx(1, abs=1e-12)
    assert w[1:] == pytest.approx(w[:-1] * (1 - alpha), rel=1e-9, abs=1e-300)


def test_ppr_with_a_tiny_alpha_tends_to_the_average():
    assert propagation_weights("ppr", order=4, alpha=1e-9) == pytest.approx([1 / 5] * 5, abs=1e-8)


@given(mixtures())
def test_custom_weights_are_taken_as_they_are(given_weights):
    assert propagation_weights("custom", weights=given_weights.tolist()) == pytest.approx(given_weights, rel=1e-12)


def test_custom_weights_that_sum_to_one_but_for_rounding_are_made_to():
    w = propagation_weights("custom", weights=[0.3333333, 0.3333333, 0.3333333])
    assert w.sum() == pytest.approx(1, abs=1e-15)
    assert len(set(w)) == 1


@pytest.mark.parametrize(
    ("given_weights", "message"),
    [
        ([], r"weights = \[\] sum to 0; expected a sum of 1"),
        ([0.5, 0.4], "sum to 0.9; expected a sum of 1"),
        ([0.5, 0.6], "sum to 1.1; expected a sum of 1"),
        ([0, 0], "sum to 0; expected a sum of 1"),
        ([1, 1e-5], "sum to 1.00001; expected a sum of 1"),
        ([1.5, -0.5], "weights.1 is -0.5; expected greater than or equal to 0"),
        ([float("nan"), 1], "weights.0 is nan; expected a finite number"),
        ([float("inf")], "weights.0 is inf; expected a finite number"),
        ([[0.5, 0.5]], r"weights.0 is \[0.5, 0.5\]; expected a valid number"),
        (None, "weights is missing"),
    ],
)
def test_custom_weights_must_be_a_distribution(given_weights, message):
    with pytest.raises(ArgumentError, match=f"^matrix custom: .*{message}"):
        propagation_weights("custom", weights=given_weights)


@pytest.mark.parametrize(
    "values", [[], [0.5, 0.4], [1.5, -0.5], [float("nan"), 1], [float("inf")], [[0.5, 0.5]], [0, 0], [1, 1e-5]]
)
def test_weights_of_an_array_must_be_a_distribution(values):
    with pytest.raises(ArgumentError, match="at least 0 and summing to 1"):
        checked_weights(values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": "single", "order": -1}, "matrix single: order is -1; expected greater than or equal to 0"),
        ({"matrix": "ppr", "order": 3, "alpha": 0}, "alpha is 0; expected greater than 0"),
        ({"matrix": "ppr", "order": 3, "alpha": 1.5}, "alpha is 1.5; expected less than or equal to 1"),
        ({"matrix": "ppr", "order": 3, "alpha": float("nan")}, "alpha is nan; expected a finite number"),
        ({"matrix": "heat", "heat_time": 0}, "heat_time is 0; expected greater than 0"),
        ({"matrix": "avg", "alpha": 0.2}, "matrix avg: alpha = 0.2 is not a setting; expected one of order"),
        ({"matrix": ["ppr"]}, r"matrix is \['ppr'\]; expected one of ppr"),
        ({"matrix": "PPR", "order": 3}, "matrix is 'PPR'; expected one of ppr, avg, single"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        propagation_weights(**arguments)


@pytest.mark.parametrize(
    ("order", "time", "expected"),
    [
        (0, 3.0, [1]),
        # tⁿ/n! = 1, 2, 2, 4/3: divided by their sum 19/3.
        (3, 2.0, [3 / 19, 6 / 19, 6 / 19, 4 / 19]),
        # 1, 1, 1/2
        (2, 1.0, [2 / 5, 2 / 5, 1 / 5]),
    ],
)
def test_heat_is_truncated_and_renormalised(order, time, expected):
    assert propagation_weights("heat", order=order, heat_time=time) == pytest.approx(expected, abs=1e-15)


@given(order=st.integers(0, 1000), time=st.floats(1e-3, 100))
def test_heat_has_the_ratios_of_a_poisson_distribution(order, time):
    w = propagation_weights("heat", order=order, heat_time=time)
    assert w.shape == (order + 1,)
    assert w.sum() == pytest.approx(1, abs=1e-12)
    n = np.arange(1, order + 1)
    # Where neither has been rounded to a denormal number.
    normal = w[1:] > 1e-290
    assert w[1:][normal] == pytest.approx((w[:-1] * time / n)[normal], rel=1e-9)


def test_heat_whose_order_leaves_nothing_out_is_the_matrix_exponential():
    """exp(-t(I - P)) = Σ e⁻ᵗ tⁿ/n! Pⁿ (Kondor and Lafferty, 2002)."""
    rng = np.random.default_rng(0)
    P = rng.random((5, 5))
    P /= P.sum(axis=1, keepdims=True)
    w = propagation_weights("heat", order=60, heat_time=3.0)
    mixed = sum(weight * np.linalg.matrix_power(P, n) for n, weight in enumerate(w))
    assert mixed == pytest.approx(linalg.expm(-3.0 * (np.eye(5) - P)), abs=1e-13)


def test_defaults_and_parameters_that_are_none():
    assert propagation_weights("avg").tolist() == [1 / 5] * 5
    assert propagation_weights("ppr", order=None, alpha=None) == pytest.approx(PPR(order=10, alpha=0.2).weights())


def test_families_are_told_apart_by_their_name():
    read = TypeAdapter(Family)
    for name, family in MATRICES.items():
        values = {"name": name} | ({"weights": [1.0]} if name == "custom" else {})
        matrix = read.validate_python(values)
        assert type(matrix) is family
        assert read.validate_python(matrix.model_dump(by_alias=True)) == matrix
