"""The experiment on rare classes: its graphs, its scores, and what a table says of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from experiments.rare.__main__ import PLAIN, SCORES, THRESHOLD, difference, scores_of, table
from experiments.rare.problems import OTHERS, WATCHED, with_a_rare_class
from grandplus.datasets.raw import RawGraph


def raw_graph(nodes=2000):
    rng = np.random.default_rng(0)
    labels = rng.choice(3, nodes, p=[0.2, 0.5, 0.3])
    edges, features = rng.integers(0, nodes, (2, 3 * nodes)), sp.csr_array(np.arange(nodes)[:, None].astype(np.float32))
    return RawGraph(edges, nodes, features, labels, ["a", "b", "c"], np.arange(nodes), [])


@pytest.mark.parametrize("two_classes", [False, True])
def test_the_largest_class_becomes_rare_and_the_rest_stays(two_classes):
    raw = raw_graph()
    problem = with_a_rare_class(raw, two_classes=two_classes)
    kept = problem.X.toarray().ravel().astype(int)  # a node's feature is its number
    assert problem.rare == "b"
    others = int((raw.labels != 1).sum())
    assert (problem.y == "b").sum() == round(others / OTHERS)
    assert len(problem.y) == others + round(others / OTHERS)
    expected = np.array(["a", "b", "c"])[raw.labels[kept]]
    expected = np.where(expected == "b", "b", "others") if two_classes else expected
    assert (problem.y == expected).all()
    pairs = {tuple(pair) for pair in kept[problem.edges].T.tolist()}
    inside = np.isin(raw.edges, kept).all(axis=0)
    assert pairs == {tuple(pair) for pair in raw.edges[:, inside].T.tolist()}


def test_parts_of_a_split_have_all_nodes_once():
    problem = with_a_rare_class(raw_graph(4000), two_classes=True)
    train, val, test = problem.split(3)
    assert len(train) == len(val) == WATCHED
    assert sorted(np.concatenate([train, val, test]).tolist()) == list(range(len(problem.y)))
    assert not np.array_equal(train, problem.split(4)[0])


def test_scores_by_hand():
    y, predicted = np.array(["rare", "rare", "a", "a"]), np.array(["rare", "a", "rare", "a"])
    scores = scores_of(y, predicted, np.array([0.9, 0.2, 0.4, 0.1]), "rare")
    expected = {"accuracy": 0.5, "balanced_accuracy": 0.5, "recall": 0.5, "precision": 0.5}
    assert scores == expected | {"average_precision": round((1 + 2 / 3) / 2, 4), "auroc": 0.75}


def row(weight, rule, trial, score):
    line = {"problem": "graph", "class_weight": weight, "rule": rule, "trial": str(trial), "test": "9000"}
    return line | dict.fromkeys(SCORES, str(score))


def test_differences_are_trial_by_trial():
    rows = [row("balanced", PLAIN, 1, 0.7), row("null", PLAIN, 0, 0.5), row("null", PLAIN, 1, 0.6)]
    rows += [row("balanced", PLAIN, 0, 0.6), row("null", THRESHOLD, 0, 0.5), row("null", THRESHOLD, 1, 0.6)]
    gain = difference(rows, ("balanced", PLAIN), "recall")
    assert gain.difference == pytest.approx(0.1)
    assert gain.high - gain.low == pytest.approx(0, abs=1e-6)
    lines = table(rows).splitlines()
    assert lines[0] == "graph, 2 trials, 9,000 test nodes:"
    assert [line.split(" | ")[0] for line in lines[4:7]] == ["| null", "| balanced", "| null"]
