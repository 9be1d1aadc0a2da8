import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax
from scipy.stats import binomtest

from grandplus.evaluation.reliability import expected_calibration_error, reliability
from grandplus.prediction.calibration import fit_temperature, least_confidence, tempered
from grandplus.runtime.errors import GrandPlusError


def test_by_hand():
    confidence = np.array([0.30, 0.40, 0.60, 0.80, 0.90])
    correct = np.array([False, True, True, True, False])
    # Two bins: (0, .5] holds 2 of mean .35 and accuracy 1/2; (.5, 1] holds 3 of mean 2.3/3 and accuracy 2/3.
    bins = reliability(confidence, correct, bins=2)
    assert bins.count.tolist() == [2, 3]
    np.testing.assert_allclose(bins.confidence, [0.35, 2.3 / 3])
    np.testing.assert_allclose(bins.accuracy, [1 / 2, 2 / 3])
    expected = 2 / 5 * 0.15 + 3 / 5 * 0.1
    assert expected_calibration_error(confidence, correct, bins=2) == pytest.approx(expected)


def test_bins_are_open_on_the_left_and_the_first_holds_zero():
    edges = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    assert reliability(edges, np.ones(5, dtype=bool), bins=4).count.tolist() == [2, 1, 1, 1]


def test_empty_bins_are_nan_and_weigh_nothing():
    bins = reliability(np.array([0.9]), np.array([True]))
    assert len(bins.count) == 15
    assert np.flatnonzero(bins.count).tolist() == [13]
    assert np.isnan(np.delete(bins.confidence, 13)).all()
    assert np.isnan(np.delete(bins.accuracy, 13)).all()
    assert expected_calibration_error(np.array([0.9]), np.array([True])) == pytest.approx(0.1)


def test_perfect_calibration_is_zero():
    confidence = np.repeat([0.25, 0.5, 0.75, 1.0], 4)
    correct = np.arange(16) % 4 < confidence * 4
    assert expected_calibration_error(confidence, correct) == 0


def test_no_predictions():
    assert expected_calibration_error(np.array([]), np.array([], dtype=bool)) == 0


def test_confidence_rounded_beyond_one_is_one():
    bins = reliability(np.array([1.0000001], dtype=np.float32), np.array([True]))
    assert bins.count[-1] == 1
    assert bins.confidence[-1] == 1


@pytest.mark.parametrize("wrong", [np.nan, -0.1, 1.1, np.inf])
def test_impossible_confidence(wrong):
    with pytest.raises(GrandPlusError, match="confidence is"):
        expected_calibration_error(np.array([0.5, wrong]), np.array([True, True]))


@settings(deadline=None)
@given(data=st.data(), bins=st.integers(1, 40))
def test_error_is_a_fraction_and_bins_lose_nothing(data, bins):
    probability = st.floats(0, 1, width=32)
    confidence = data.draw(hnp.arrays(np.float32, st.integers(1, 50), elements=probability))
    correct = data.draw(hnp.arrays(np.bool_, len(confidence)))
    error = expected_calibration_error(confidence, correct, bins)
    assert 0 <= error <= 1
    by_bin = reliability(confidence, correct, bins)
    assert by_bin.count.sum() == len(confidence)
    assert np.nansum(by_bin.count * by_bin.accuracy) == pytest.approx(correct.sum())
    # Merging bins can let gaps cancel out, but never adds to them.
    assert expected_calibration_error(confidence, correct, 1) <= error + 1e-6


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


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_the_least_confidence_is_the_first_that_is_borne_out(data):
    """By trying every threshold; limits by scipy's exact test."""
    count = data.draw(st.integers(0, 150))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    confidence = rng.choice(np.linspace(0.8, 1, data.draw(st.integers(1, 30))), count).astype(np.float32)
    correct = rng.random(count) < data.draw(st.sampled_from([0.9, 0.97, 1])) * confidence**0.25
    borne_out = []
    for threshold in [0.9, *np.unique(confidence[confidence > 0.9]).tolist()]:
        chosen = correct[confidence >= threshold]
        if len(chosen) and binomtest(int(chosen.sum()), len(chosen)).proportion_ci(0.9, "exact").low >= 0.9:
            borne_out.append(threshold)
    assert least_confidence(confidence, correct) == (borne_out[0] if borne_out else None)
