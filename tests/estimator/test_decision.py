"""``decision`` of the classifiers: what ``predict`` says of two classes."""

import warnings

import numpy as np
import pytest
from communities import problem, small

import grandplus as gp
from grandplus.runtime.errors import GrandPlusError


def fitted(**changes):
    adjacency, X, y = problem()
    two = np.where(y == 2, "rare", "common")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        return small(max_epochs=8, **changes).fit(adjacency, X, two)


def test_the_threshold_decides_if_asked():
    plain, cut = fitted(), fitted(decision="threshold")
    threshold = cut.calibration_.decision_threshold
    assert plain.calibration_.decision_threshold == threshold
    assert plain.predict_proba().tobytes() == cut.predict_proba().tobytes()
    second = cut.predict_proba()[:, 1]
    assert (plain.predict() == np.where(second > 0.5, "rare", "common")).all()
    assert (cut.predict() == np.where(second >= threshold, "rare", "common")).all()


def test_more_classes_are_refused_before_training():
    with pytest.raises(GrandPlusError) as refused:
        small(decision="threshold").fit(*problem())
    assert str(refused.value) == (
        "decision is threshold, and there are 3 classes; expected two for a threshold; set decision to most-probable"
    )
