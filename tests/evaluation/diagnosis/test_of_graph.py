"""Rules on the graph: facts that earn a finding, and facts just beside them that don't."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import EDGE_CASES
from made_facts import LABELS, NODES, VAL_NODES, facts, graph, predictions

from grandplus.evaluation.diagnosis import of_graph
from grandplus.evaluation.diagnosis.facts import GraphFacts, Labelled
from grandplus.evaluation.diagnosis.of_graph import constant_features, small_classes, unlike_edges
from grandplus.graph.adjacency import as_adjacency

BAD = predictions(50)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("row", [[0, 0, 0], [1, 0, 2]])
def test_constant_features(form, row):
    same = np.tile(np.array(row, np.float32), (NODES, 1))
    found, advice = constant_features(facts(graph=graph(features=form(same), kind="degree")))
    assert found == "all 140 nodes have the same features"
    assert advice == "preprocess.features=onehot-degree or preprocess.features=adjacency"
    for place in ((NODES - 1, 2), (0, 1)):
        other = same.copy()
        other[place] += 1
        assert not constant_features(facts(graph=graph(features=form(other))))


def test_a_column_in_another_place_is_no_constant():
    """Rows with as many stored values."""
    assert not constant_features(facts(graph=graph(features=sp.csr_array(np.eye(NODES, dtype=np.float32)))))


def adjusted_homophily(edges, labels):
    """By the definition of Platonov et al. (2023), on a graph of these edges alone."""
    alike = np.mean([labels[u] == labels[v] for u, v in edges])
    degrees = np.bincount(np.ravel(edges), minlength=len(labels))
    expected = sum(degrees[labels == k].sum() ** 2 for k in set(labels.tolist())) / (2 * len(edges)) ** 2
    return (alike - expected) / (1 - expected)


def test_edges_that_join_unlike_nodes():
    """A ring: every edge joins a class to the next."""
    nodes = np.arange(NODES)
    found, advice = unlike_edges(facts(graph=graph(edges=(nodes, np.roll(nodes, -1))), predicted=BAD, order=4))
    pairs = [(int(u), int(v)) for u, v in zip(nodes, np.roll(nodes, -1), strict=True)]
    assert adjusted_homophily(pairs, LABELS) == pytest.approx(-1 / 3)
    assert found == (
        "edges hardly join nodes of the same class: 0.00 % of 140 edges between labelled nodes do, and 25.00 % would "
        "by chance (adjusted homophily -0.33)"
    )
    assert advice == (
        "matrix=ppr with gfpush.alpha=0.8 and train.dropnode=0 (a node's own features count most) or matrix=single "
        "with gfpush.order=2 (neighbours of neighbours count most)"
    )
    assert not unlike_edges(facts())


@pytest.mark.parametrize(
    ("right", "features", "found"),
    [
        (86, 0.85, False),  # 85 is four fifths of the way from 25 % to 1
        (84, 0.5, True),
        (90, 0.91, True),
        (100, 1.0, False),
    ],
)
def test_a_training_that_went_well_copes_with_its_edges(right, features, found):
    nodes = np.arange(NODES)
    ring = graph(edges=(nodes, np.roll(nodes, -1)))
    given = facts(graph=ring, predicted=predictions(right), baselines={"logistic_regression": [features] * 2})
    assert bool(unlike_edges(given)) == found
    before = GraphFacts(graph=ring, labelled=given.labelled, order=4)
    assert unlike_edges(before)


def test_edges_that_are_not_used_earn_nothing():
    nodes = np.arange(NODES)
    ring = graph(edges=(nodes, np.roll(nodes, -1)))
    assert unlike_edges(facts(graph=ring, order=1, predicted=BAD))
    assert not unlike_edges(facts(graph=ring, order=0))


def test_random_edges_are_counted_as_the_definition_says():
    rng = np.random.default_rng(0)
    start, end = (NODES * rng.random((2, 400)) ** 2).astype(int)
    made = graph(edges=(start, end))
    pairs = {(min(u, v), max(u, v)) for u, v in zip(start.tolist(), end.tolist(), strict=True) if u != v}
    found, _ = unlike_edges(facts(graph=made, predicted=BAD, order=4))
    assert f"of {len(pairs)} edges" in found
    assert f"(adjusted homophily {adjusted_homophily(sorted(pairs), LABELS):.2f})" in found


def test_of_very_many_edges_a_sample_is_taken(monkeypatch):
    rng = np.random.default_rng(0)
    made = graph(edges=(NODES * rng.random((2, 3000))).astype(int))
    entries = len(made.adjacency.indices)
    monkeypatch.setattr(of_graph, "MOST_ENTRIES", entries)
    whole, _ = unlike_edges(facts(graph=made, predicted=BAD, order=4))
    assert f"of {entries // 2:,} edges" in whole
    monkeypatch.setattr(of_graph, "MOST_ENTRIES", entries // 2)
    sample, _ = unlike_edges(facts(graph=made, predicted=BAD, order=4))
    assert entries // 10 < int(re.search(r"of ([\d,]+) edges", sample)[1].replace(",", "")) < entries // 6


def test_few_edges_earn_nothing():
    """Of 6 edges of which none is alike, 31 % may be by Wilson's limit, which is an adjusted homophily of 0.08."""
    nodes = np.arange(NODES)
    for count, found in ((2, False), (6, True)):
        assert (
            bool(unlike_edges(facts(graph=graph(edges=(nodes[:count], nodes[1 : count + 1])), predicted=BAD, order=4)))
            == found
        )
    assert not unlike_edges(facts(graph=graph(edges=(nodes[:0], nodes[:0]))))


def test_only_edges_within_one_trial_count():
    """Of a ring that joins unlike nodes, each trial knows both ends of no edge."""
    nodes = np.arange(NODES)
    ring = graph(edges=(nodes, np.roll(nodes, -1)))
    trials = [Labelled(train=part[:20], val=part[20:]) for part in (nodes[::2], nodes[1::2])]
    assert not unlike_edges(GraphFacts(graph=ring, labelled=trials, order=2))
    trials[1] = Labelled(train=nodes[:40], val=nodes[40:])
    assert unlike_edges(GraphFacts(graph=ring, labelled=trials, order=2))


def test_edges_of_a_single_class_say_nothing():
    assert not unlike_edges(facts(graph=graph(labels=np.zeros(NODES, int))))


@pytest.mark.parametrize("name", EDGE_CASES)
def test_graphs_of_any_form(name):
    edges = EDGE_CASES[name]
    made = graph(labels=np.arange(edges.nodes) % 2, edges=edges.array)
    assert made.adjacency.nodes == as_adjacency(edges.matrix).nodes
    nodes = np.arange(edges.nodes)
    unlike_edges(GraphFacts(graph=made, labelled=[Labelled(train=nodes[::2], val=nodes[1::2])], order=2))


def test_classes_that_validation_lacks():
    few = VAL_NODES[(LABELS[VAL_NODES] != 3) | (np.cumsum(LABELS[VAL_NODES] == 3) <= 4)]
    train = np.arange(40)
    trials = [Labelled(train=train, val=VAL_NODES), Labelled(train=train, val=few)]
    found, advice = small_classes(facts(labelled=trials))
    assert found == "class d has fewer than 5 nodes to validate on (4)"
    assert advice == "more labelled nodes of it, or joining it with another class"
    enough = VAL_NODES[(LABELS[VAL_NODES] != 3) | (np.cumsum(LABELS[VAL_NODES] == 3) <= 5)]
    assert not small_classes(facts(labelled=[trials[0], Labelled(train=train, val=enough)]))


def test_a_class_without_training_nodes():
    train = np.arange(40)
    found, _ = small_classes(facts(labelled=Labelled(train=train[LABELS[train] > 1], val=VAL_NODES)))
    assert found == "each of classes a, b has no node to train on"
