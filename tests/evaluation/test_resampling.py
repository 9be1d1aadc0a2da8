"""The second source of chance: simulated systems on drawn test nodes, beside the trials' own test."""

import numpy as np
import pytest

from grandplus.evaluation import node_scores, resampling
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.resampling import over_nodes
from grandplus.evaluation.statistics import LEVEL, Difference, overlap_of_splits, paired, welch


def systems(rng, *, trials=10, nodes=200, own=1.0, spread=0.0, gap=0.0):
    """Two systems that are equally good, but for the gap, on nodes that are drawn anew with each call.

    Some nodes are harder than others, for both systems and, by `own`, for one of them. Trials differ by `spread`.
    """
    labels = rng.integers(3, size=nodes)
    hard = 1.5 + rng.standard_normal(nodes) + 0.3 * labels
    runs = []
    for more in (gap, 0):
        logit = hard + own * rng.standard_normal(nodes) + spread * rng.standard_normal((trials, 1))
        correct = rng.random((trials, nodes)) < 1 / (1 + np.exp(-logit)) + more
        runs.append(NodeScores.of([np.arange(nodes)] * trials, list(correct), labels))
    return runs


def compared(runs, test):
    return many_compared([runs], test)[0]


def many_compared(pairs, test):
    """Of each pair of runs, the difference over trials, and that over nodes and trials."""
    scores = np.array([[run.correct.sum(axis=1) / run.tested.sum(axis=1) for run in runs] for runs in pairs])
    tests = np.broadcast_arrays(*test(scores[:, 0], scores[:, 1]))  # at once, as drawing signs takes a while
    over_trials = [Difference(*values) for values in zip(*tests, strict=True)]
    beyond = [over_nodes(of, *runs, paired=test is paired) for of, runs in zip(over_trials, pairs, strict=True)]
    return list(zip(over_trials, beyond, strict=True))


@pytest.fixture
def fewer_resamples(monkeypatch):
    monkeypatch.setattr(resampling, "RESAMPLES", 500)


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("test", [paired, welch])
@pytest.mark.parametrize(("own", "spread"), [(1.0, 0.0), (0.5, 0.1), (0.0, 0.2), (0.0, 0.0)])
def test_of_equal_systems_few_are_claimed_to_differ_beyond_the_nodes(test, own, spread):
    """5 % by the level, and chance of 300 draws, whether nodes, trials or neither cause most of the spread."""
    rng = np.random.default_rng(0)
    claims = [beyond for _, beyond in many_compared([systems(rng, own=own, spread=spread) for _ in range(300)], test)]
    assert np.mean([of.p <= LEVEL for of in claims]) <= 0.08
    assert 0.92 <= np.mean([of.low <= 0 <= of.high for of in claims]) <= 0.985


@pytest.mark.usefixtures("fewer_resamples")
def test_trials_alone_say_nothing_of_other_nodes():
    """Systems that are equal, but each good at nodes of its own: over 30 trials most of a hundred seem to differ."""
    rng = np.random.default_rng(0)
    claims = many_compared([systems(rng, own=2.0, trials=30) for _ in range(100)], welch)
    assert np.mean([over_trials.p <= LEVEL for over_trials, _ in claims]) >= 0.5
    assert np.mean([beyond.p <= LEVEL for _, beyond in claims]) <= 0.1


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("test", [paired, welch])
def test_a_gap_is_found_beyond_the_nodes(test):
    """Of six points on a thousand nodes nearly always."""
    rng = np.random.default_rng(0)
    claims = [beyond for _, beyond in many_compared([systems(rng, nodes=1000, gap=0.06) for _ in range(60)], test)]
    assert np.mean([of.p <= LEVEL for of in claims]) >= 0.95


def test_without_any_chance_of_trials_it_is_a_stratified_bootstrap():
    """Its standard error is that of a stratified mean, by the definition."""
    rng = np.random.default_rng(0)
    labels, better = rng.integers(4, size=400), rng.random(400) < 0.8
    worse = better & (rng.random(400) < 0.9)
    runs = [NodeScores.of([np.arange(400)] * 3, [correct] * 3, labels) for correct in (better, worse)]
    over_trials, beyond = compared(runs, paired)
    differences = better.astype(float) - worse
    of_classes = [differences[labels == label] for label in range(4)]
    error = np.sqrt(sum(len(of) * of.var(ddof=1) for of in of_classes)) / 400
    assert over_trials.error == 0
    assert beyond.error == pytest.approx(error)
    assert beyond.difference == over_trials.difference == pytest.approx(differences.mean())
    assert beyond.interval == pytest.approx([differences.mean() + side * 1.96 * error for side in (-1, 1)], abs=0.002)


def test_equal_runs_do_not_differ():
    run, _ = systems(np.random.default_rng(0))
    for test in (paired, welch):
        over_trials, beyond = compared([run, run], test)
        assert (beyond.difference, beyond.p) == (0, 1)
        assert beyond.interval == pytest.approx(over_trials.interval, abs=1e-3)


def test_the_same_draws_each_time():
    runs = systems(np.random.default_rng(0))
    assert compared(runs, paired) == compared(runs, paired)
    over_trials, _ = compared(runs, paired)
    assert over_nodes(over_trials, *runs, seed=1) != over_nodes(over_trials, *runs)


def test_never_more_certain_than_over_trials():
    """Of three trials no assignment of signs is rare, so nothing is claimed beyond the nodes either."""
    over_trials, beyond = compared(systems(np.random.default_rng(0), trials=3, gap=0.2), paired)
    assert beyond.p >= over_trials.p == 0.25
    assert beyond.low <= over_trials.low < over_trials.high <= beyond.high


def test_classes_of_one_node_are_drawn_together():
    labels, correct = np.arange(30), [np.arange(30) < 20 + trial for trial in range(4)]
    runs = [NodeScores.of([np.arange(30)] * 4, hits, labels) for hits in (correct, [np.arange(30) < 10] * 4)]
    _, beyond = compared(runs, paired)
    assert beyond.error == pytest.approx(np.sqrt(0.38 * 0.62 / 30), abs=0.01)
    alone = [NodeScores.of([np.arange(1)] * 2, [np.array([hit])] * 2, labels) for hit in (True, False)]
    assert compared(alone, paired)[1].difference == 1


def test_a_sample_of_the_nodes_says_what_all_would(monkeypatch):
    runs = systems(np.random.default_rng(0), nodes=10_000)
    over_trials, whole = compared(runs, paired)
    monkeypatch.setattr(node_scores, "MOST_NODES", 2000)
    sample = [NodeScores.of([run.nodes] * 10, list(run.correct), run.labels) for run in runs]
    assert len(sample[0].nodes) < 2010
    assert over_nodes(over_trials, *sample).error == pytest.approx(whole.error, rel=0.1)


def drawn(rng, nodes):
    """Features and classes of a drawn graph."""
    labels = np.arange(nodes) % 3
    return 0.8 * np.random.default_rng(7).standard_normal((3, 12))[labels] + rng.standard_normal((nodes, 12)), labels


def trained(rng, x, labels, *, train, test, trials=10):
    """Two classifiers by the nearest class mean, of other features, on drawn splits of one graph."""
    tested, correct = [], ([], [])
    for _ in range(trials):
        order = rng.permutation(len(x))
        fit, chosen = order[:train], np.sort(order[train : train + test])
        tested.append(chosen)
        for hits, columns in zip(correct, (slice(0, 8), slice(4, 12)), strict=True):
            means = np.stack([x[fit[labels[fit] == label], columns].mean(axis=0) for label in range(3)])
            nearest = ((x[chosen][:, None, columns] - means) ** 2).sum(axis=-1).argmin(axis=-1)
            hits.append(nearest == labels[chosen])
    return [NodeScores.of(tested, hits, labels) for hits in correct], [
        [each.mean() for each in hits] for hits in correct
    ]


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize(("nodes", "train", "test"), [(700, 40, 660), (400, 360, 40), (500, 250, 250)])
def test_drawn_splits_of_other_graphs_are_covered(nodes, train, test):
    """Few labels, few test nodes, as many of both; what is true is the mean over all 120 graphs that are drawn."""
    rng, overlap, found = np.random.default_rng(0), overlap_of_splits(train=train, test=test), []
    for _ in range(120):
        runs, scores = trained(rng, *drawn(rng, nodes), train=train, test=test)
        plain, corrected = paired(*scores), paired(*scores, overlap=overlap)
        found.append((plain, corrected, over_nodes(corrected, *runs, overlap=overlap)))
    true = np.mean([plain.difference for plain, _, _ in found])

    def coverage(of: list[Difference]) -> float:
        return float(np.mean([each.low <= true <= each.high for each in of]))

    plain, corrected, beyond = (coverage(list(kind)) for kind in zip(*found, strict=True))
    assert plain <= 0.9
    assert plain < corrected
    assert 0.92 <= beyond <= 0.995
    if test <= train:
        assert corrected >= 0.92  # Nadeau and Bengio's own case


@pytest.mark.parametrize("nodes", [220, 700, 2000])
def test_ten_drawn_splits_with_few_labels_say_what_other_splits_of_the_graph_would(nodes):
    """Forty nodes train, the rest tests; what is true is the mean over all 2,000 trials that are drawn."""
    rng, overlap = np.random.default_rng(0), overlap_of_splits(train=40, test=nodes - 40)
    _, scores = trained(rng, *drawn(rng, nodes), train=40, test=nodes - 40, trials=2000)
    one, other = np.reshape(scores, (2, 200, 10))
    true = np.mean(one - other)
    of = paired(one, other, overlap=overlap)
    assert np.mean((of.low <= true) & (true <= of.high)) >= 0.92
    assert np.mean(paired(one - true, other, overlap=overlap).p <= LEVEL) <= 0.08  # systems that are equal
    gap = 4 * np.std(one - other) * np.sqrt(1 / 10 + overlap) - true
    assert np.mean(paired(one + gap, other, overlap=overlap).p <= LEVEL) >= 0.8  # a gap of four standard errors
