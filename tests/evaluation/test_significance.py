"""Holm's method by hand, and simulated families of comparisons."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.evaluation.significance import holm
from grandplus.evaluation.statistics import LEVEL, paired


def test_holms_method():
    """By hand: the lowest times 4, the next times 3, and so on, never below one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_correction_keeps_order_and_only_raises(p):
    corrected = holm(p)
    assert all(new >= old for new, old in zip(corrected, p, strict=True))
    for i, j in itertools.combinations(range(len(p)), 2):
        assert (p[i] < p[j]) <= (corrected[i] <= corrected[j])


def test_among_six_null_runs_few_families_claim_any():
    """Fifteen comparisons of six equal runs: Holm keeps the chance of any claim to 5 %."""
    rng = np.random.default_rng(0)
    families = (0.85 + 0.0042 * rng.standard_normal((200, 6, 10))).round(3)
    first, second = zip(*itertools.combinations(range(6), 2), strict=True)
    p = paired(families[:, first], families[:, second]).p
    assert np.mean([min(holm(of)) <= LEVEL for of in p]) <= 0.065
