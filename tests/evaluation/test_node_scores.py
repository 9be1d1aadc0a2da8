"""What is kept of each test node: by the definition, there and back, and the same sample for all runs."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.evaluation import node_scores
from grandplus.evaluation.node_scores import NodeScores

LABELS = np.arange(40) % 3


@st.composite
def trials(draw):
    """Of some trials the nodes that each tests, and where it is right."""
    nodes = draw(st.lists(st.sets(st.integers(0, 39), min_size=1).map(sorted), min_size=1, max_size=5))
    return [np.array(each) for each in nodes], [np.array([draw(st.booleans()) for _ in each]) for each in nodes]


@given(trials())
def test_nodes_of_each_trial_stand_where_they_belong(given_trials):
    nodes, correct = given_trials
    found = NodeScores.of(nodes, correct, LABELS)
    assert found.nodes.tolist() == sorted(set(np.concatenate(nodes).tolist()))
    assert found.labels.tolist() == LABELS[found.nodes].tolist()
    assert found.size == pytest.approx(np.mean([len(each) for each in nodes]))
    for trial, (each, hits) in enumerate(zip(nodes, correct, strict=True)):
        assert found.nodes[found.tested[trial]].tolist() == each.tolist()
        assert found.nodes[found.correct[trial]].tolist() == each[hits].tolist()


@given(trials())
def test_json_there_and_back(given_trials):
    found = NodeScores.of(*given_trials, LABELS)
    again = NodeScores.from_json(json.loads(json.dumps(found.to_json())))
    for name in ("nodes", "labels", "tested", "correct"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name), strict=True)
    assert again.size == found.size


@pytest.mark.parametrize(
    "damage",
    [
        {"nodes": [3, 1]},
        {"nodes": [1, 2, 3]},
        {"labels": [0]},
        {"labels": ["a", "b"]},
        {"tested": ["!!"]},
        {"tested": []},
        {"tested": [base64.b64encode(b"\x00").decode()]},
        {"correct": [base64.b64encode(b"\xff\xff").decode()]},
        {"correct": 3},
        {"size": "many"},
    ],
)
def test_damage_is_seen(damage):
    content = NodeScores.of([np.array([1, 3])], [np.array([True, False])], LABELS).to_json()
    with pytest.raises((KeyError, TypeError, ValueError)):
        NodeScores.from_json(content | damage)
    for key in content:
        with pytest.raises(KeyError):
            NodeScores.from_json({name: value for name, value in content.items() if name != key})


def test_of_many_nodes_a_sample_is_kept_the_same_for_all_runs(monkeypatch):
    monkeypatch.setattr(node_scores, "MOST_NODES", 200)
    rng = np.random.default_rng(0)
    labels = rng.choice(4, 3000, p=[0.5, 0.3, 0.198, 0.002])
    nodes = [np.sort(rng.permutation(3000)[:2500]) for _ in range(3)]
    first, second = (NodeScores.of(nodes, [rng.random(2500) < 0.7 for _ in nodes], labels) for _ in range(2))
    assert first.nodes.tolist() == second.nodes.tolist()
    assert 200 <= len(first.nodes) <= 204
    shares = np.bincount(labels) / 3000
    assert np.bincount(first.labels).tolist() == pytest.approx(200 * shares, abs=1.1)
    assert first.size == 2500
    fewer = NodeScores.of(nodes[:1], [np.ones(2500, bool)], labels)  # of fewer nodes: almost the same
    assert len(np.intersect1d(fewer.nodes, first.nodes)) >= 150
