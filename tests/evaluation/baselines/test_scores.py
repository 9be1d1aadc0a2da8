"""The accuracies of all baselines, against dense computations in float64."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import FIVE, Edges, graphs, mixtures, seeded
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from grandplus.evaluation.baselines import linear, scores
from grandplus.evaluation.baselines.scores import BASELINES, score_baselines
from grandplus.evaluation.baselines.table import LABELS, BaselineScore
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.propagation.matrices import propagation_weights

WEIGHTS = propagation_weights("ppr", order=4)
NAMES = list(LABELS)


def test_each_baseline_has_a_label():
    assert ["majority", *(baseline.name for baseline in BASELINES)] == NAMES


def graph_of(edges: Edges, features, labels, classes: int) -> Graph:
    adjacency = as_adjacency(edges.matrix)
    names = [f"class {number}" for number in range(classes)]
    return Graph(adjacency, features, np.asarray(labels, np.int64), names, np.arange(edges.nodes))


def split_of(train, val=(), test=()) -> Split:
    return Split(*(np.array(nodes, np.int64) for nodes in (train, val, test, ())))


def scored(graph: Graph, *splits: Split, weights=WEIGHTS) -> dict[str, list[tuple[float | None, float | None]]]:
    found = score_baselines(graph, splits, weights=weights, rmax=0, top_k=graph.adjacency.nodes)
    assert [(score.trial, score.baseline) for score in found] == [
        (trial, name) for trial in range(len(splits)) for name in NAMES
    ]
    return {name: [score[2:] for score in found if score.baseline == name] for name in NAMES}


@pytest.fixture(scope="module")
def communities() -> Graph:
    """Three communities in a graph with hubs and isolated nodes; features that tell them apart, though not well."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(3, size=240))
    ends = rng.integers(240, size=(2, 1800))
    kept = (labels[ends[0]] == labels[ends[1]]) | (rng.random(1800) < 0.2)
    edges = Edges(240, tuple(map(tuple, ends[:, kept].T.tolist())))
    features = (np.eye(3)[labels] @ rng.normal(size=(3, 8)) + 2 * rng.normal(size=(240, 8))).astype(np.float32)
    return graph_of(edges, features, labels, 3)


def random_splits(nodes: int, count: int) -> list[Split]:
    orders = [np.random.default_rng(seed).permutation(nodes) for seed in range(count)]
    return [split_of(order[:30], np.sort(order[30:90]), np.sort(order[90:])) for order in orders]


def dense_pi(graph: Graph, weights) -> np.ndarray:
    a = sp.csr_array((np.ones(len(graph.adjacency.indices)), graph.adjacency.indices, graph.adjacency.indptr)).toarray()
    p = (a + np.eye(len(a))) / (a.sum(axis=1, keepdims=True) + 1)
    return sum(weight * np.linalg.matrix_power(p, n) for n, weight in enumerate(weights))


def fitted_by_hand(inputs: np.ndarray, labels: np.ndarray, split: Split) -> tuple[float, float]:
    """Each penalty fitted from nothing in float64; the strongest of those that are best on validation."""
    best = (-1.0, 0.0)
    for inverse_penalty in linear.INVERSE_PENALTIES:
        model = LogisticRegression(C=inverse_penalty, max_iter=1000).fit(inputs[split.train], labels[split.train])
        val, test = (float(model.score(inputs[nodes], labels[nodes])) for nodes in (split.val, split.test))
        if val > best[0]:
            best = val, test
    return best


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_logistic_regressions_are_those_of_a_dense_computation(communities, kind, monkeypatch):
    monkeypatch.setattr(linear, "PATIENCE", 99)  # all penalties are tried
    features = np.where(np.abs(communities.features) > 1, communities.features, 0).astype(np.float32)
    given_features = features if kind == "dense" else sp.csr_array(features)
    graph = graph_of_features(communities, given_features)
    splits = random_splits(240, 2)
    found = scored(graph, *splits)
    propagated = dense_pi(graph, WEIGHTS) @ features
    for inputs, name in ((features, "logistic_regression"), (propagated, "propagated_logistic_regression")):
        with threadpool_limits(1):
            expected = [fitted_by_hand(inputs.astype(np.float64), graph.labels, split) for split in splits]
        np.testing.assert_allclose(found[name], expected, atol=0.021, err_msg=name)  # 1 validation node, 2 test nodes
    assert np.mean(found["propagated_logistic_regression"]) > np.mean(found["logistic_regression"]) + 0.1


def graph_of_features(graph: Graph, features) -> Graph:
    return Graph(graph.adjacency, features, graph.labels, graph.classes, graph.node_ids)


@settings(max_examples=30)
@given(graphs(most_nodes=12), mixtures(), st.data())
def test_label_propagation_predicts_the_class_with_most_of_a_row(edges, weights, data):
    labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=edges.nodes, max_size=edges.nodes)))
    known = np.flatnonzero(labels >= 0)
    if not len(known):
        return
    train = known[: data.draw(st.integers(1, len(known)))]
    test = np.setdiff1d(np.arange(edges.nodes), train)
    graph = graph_of(edges, np.ones((edges.nodes, 1), np.float32), labels, 3)
    accuracy = scored(graph, split_of(train, (), test), weights=weights)["label_propagation"][0][1]
    masses = edges.pi(weights)[:, train] @ np.eye(3)[labels[train]]
    judged = test[labels[test] >= 0]
    if not len(judged):
        assert accuracy is None
        return
    rows = masses[judged]
    clear = np.sort(rows, axis=1)[:, -1] - np.sort(rows, axis=1)[:, -2] > 1e-5
    right = rows.argmax(axis=1) == labels[judged]
    assert (right & clear).sum() <= round(accuracy * len(judged)) <= (right | ~clear).sum()


def test_label_propagation_in_closed_form():
    """One step on 0-1, 0-2, 1-2, 2-3 with 4 alone: rows of P are 1/3, 1/3, 1/4 and 1/2 over the neighbourhoods."""
    graph = graph_of(FIVE, np.ones((5, 1), np.float32), [0, 0, 1, 1, 0], 2)
    # Node 0 is of class 0, node 3 of class 1. Node 1 sees node 0 alone; node 2 sees both, and the more frequent class
    # among training and validation labels decides; node 4 sees none.
    split = split_of(train=[0, 3], val=[1], test=[2, 4])
    assert scored(graph, split, weights=[0.0, 1.0])["label_propagation"] == [(1.0, 0.5)]


def test_the_majority_is_that_of_training_and_validation_labels():
    graph = graph_of(seeded(8, 20), np.ones((8, 1), np.float32), [0, 0, 1, 1, 1, 0, 1, -1], 2)
    split = split_of(train=[0, 1, 2, 3], val=[4], test=[5, 6, 7])
    assert scored(graph, split)["majority"] == [(1.0, 0.5)]


def test_where_labels_are_balanced_the_majority_is_what_is_predicted_most():
    """As by per-class splits: of ten nodes with a label each, most have features like those of class 1."""
    labels = np.array([0, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    features = np.eye(2, dtype=np.float32)[labels]
    graph = graph_of(Edges(10, ()), features, labels, 2)
    assert scored(graph, split_of([0, 1], [8, 7], [2, 3, 4, 5, 6, 9]))["majority"] == [(0.5, pytest.approx(5 / 6))]
    flipped = graph_of(Edges(10, ()), features, 1 - labels, 2)
    assert scored(flipped, split_of([0, 1], [], [2, 3, 4, 5, 6, 9]))["majority"] == [(None, pytest.approx(5 / 6))]


@pytest.mark.parametrize("features", [np.zeros((8, 0), np.float32), sp.csr_array((8, 3), dtype=np.float32)])
def test_without_features_logistic_regression_predicts_the_majority(features):
    graph = graph_of(seeded(8, 20), features, [0, 0, 1, 1, 1, 0, 1, 0], 2)
    found = scored(graph, split_of([0, 1, 2], [3, 4], [5, 6, 7]))
    assert found["logistic_regression"] == found["propagated_logistic_regression"] == found["majority"]


def test_features_of_small_values_are_not_hidden_by_strong_penalties(communities):
    """As those of long rows that sum to 1: the first penalties leave nothing but the majority class."""
    [split] = random_splits(240, 1)
    small = Graph(
        communities.adjacency,
        np.eye(3, dtype=np.float32)[communities.labels] / 100,
        communities.labels,
        communities.classes,
        communities.node_ids,
    )
    assert scored(small, split)["logistic_regression"] == [(1.0, 1.0)]


def test_one_class_among_training_nodes():
    graph = graph_of(seeded(8, 20), np.ones((8, 1), np.float32), [1, 1, 0, 1, 1, 0, 1, 0], 3)
    found = scored(graph, split_of([0, 1], [2, 3], [4, 5, 6, 7]))
    assert found == {name: [(0.5, 0.5)] for name in NAMES}


def test_a_training_node_of_each_of_many_classes_is_no_warning_of_the_library():
    """scikit-learn takes so many classes for a regression's numbers."""
    labels = np.repeat(np.arange(30), 2)
    features = (np.eye(30)[labels]).astype(np.float32)
    graph = graph_of(Edges(60, ((0, 1),)), features, labels, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scored(graph, split_of(np.arange(0, 60, 2), np.arange(1, 60, 2)))
    assert found["logistic_regression"][0][0] == 1


def test_equal_splits_are_computed_once(communities, monkeypatch):
    first, second = random_splits(240, 2)
    fits = []
    fit = scores.most_frequent
    monkeypatch.setattr(scores, "most_frequent", lambda *given: fits.append(given[1]) or fit(*given))
    found = scored(communities, first, second, first)
    assert fits == [first, second]
    assert all(trials[0] == trials[2] for trials in found.values())


def test_any_workers_memory_and_neighbouring_trials_give_the_same(communities, monkeypatch):
    splits = random_splits(240, 5)
    alone = [BaselineScore(trial, *score[1:]) for trial, split in enumerate(splits)
             for score in score_baselines(communities, [split], weights=WEIGHTS, rmax=0, top_k=240)]  # fmt: skip
    for workers, columns in (("1", 1000), ("3", 7)):
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        monkeypatch.setattr(scores, "COLUMNS", columns)
        assert score_baselines(communities, splits, weights=WEIGHTS, rmax=0, top_k=240) == alone


def test_of_many_labelled_nodes_some_are_fitted_on(communities, monkeypatch):
    from grandplus.evaluation.baselines import protocol

    monkeypatch.setattr(protocol, "MOST_FITTED", 12)
    split = random_splits(240, 1)[0]
    problem = protocol.Problem(communities, [split], WEIGHTS, 0, 240)
    fitted = problem.fitted_on(split)
    assert len(set(fitted)) == 12
    assert set(fitted) <= set(split.train)
    assert set(communities.labels[fitted]) == {0, 1, 2}
    assert scored(communities, split)["propagated_logistic_regression"][0][1] > 0.5
