"""Comparisons of runs: which are compared how, and what is said of them."""

import numpy as np
import pytest
from runs import run
from scipy import stats

from grandplus.evaluation import resampling
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.resampling import over_nodes
from grandplus.evaluation.significance import holm
from grandplus.evaluation.statistics import LEVEL, overlap_of_splits, paired, welch
from grandplus.report.comparison import compare, compare_runs

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
        "b is better than a on these test nodes",
        "no evidence of a difference",
        "b is better than c on these test nodes",
    ]
    assert [of.would_take for of in found] == ["", "", ""]
    [few] = compare([SCORES[:5], better[:5]], [SAME[:5]] * 2)
    assert few.verdict(names) == "not decided: it takes 6 trials to show any difference"
    assert few.would_take == "6 trials"  # 2 of 2⁶ assignments of signs are less than 5 %, of 2⁵ they are not


def test_with_the_first_run_alone_fewer_trials_show_a_difference():
    """Of 2⁸ assignments of signs two are as extreme: 6 · 2/2⁸ is below 0.05, 21 · 2/2⁸ is not."""
    runs = [[score + 0.01 * number for score in SCORES[:8]] for number in range(7)]
    every, of_first = (compare(runs, [SAME[:8]] * 7, with_first=chosen) for chosen in (False, True))
    assert not any(pair.differs for pair in every)
    assert all(pair.too_few for pair in every)
    assert [(pair.first, pair.second) for pair in of_first] == [(0, other) for other in range(1, 7)]
    assert all(pair.differs for pair in of_first)
    assert {pair.corrected for pair in of_first} == {6 * 2 / 2**8}
    named = [fixed_splits(run(f"r{number}", trials=8)) for number in range(7)]
    _, notes = compare_runs(named)
    assert notes == ["21 comparisons at once take more trials than there are: --with r0 makes the 6 with it alone"]
    assert compare_runs(named, with_first=True)[1] == compare_runs(named[:2])[1] == []


def fixed_splits(of):
    of.details["splits"] = ["public"] * len(of.accuracy)
    return of


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
    found = compare([SCORES] * 3, [SAME[:10]] * 3, [("cora", "test"), ("pubmed", "test"), ("cora", "test")])
    assert [(of.first, of.second) for of in found] == [(0, 2)]
    assert found[0].comparisons == 1


def test_a_first_run_that_nothing_is_compared_with_leaves_the_others_their_words():
    runs = [fixed_splits(run(name, trials=trials)) for name, trials in (("one", 1), ("a", 3), ("b", 3))]
    comparisons, notes = compare_runs(runs)
    assert [(pair.first, pair.second, pair.too_few) for pair in comparisons] == [(1, 2, True)]
    assert notes == ["one trial says nothing of differences: run one with more, as -S trials=10"]


def test_one_trial_says_nothing():
    assert compare([[0.9], SCORES], [SAME[:1], SAME[:10]]) == []
    assert compare([SCORES], [SAME[:10]]) == []


def scores_on(correct):
    """On the same nodes in each trial; shape (trials, nodes)."""
    nodes = np.arange(correct.shape[1])
    return NodeScores.of([nodes] * len(correct), list(correct), nodes % 3)


def test_words_tell_these_nodes_from_others():
    """In each trial b is right at five nodes more; that is beyond chance of trials, and not of a hundred nodes."""
    a = np.tile(np.arange(100) < 60, (10, 1))
    little, much = (
        np.tile((np.arange(100) < 61) | (np.arange(100) == 99), (10, 1)),
        np.tile(np.arange(100) < 90, (10, 1)),
    )
    for number, of in enumerate((a, little, much)):
        of[number % 10, :3] = False  # so that trials differ
    names, scores = ["a", "little", "much"], [of.mean(axis=1) for of in (a, little, much)]
    found = compare(scores, [SAME[:10]] * 3, nodes=[scores_on(of) for of in (a, little, much)])
    assert [of.verdict(names) for of in found] == [
        "little is better than a on these test nodes; no evidence beyond them",
        "much is better than a on these test nodes and beyond them",
        "much is better than little on these test nodes and beyond them",
    ]
    validated = compare(scores[:2], [SAME[:10]] * 2, [("cora", "val")] * 2)
    assert validated[0].verdict(names) == "little is better than a on these validation nodes"


def test_both_p_values_are_corrected_by_holms_method():
    rng = np.random.default_rng(0)
    runs = [scores_on(rng.random((10, 200)) < skill) for skill in (0.6, 0.65, 0.7)]
    scores = [run.correct.mean(axis=1) for run in runs]
    found = compare(scores, [SAME[:10]] * 3, nodes=runs)
    assert [of.corrected for of in found] == holm([of.test.p for of in found])
    assert [of.corrected_beyond for of in found] == holm([of.beyond.p for of in found])
    assert all(of.corrected_beyond >= of.corrected for of in found)


def test_among_six_null_runs_few_families_claim_any_beyond_the_nodes(monkeypatch):
    """Six systems that are equally good, each at nodes of its own: 15 comparisons each."""
    monkeypatch.setattr(resampling, "RESAMPLES", 2000)
    rng, claimed = np.random.default_rng(0), []
    for _ in range(30):
        hard = rng.standard_normal(60)
        skills = [1 / (1 + np.exp(-1 - hard - rng.standard_normal(60))) for _ in range(6)]
        runs = [scores_on(rng.random((10, 60)) < skill) for skill in skills]
        seeds = [[f"{number}"] * 10 for number in range(6)]  # other seeds, so that Welch's test does
        found = compare([run.correct.mean(axis=1) for run in runs], seeds, nodes=runs)
        claimed.append(any(of.differs_beyond for of in found))
    assert np.mean(claimed) <= 0.1


def test_drawn_splits_are_corrected_for_their_overlap():
    """As their digests differ; the public split's are equal."""
    runs = [run("plain", trials=10), run("better", trials=10, skill=0.95)]
    [found], notes = compare_runs(runs)
    parts = runs[0].details["parts"]
    overlap = overlap_of_splits(train=parts["train"], test=parts["test"])
    assert found.overlap == overlap == 6 / 75
    assert found.test == paired(runs[0].accuracy, runs[1].accuracy, overlap=overlap)
    assert found.beyond == over_nodes(found.test, *(of.node_scores for of in runs), overlap=overlap)
    assert found.by == "10 pairs of trials, drawn splits"
    assert notes == []
    for of in runs:
        of.details["splits"] = ["public"] * 10
    [found], _ = compare_runs(runs)
    assert found.test == paired(runs[0].accuracy, runs[1].accuracy)
    assert found.by == "10 pairs of trials"


def test_a_shorter_run_is_compared_by_its_trials_beyond_the_nodes_too():
    runs = [run("ten", trials=10), run("six", trials=6, skill=0.9)]
    [found], _ = compare_runs(runs)
    first, second = (of.node_scores for of in runs)
    assert found.trials == 6
    assert found.beyond == over_nodes(found.test, first.of_trials(slice(6)), second, overlap=found.overlap)


def test_runs_of_older_code_are_compared_over_trials():
    runs = [run("new", trials=10), run("old", trials=10, skill=0.95)]
    del runs[1].details["node_scores"]
    [found], notes = compare_runs(runs)
    assert found.beyond is None
    assert found.verdict(["new", "old"]) == "old is better than new on these test nodes"
    assert len(notes) == 1
    assert "so old has no interval over nodes: run dvc repro evaluate, or the experiment again" in notes[0]


def test_drawn_splits_need_more_trials_than_one_split():
    rng = np.random.default_rng(3)
    a, b = 0.003 + 0.005 * rng.standard_normal(10), 0.005 * rng.standard_normal(10)
    [plain] = compare([a, b], [SAME[:10]] * 2)
    [drawn] = compare([a, b], [SAME[:10]] * 2, overlaps=[lambda _: 0.003] * 2)
    assert int(drawn.would_take.split()[0]) > int(plain.would_take.split()[0])
    [never] = compare([a, b], [SAME[:10]] * 2, overlaps=[lambda _: 1.0] * 2)
    assert never.would_take == "no number is enough"
    [tiny] = compare([a, a + 1e-5 * (b - b.mean()) + 1e-9], [SAME[:10]] * 2)
    assert tiny.would_take == "> 1,000 trials"


def test_the_overlap_is_that_of_the_trials_that_are_compared():
    """One run repeats its ten splits, the other has each once: their pairs repeat none."""
    splits = [f"split {trial}" for trial in range(10)]
    many, few = run("many", trials=20), run("few", trials=10, skill=0.95)
    for each, times in ((many, 2), (few, 1)):
        each.details["splits"] = splits * times
    assert many.overlap() > many.overlap(10) == few.overlap() > 0
    for runs in ([many, few], [few, many]):
        [[found], _] = compare_runs(runs)
        assert (found.paired, found.trials, found.overlap) == (True, 10, few.overlap())
