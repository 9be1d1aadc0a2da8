"""How probabilities rank nodes, against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.evaluation import ranking
from grandplus.evaluation.ranking import rank, told_mean


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=20))
def test_scores_are_those_of_the_definitions(nodes):
    """AUROC counts pairs, ties half; the precision at a node counts all nodes with at least its probability."""
    labels, *shares = np.array(nodes).T
    probabilities = np.stack([*shares, np.zeros(len(labels))], axis=1).astype(np.float32) / 8
    scores = rank(labels, probabilities)
    for number in range(3):
        p, of_it = probabilities[:, number], labels == number
        if of_it.all() or not of_it.any():
            assert np.isnan([scores.auroc[number], scores.average_precision[number]]).all()
            continue
        higher = (p[of_it][:, None] > p[~of_it]) + 0.5 * (p[of_it][:, None] == p[~of_it])
        assert scores.auroc[number] == pytest.approx(higher.mean())
        precision = [of_it[p >= share].mean() for share in p[of_it]]
        assert scores.average_precision[number] == pytest.approx(np.mean(precision))


def test_many_nodes_are_ranked_by_threads_alike(monkeypatch):
    rng = np.random.default_rng(0)
    labels, probabilities = rng.integers(0, 5, 200), rng.random((200, 5), np.float32)
    by_one = rank(labels, probabilities)
    monkeypatch.setattr(ranking, "LARGE", 1)
    np.testing.assert_array_equal(rank(labels, probabilities), by_one)


def test_a_class_without_a_node_does_not_skew_the_mean():
    probabilities = np.array([[0.9, 0.05, 0.05], [0.1, 0.5, 0.4]], np.float32)
    assert told_mean(rank(np.array([0, 1]), probabilities).auroc) == 1
    assert told_mean(rank(np.array([0, 0]), probabilities).auroc) is None
