"""The second source of chance: simulated systems on drawn test nodes, beside the trials' own test."""

import numpy as np
import pytest

from grandplus.evaluation import resampling
from grandplus.evaluation.resampling import NodeScores, over_nodes
from grandplus.evaluation.statistics import LEVEL, paired, welch


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
    over_trials = test(*(run.correct.mean(axis=1) for run in runs))
    return over_trials, over_nodes(over_trials, *runs, paired=test is paired)


@pytest.fixture
def fewer_resamples(monkeypatch):
    monkeypatch.setattr(resampling, "RESAMPLES", 500)


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("test", [paired, welch])
@pytest.mark.parametrize(("own", "spread"), [(1.0, 0.0), (0.5, 0.1), (0.0, 0.2), (0.0, 0.0)])
def test_of_equal_systems_few_are_claimed_to_differ_beyond_the_nodes(test, own, spread):
    """5 % by the level, and chance of 300 draws, whether nodes, trials or neither cause most of the spread."""
    rng = np.random.default_rng(0)
    claims = [compared(systems(rng, own=own, spread=spread), test)[1] for _ in range(300)]
    assert np.mean([of.p <= LEVEL for of in claims]) <= 0.08
    assert 0.92 <= np.mean([of.low <= 0 <= of.high for of in claims]) <= 0.985


def test_trials_alone_say_nothing_of_other_nodes():
    """Systems that are equal, but each good at nodes of its own: over trials most of a hundred seem to differ."""
    rng = np.random.default_rng(0)
    runs = [systems(rng, own=2.0, trials=30) for _ in range(100)]
    over_trials = [paired(*(run.correct.mean(axis=1) for run in pair)) for pair in runs]
    assert np.mean([of.p <= LEVEL for of in over_trials]) >= 0.5


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("test", [paired, welch])
def test_a_gap_is_found_beyond_the_nodes(test):
    """Of six points on a thousand nodes nearly always."""
    rng = np.random.default_rng(0)
    claims = [compared(systems(rng, nodes=1000, gap=0.06), test)[1] for _ in range(60)]
    assert np.mean([of.p <= LEVEL for of in claims]) >= 0.95
