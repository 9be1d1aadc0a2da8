import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax

from grandplus.evaluation.reliability import expected_calibration_error
from grandplus.prediction.temperature import fit_temperature, tempered
from grandplus.runtime.errors import GrandPlusError

LOGITS = hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(2, 5)), elements=st.floats(-15, 15))


@given(LOGITS, st.floats(0.1, 10))
def test_tempered_is_the_softmax_of_divided_logits(logits, temperature):
    found = tempered(softmax(logits, axis=1).astype(np.float32), temperature)
    np.testing.assert_allclose(found, softmax(logits / temperature, axis=1), atol=2e-5)


def test_a_probability_rounded_to_zero_stays_a_number():
    found = tempered(np.array([[1, 0], [0.5, 0.5]], np.float32), 10)
    assert found[0, 0] > 0.999
    assert found[1].tolist() == [0.5, 0.5]
    assert fit_temperature(np.array([[1, 0]], np.float32), np.array([1])) == pytest.approx(20, abs=1e-3)


def drawn(count, temperature, seed=0):
    """Probabilities and labels that are drawn from them at a temperature."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=(count, 4))
    cumulative = np.cumsum(softmax(logits / temperature, axis=1), axis=1)
    labels = (rng.random((count, 1)) > cumulative).sum(axis=1).clip(max=3)
    return softmax(logits, axis=1).astype(np.float32), labels


@pytest.mark.parametrize("temperature", [0.3, 1, 2.5])
def test_the_temperature_that_labels_were_drawn_at_is_found(temperature):
    assert fit_temperature(*drawn(40_000, temperature)) == pytest.approx(temperature, rel=0.03)


def test_no_other_temperature_has_a_lower_cross_entropy():
    probabilities, labels = drawn(50, 1.5)
    smoothing = 1 / 52
    targets = np.where(np.arange(4) == labels[:, None], 1 - smoothing, smoothing / 3)
    others = np.geomspace(0.05, 20, 6001)
    logits = np.log(probabilities.astype(np.float64))
    losses = [-(targets * np.log(softmax(logits / other, axis=1))).sum() for other in others]
    assert fit_temperature(probabilities, labels) == pytest.approx(others[np.argmin(losses)], rel=1e-3)


def test_a_few_nodes_all_right_are_no_reason_to_be_certain():
    # Smoothed by 1/10, the share of right ones counts as .9: log 4 / T = log 9.
    temperature = fit_temperature(np.full((8, 2), [0.8, 0.2]), np.zeros(8, int))
    assert temperature == pytest.approx(np.log(4) / np.log(9), abs=1e-4)


def test_a_temperature_that_would_not_lower_the_calibration_error_is_not_taken():
    """Of 100, 95 are right as often as they are confident; 5 are far off, and weigh most in the cross-entropy."""
    probabilities = np.array([[0.95, 0.05]] * 95 + [[1 - 1e-12, 1e-12]] * 5)
    labels = np.array([0] * 90 + [1] * 10)
    softer = tempered(probabilities, 2)
    assert -np.log(softer[np.arange(100), labels]).mean() < -np.log(probabilities[np.arange(100), labels]).mean()
    assert expected_calibration_error(softer.max(axis=1), softer.argmax(axis=1) == labels) > 0.1
    assert fit_temperature(probabilities, labels) == 1


def test_unknown_labels_are_left_out():
    probabilities, labels = drawn(60, 2)
    hidden = np.where(np.arange(60) % 2, labels, -1)
    assert fit_temperature(probabilities, hidden) == fit_temperature(probabilities[1::2], labels[1::2])
    with pytest.raises(GrandPlusError, match="no validation node has a known label"):
        fit_temperature(probabilities, np.full(60, -1))
