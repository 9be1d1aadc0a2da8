"""Comparisons of runs: which are compared how, and what is said of them."""

import numpy as np
import pytest
from scipy import stats

from grandplus.evaluation.statistics import LEVEL, welch
from grandplus.report.comparison import compare

SCORES = [0.851, 0.846, 0.853, 0.858, 0.849, 0.850, 0.852, 0.847, 0.855, 0.852]
SAME = list(range(100))


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
    assert found[0].comparisons == 1


def test_one_trial_says_nothing():
    assert compare([[0.9], SCORES], [SAME[:1], SAME[:10]]) == []
    assert compare([SCORES], [SAME[:10]]) == []
