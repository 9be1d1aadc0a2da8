"""Intervals and tests: against scipy, the definition by all signs, and simulated pairs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grandplus.evaluation.statistics import (
    LEVEL,
    Sample,
    over_trials,
    overlap_of_repeats,
    overlap_of_splits,
    paired,
    welch,
    welch_interval,
)

SCORES = [0.851, 0.846, 0.853, 0.858, 0.849, 0.850, 0.852, 0.847, 0.855, 0.852]


def test_a_sample_has_students_interval():
    sample = Sample.of(SCORES)
    assert (sample.mean, sample.std) == pytest.approx((np.mean(SCORES), np.std(SCORES, ddof=1)))
    expected = stats.t.interval(0.95, 9, np.mean(SCORES), stats.sem(SCORES))
    assert sample.interval == pytest.approx(expected)
    assert np.isnan(Sample.of([0.85]).std)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_interval_is_wider_than_the_normal_one(values):
    result = over_trials(values)
    assert min(values) - 1e-6 <= result["mean"] <= max(values) + 1e-6
    assert result["ci95"] >= 1.959963 * result["std"] / len(values) ** 0.5 - 2e-6


def test_welchs_interval_of_samples_is_that_of_their_scores():
    others = [score + 0.004 for score in SCORES[:6]]
    expected = stats.ttest_ind(SCORES, others, equal_var=False).confidence_interval()
    assert welch_interval(Sample.of(SCORES), Sample.of(others)) == pytest.approx((expected.low, expected.high))
    assert welch_interval(Sample(0.75, 0, 3), Sample(0.5, 0, 4)) == (0.25, 0.25)


def null_pairs(spread=0.42):
    rng = np.random.default_rng(0)
    return (0.85 + spread / 100 * rng.standard_normal((2, 1000, 10))).round(3)


def test_the_paired_interval_is_students():
    b = [score - 0.001 * number for number, score in enumerate(SCORES)]
    found = paired(SCORES, b)
    expected = stats.ttest_rel(SCORES, b)
    assert found.difference == pytest.approx(0.0045)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


@pytest.mark.parametrize("test", [paired, welch])
def test_drawn_splits_have_nadeau_and_bengios_variance(test):
    """By their formula: the variance over trials times 1/J + n₂/n₁; a tenth of the nodes is tested."""
    others = [0.8, 0.81, 0.79, 0.8, 0.82, 0.8, 0.81, 0.8, 0.79, 0.805]
    plain, found = test(SCORES, others), test(SCORES, others, overlap=overlap_of_splits(train=900, test=100))
    assert found.error / plain.error == pytest.approx(np.sqrt((1 / 10 + 1 / 9) / (1 / 10)))
    assert found.p == pytest.approx(2 * stats.t.sf(found.difference / found.error, found.freedom))
    assert (found.high - found.low) / (plain.high - plain.low) == pytest.approx(found.error / plain.error)
    assert found.freedom == pytest.approx(plain.freedom)


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=7))
def test_the_permutation_p_value_counts_signs(differences):
    """By the definition: the share of all assignments of signs whose mean is at least as far from 0."""
    found = paired(np.array(differences) / 1000, np.zeros(len(differences)))
    seen = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(sign * d for sign, d in zip(of, differences, strict=True))) for of in signs]
    assert found.p == pytest.approx(np.mean([other >= seen for other in sums]))


def test_many_trials_draw_signs_the_same_each_time():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.003, 0.01, 40), np.zeros(40)
    assert paired(a, b).p == paired(a, b).p
    assert paired(a, b).p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.02)


def test_welch_is_scipys():
    b = [score + 0.004 for score in SCORES[:6]]
    found, expected = welch(SCORES, b), stats.ttest_ind(SCORES, b, equal_var=False)
    interval = expected.confidence_interval()
    assert (found.p, found.low, found.high) == pytest.approx((expected.pvalue, interval.low, interval.high))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("test", [paired, welch])
def test_equal_runs_do_not_differ(test):
    for scores in (SCORES, [0.5, 0.5]):
        found = test(scores, scores)
        assert (found.difference, found.p) == (0, 1)
        assert found.low <= 0 <= found.high


@pytest.mark.filterwarnings("error")
def test_welch_with_a_run_whose_trials_are_all_alike():
    found = welch(SCORES, [0.85] * 4)
    difference, error = np.mean(SCORES) - 0.85, np.std(SCORES, ddof=1) / np.sqrt(10)
    assert (found.difference, found.error) == pytest.approx((difference, error))
    assert found.p == pytest.approx(stats.ttest_1samp(SCORES, 0.85).pvalue)
    assert welch([0.9] * 3, [0.85] * 4).p == 0


@pytest.mark.parametrize("test", [paired, welch])
def test_of_a_thousand_null_pairs_few_are_claimed_to_differ(test):
    """Ten trials each, spread as on Cora: 5 % are claimed, by the level, and chance of this draw."""
    claimed = (test(*null_pairs()).p <= LEVEL).mean()
    assert 0.03 <= claimed <= 0.065


@pytest.mark.parametrize(("spread", "power"), [(0.42, 0.98), (0.7, 0.75)])
def test_a_gap_of_one_point_is_found(spread, power):
    """Ten trials each: nearly always at the spread of Cora, three times of four where it is much larger."""
    a, b = null_pairs(spread)
    assert (paired(a + 0.01, b).p <= LEVEL).mean() >= power
    assert (welch(a + 0.01, b).p <= LEVEL).mean() >= power


@pytest.mark.parametrize(("splits", "trials", "noise"), [(2, 20, 0.3), (3, 20, 0.3), (10, 20, 0.3), (3, 4, 1.0)])
def test_repeated_splits_do_not_make_a_mean_more_certain(splits, trials, noise):
    """A difference of 0 over all splits there could be, seen on a few of them, each by several trials."""
    rng, overlap = np.random.default_rng(0), overlap_of_repeats(0.0, trials=trials, splits=splits)
    of_splits = rng.standard_normal((2000, splits))[:, np.arange(trials) % splits]
    differences = of_splits + noise * rng.standard_normal((2000, trials))
    found = paired(differences, np.zeros(trials), overlap=overlap)
    assert np.mean((found.low <= 0) & (found.high >= 0)) > 0.94
    assert np.mean(found.p < LEVEL) < 0.06
