"""Suggested nodes are those of the documented score, computed densely in float64."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from graphs import EDGE_CASES, Edges, graphs
from hypothesis import strategies as st

import grandplus as gp
from grandplus.graph.adjacency import as_adjacency
from grandplus.propagation.matrices import PPR
from grandplus.suggestion import embedding
from grandplus.suggestion import suggest as module
from grandplus.suggestion.suggest import MOST, entropy, suggest

WEIGHTS = PPR().weights()
#     0 ─ 1 ─ 2    3 ─ 4    5      Words: nodes 0 to 2 have the first one, 3 and 4 the second, 5 the third.
PARTS = Edges(6, ((0, 1), (1, 2), (3, 4)))
WORDS = np.eye(3, dtype=np.float32)[[0, 0, 0, 1, 1, 2]]


class Reference:
    """The score of each node, dense and in float64."""

    def __init__(self, edges: Edges, features, labelled=(), probabilities=None):
        pi = edges.pi(WEIGHTS)
        rows = pi @ np.asarray(features, np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, lengths, out=rows, where=lengths > 0)
        self.distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
        self.weights = pi.sum(axis=0)
        if probabilities is not None:
            self.weights *= [-sum(p * np.log(p) for p in row if p > 0) for row in probabilities]
        self.unknown = np.setdiff1d(np.arange(edges.nodes), labelled)
        self.nearest = self.distances[:, list(labelled)].min(axis=1, initial=2)

    def scores(self):
        nearer = np.maximum(self.nearest[:, None] - self.distances, 0)[self.unknown]
        weights = self.weights[self.unknown]
        return weights @ nearer / (weights.sum() or 1)

    def choose(self, node: int) -> None:
        self.nearest = np.minimum(self.nearest, self.distances[:, node])


def check(edges: Edges, features, found, candidates, **known) -> None:
    """Each node has the largest score when it is chosen, but for rounding, and that score."""
    reference, left = Reference(edges, features, **known), list(candidates)
    for node, score in zip(found.node.tolist(), found.score.tolist(), strict=True):
        scores = reference.scores()
        assert score == pytest.approx(scores[node], abs=2e-6)
        assert scores[node] >= scores[left].max() - 4e-6
        reference.choose(node)
        left.remove(node)


def test_each_part_has_its_representative_then_ties_go_by_number():
    found = suggest(PARTS.matrix, WORDS, 10)
    assert found.node.tolist() == [0, 3, 5, 1, 2, 4]  # all that there are
    # All six masses are 6 in sum; the first part is √2 from the others, and 2 stands for the distance to nothing.
    near = 2 - np.sqrt(2)
    expected = [(3 * 2 + 3 * near) / 6, 2 * np.sqrt(2) / 6, np.sqrt(2) / 6, 0, 0, 0]
    np.testing.assert_allclose(found.score, expected, atol=1e-6)
    assert found.stands_for.tolist() == [3, 2, 1, 0, 0, 0]


def test_the_beginning_of_a_longer_list_is_the_shorter_one():
    whole = suggest(PARTS.matrix, WORDS, 6)
    for budget in range(1, 6):
        assert suggest(PARTS.matrix, WORDS, budget).node.tolist() == whole.node[:budget].tolist()


def test_labelled_nodes_represent_and_are_not_suggested():
    found = suggest(PARTS.matrix, WORDS, 10, labelled=[1, 3])
    assert found.node.tolist() == [5, 0, 2, 4]
    assert found.stands_for.tolist() == [1, 0, 0, 0]
    check(PARTS, WORDS, found, [0, 2, 4, 5], labelled=[1, 3])
    assert not len(suggest(PARTS.matrix, WORDS, 3, labelled=range(6)).node)


def test_candidates_only_are_suggested_and_others_are_represented():
    found = suggest(PARTS.matrix, WORDS, 10, candidates=[4, 5])
    assert found.node.tolist() == [4, 5]
    assert found.stands_for.tolist() == [5, 1]  # of equally near ones the first
    check(PARTS, WORDS, found, [4, 5])


def test_unsure_nodes_count_more():
    sure, unsure = [1.0, 0.0], [0.5, 0.5]
    found = suggest(PARTS.matrix, WORDS, 2, labelled=[5], probabilities=np.array([sure] * 3 + [unsure] * 3))
    assert found.node.tolist() == [3, 0]
    check(PARTS, WORDS, found, range(5), labelled=[5], probabilities=[sure] * 3 + [unsure] * 3)
    assert found.score[1] == 0


def test_a_hub_matters_to_many():
    """With equal distances the mass decides, which is the sum of the column of Π."""
    star, marks = EDGE_CASES["star with its centre last"], np.eye(9, dtype=np.float32)
    found = suggest(star.matrix, marks, 1)
    assert found.node.tolist() == [8]
    check(star, marks, found, range(9))


@hypothesis.given(graphs(), st.data())
def test_random_graphs(edges, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    features = rng.integers(-3, 4, (edges.nodes, data.draw(st.integers(1, 4)))).astype(np.float32)
    labelled = np.flatnonzero(rng.random(edges.nodes) < data.draw(st.sampled_from([0, 0.3])))
    probabilities = data.draw(st.sampled_from([None, rng.dirichlet([1, 1, 1], edges.nodes)]))
    found = suggest(edges.matrix, features, edges.nodes, labelled=labelled, probabilities=probabilities)
    unknown = np.setdiff1d(np.arange(edges.nodes), labelled)
    assert sorted(found.node.tolist()) == unknown.tolist()
    check(edges, features, found, unknown, labelled=labelled, probabilities=probabilities)


@pytest.mark.parametrize("edges", EDGE_CASES.values(), ids=EDGE_CASES)
@pytest.mark.parametrize("value", [0, 1])
def test_constant_features_tell_nothing_so_nodes_come_by_number(edges, value):
    found = suggest(edges.matrix, np.full((edges.nodes, 2), value, np.float32), edges.nodes)
    assert found.node.tolist() == list(range(edges.nodes))
    np.testing.assert_allclose(found.score[1:], 0, atol=1e-6)


def test_wide_features_are_projected_and_keep_their_distances_nearly():
    rng = np.random.default_rng(1)
    features = (rng.random((60, 3000)) < 0.05).astype(np.float32)
    path = sp.diags_array(np.ones(59), offsets=1, shape=(60, 60))
    rows = embedding.unit_rows(as_adjacency(path), features, np.arange(60), WEIGHTS)
    assert rows.shape == (60, embedding.DIMENSIONS)
    exact = Edges(60, tuple((i, i + 1) for i in range(59))).pi(WEIGHTS) @ features
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    before, after = (np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(60, 1)] for x in (exact, rows))
    errors = np.abs(after / before - 1)
    assert errors.max() < 0.35
    assert errors.mean() < 0.08
    for same in (sp.csr_array(features), sp.csc_array(features), features.astype(np.float64)):
        np.testing.assert_array_equal(suggest(path, same, 9).node, suggest(path, features, 9).node)


def test_bytes_are_the_same_for_any_number_of_workers(monkeypatch):
    rng = np.random.default_rng(2)
    matrix, features = sp.random_array((900, 900), density=0.005, rng=rng), rng.normal(size=(900, 200))
    found = []
    for workers in ("1", "3"):
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        found.append(suggest(matrix, features, 40, labelled=[3, 5]))
    for name in ("node", "score", "stands_for"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()


def test_a_sample_stands_for_a_large_graph(monkeypatch):
    monkeypatch.setattr(module, "MOST", 100)
    groups = np.arange(1000) % 3
    features = np.eye(3, dtype=np.float32)[groups]
    found = suggest(sp.csr_array((1000, 1000)), features, 3, labelled=np.arange(0, 600))
    assert (found.node >= 600).all()
    assert (found.score < 1e-6).all()  # all groups are labelled
    found = suggest(sp.csr_array((1000, 1000)), features, 3)
    assert sorted(groups[found.node].tolist()) == [0, 1, 2]
    assert found.stands_for.sum() == 1000
    np.testing.assert_allclose(found.stands_for, 333, atol=120)


def test_entropy_of_a_certain_prediction_is_zero():
    assert entropy(np.array([[1.0, 0.0, 0.0]])).tolist() == [0.0]
    assert entropy(np.full((1, 4), 0.25)).tolist() == pytest.approx([np.log(4)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget is 0; expected a whole number from 1 to 10,000"),
        ({"budget": 2.5}, "budget is 2.5; expected a whole number from 1 to 10,000"),
        ({"budget": MOST + 1}, "budget is 10001; expected a whole number from 1 to 10,000"),
        ({"labelled": [2, 6]}, "labelled has node 6; expected numbers of nodes, from 0 to 5"),
        ({"candidates": [-1, 2]}, "candidates has node -1; expected numbers of nodes, from 0 to 5"),
        ({"labelled": [0.5]}, "labelled has node 0.5; expected numbers of nodes, from 0 to 5"),
        ({"features": WORDS[1:]}, "features have shape (5, 3); expected 6 rows of columns, one a node"),
        ({"features": WORDS * np.nan}, "features are not finite for node 0; expected finite numbers"),
        (
            {"probabilities": np.ones(6)},
            "probabilities have shape (6,); expected 6 rows, one a node, with a column for each class",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(gp.ArgumentError) as error:
        suggest(PARTS.matrix, arguments.pop("features", WORDS), arguments.pop("budget", 2), **arguments)
    assert str(error.value) == message
