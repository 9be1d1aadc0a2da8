import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from grandplus.prediction.calibration import least_confidence


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
