"""Candidates are distinct, and have only features that the graph can have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_graphs import SPLIT, Saved, made, saved

from grandplus.graph.graph import Graph
from grandplus.tuning import candidates as module
from grandplus.tuning.candidates import Candidate, distinct
from grandplus.tuning.portfolio import PROPAGATION, TRAINING


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return Saved(saved(made(homophily=0.8, noise=0.5), tmp_path_factory.mktemp("candidates") / "graph"))


def test_the_first_line_changes_nothing_and_none_stands_twice():
    assert PROPAGATION[0] == {}
    lines = [tuple(sorted(change.items())) for change in PROPAGATION + TRAINING]
    assert len(set(lines)) == len(lines)
    assert 20 <= len(lines) <= 30


def test_what_comes_to_the_same_is_tried_once(dataset):
    graph = Graph.load(dataset.folder)
    changes = [{}, {"order": 4}, {"order": 2}, {"matrix": "avg", "order": 2}]
    first = distinct([], changes, dataset.candidate, graph)
    assert [candidate.change for candidate in first] == [{}, {"order": 2}]
    assert [one.change for one in distinct(first, [{"order": 4}, {"top_k": 64}], dataset.candidate, graph)] == [
        {"top_k": 64}
    ]


@pytest.mark.parametrize(
    ("present", "wanted"),
    [
        ("as-is", ["standardize", "row-normalize"]),
        ("standardize", ["row-normalize"]),
        ("degree", ["adjacency", "standardized-adjacency"]),
        ("adjacency", ["standardized-adjacency"]),
    ],
)
@pytest.mark.parametrize("room", [2**26, 10])
def test_features_are_those_that_the_graph_can_have(dataset, monkeypatch, present, wanted, room):
    """Dense ones only where there is room for them."""
    monkeypatch.setattr(module, "MAX_DENSE", room)
    graph, plain = Graph.load(dataset.folder), dataset.candidate({})
    graph = replace(graph, fitted=replace(graph.fitted, kind=present))

    def resolve(change):
        features = SPLIT.model_copy(update={"features": change.get("features", present)})
        return Candidate(features, plain.matrix, plain.gfpush, plain.train, change)

    changes = [{}, *(change for change in TRAINING if change.keys() == {"features"})]
    _, *others = distinct([], changes, resolve, graph)
    expected = [name for name in wanted if room > 10 or not name.startswith("standardize")]
    assert [candidate.change["features"] for candidate in others] == expected


def test_as_text(dataset):
    assert str(dataset.candidate({})) == "as it is"
    assert str(dataset.candidate({"matrix": "single", "top_k": np.int64(8).item()})) == "matrix=single top_k=8"
