import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grandplus.evaluation.reliability import expected_calibration_error, reliability
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
