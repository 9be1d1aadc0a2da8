"""Differences between runs: against scipy, the definition by all signs, and simulated pairs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grandplus.report import comparison
from grandplus.report.comparison import LEVEL, compare, holm, paired, welch

SCORES = [0.851, 0.846, 0.853, 0.858, 0.849, 0.850, 0.852, 0.847, 0.855, 0.852]
SAME = list(range(100))


def null_pairs(spread=0.42):
    rng = np.random.default_rng(0)
    return (0.85 + spread / 100 * rng.standard_normal((2, 1000, 10))).round(3)


def test_the_paired_interval_is_students():
    b = [score - 0.001 * number for number, score in enumerate(SCORES)]
    found = paired(SCORES, b)
    expected = stats.ttest_rel(SCORES, b)
    assert found.difference == pytest.approx(0.0045)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


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


def test_among_six_null_runs_few_families_claim_any():
    """Fifteen comparisons of six equal runs: Holm keeps the chance of any claim to 5 %."""
    rng = np.random.default_rng(0)
    families = (0.85 + 0.0042 * rng.standard_normal((200, 6, 10))).round(3)
    first, second = zip(*itertools.combinations(range(6), 2), strict=True)
    p = paired(families[:, first], families[:, second]).p
    assert np.mean([min(holm(of)) <= LEVEL for of in p]) <= 0.065


def test_trials_are_paired_as_far_as_both_go():
    better = [score + 0.01 for score in SCORES]
    [found] = compare([better, SCORES[:8]], [SAME[:10], SAME[:8]])
    assert (found.paired, found.trials) == (True, 8)
    assert found.test.p == pytest.approx(2 / 2**8)
    [other] = compare([better, SCORES], [SAME[:10], SAME[1:11]])
    assert not other.paired
    assert other.test == welch(better, SCORES)


def test_words():
    better = [score + 0.01 for score in SCORES]
    equal = [score + 0.001 * (-1) ** number for number, score in enumerate(SCORES)]
    found = compare([SCORES, better, equal], [SAME[:10]] * 3)
    names = ["a", "b", "c"]
    assert [of.verdict(names) for of in found] == [
        "b is better than a",
        "no evidence of a difference",
        "b is better than c",
    ]
    assert [of.would_take for of in found] == ["", "", ""]
    [few] = compare([SCORES[:5], better[:5]], [SAME[:5]] * 2)
    assert few.verdict(names) == "no evidence of a difference: 5 trials are too few to show any"
    assert few.would_take == "6 trials"  # 2 of 2⁶ assignments of signs are less than 5 %, of 2⁵ they are not


def test_trials_wanted_show_the_difference_four_times_of_five():
    """Simulated with as many trials as it says."""
    rng = np.random.default_rng(3)
    a, b = 0.003 + 0.005 * rng.standard_normal(10), 0.005 * rng.standard_normal(10)
    [found] = compare([a, b], [SAME[:10]] * 2)
    assert not found.differs
    wanted = int(found.would_take.removesuffix(" trials"))
    differences = found.test.difference + (a - b).std(ddof=1) * rng.standard_normal((400, wanted))
    p = stats.ttest_1samp(differences, 0, axis=1).pvalue
    assert 0.72 <= (p <= LEVEL).mean() <= 0.9


@pytest.mark.parametrize("same", [True, False])
def test_more_trials_are_wanted_than_there_were(same):
    """With few trials Student's quantiles are much larger than the normal ones."""
    rng = np.random.default_rng(5)
    for count in (2, 3, 4):
        a, b = 0.8 + 0.02 * rng.standard_normal((2, count))
        others = SAME[:count] if same else SAME[1 : count + 1]
        [found] = compare([a, b + 0.01], [SAME[:count], others])
        if not found.differs:
            assert found.would_take.startswith(">") or int(found.would_take.split()[0]) > count


def test_runs_that_are_equal_trial_by_trial():
    [found] = compare([SCORES, SCORES], [SAME[:10]] * 2)
    assert found.verdict(["a", "b"]) == "no evidence of a difference: trial by trial they are equal"


def test_runs_on_other_graphs_are_not_compared():
    found = compare([SCORES] * 3, [SAME[:10]] * 3, ["cora", "pubmed", "cora"])
    assert [(of.first, of.second) for of in found] == [(0, 2)]
    assert found[0].among == 1


def test_one_trial_says_nothing():
    assert compare([[0.9], SCORES], [SAME[:1], SAME[:10]]) == []
    assert comparison.compare([SCORES], [SAME[:10]]) == []
