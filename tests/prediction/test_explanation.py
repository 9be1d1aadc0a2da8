"""Where a prediction comes from, against a dense row of Π."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from graphs import Edges

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.pipeline.settings import load_settings
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.explain import explain
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime.errors import ArtifactError, GrandPlusError

STAR = Edges(16, tuple((0, i) for i in range(1, 14)))  # two nodes are isolated
WEIGHTS = (0.25, 0.5, 0.25)
IDS = np.array(["hub", *(f"leaf {i}" for i in range(1, 16))], object)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A finished run of one model on a star, in the current folder."""
    labels = np.array([0] * 5 + [1] * 5 + [-1] * 6)
    graph = Graph(as_adjacency(STAR.matrix), np.eye(16, dtype=np.float32), labels, ["one", "two"], IDS)
    settings = {"features": "as-is", "split": "public", "train_per_class": 1, "val_per_class": 1, "unlabelled": "all"}
    split = {"train": np.array([3, 7]), "val": np.array([0, 5]), "test": np.array([1, 2])}
    train = load_settings(dataset="cora", matrix="ppr").train
    torch.manual_seed(0)
    common = {"classes": graph.classes, "settings": train, "info": {"dataset": "star"}}
    common["preprocessing"] = graph.fitted.to_json()
    model = Model(mlp=MLP(16, 2, train), weights=WEIGHTS, **common)
    for folder in ("graph", "rows", "model", "predictions"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    data = tmp_path / "data"
    graph.save(data / "graph")
    splits = make_splits(labels, Preprocess(**settings), [split], seed=0, trials=1)
    splits.save(data / "graph")
    gfpush(graph, [3], weights=WEIGHTS, rmax=0, top_k=2).save(data / "rows")
    model.save(data / "model" / "trial-00000.safetensors")
    write_trial(data / "predictions" / "trial-00000.parquet", graph, splits.of(0), model.predict_proba(graph))
    write_predictions(data / "predictions", graph, splits)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grandplus.prediction.predictor.ROW_ENTRIES", 12)
    return Predictor.load()


def test_a_leaf_of_a_star(checkout):
    explanation = explain(checkout, "leaf 3")
    pi = STAR.pi(np.array(WEIGHTS))[3]
    kept = np.argsort(-pi, kind="stable")[:12]
    full = checkout.models[0].predict_proba(checkout.graph)
    names = np.array(["one", "two"])
    neighbours = explanation.neighbours
    assert [each.node for each in neighbours] == IDS[kept].tolist()
    np.testing.assert_allclose([each.value for each in neighbours], pi[kept], atol=1e-7)
    np.testing.assert_allclose([each.share for each in neighbours], pi[kept] / pi[kept].sum(), atol=1e-7)
    assert [each.predicted for each in neighbours] == names[full[kept].argmax(axis=1)].tolist()
    labels = ["one"] * 5 + ["two"] * 5 + [None] * 6
    assert [each.label for each in neighbours] == [labels[number] for number in kept]
    assert [each.trained_on for each in neighbours] == [number in (3, 7) for number in kept]
    shares = {name: pi[kept][full[kept].argmax(axis=1) == number].sum() for number, name in enumerate(names)}
    assert {each.name: each.share for each in explanation.classes} == pytest.approx(
        {name: share / pi[kept].sum() for name, share in shares.items()}, abs=1e-6
    )


def test_what_is_said_of_the_node_itself(checkout):
    explanation, prediction = explain(checkout, "leaf 3"), checkout.predict(np.array([3]))
    pi = np.sort(STAR.pi(np.array(WEIGHTS))[3])[::-1]
    assert (explanation.node, explanation.label, explanation.trained_on) == ("leaf 3", "one", True)
    assert explanation.predicted == ["one", "two"][prediction.predicted[0]]
    assert (explanation.confidence, explanation.confident) == (prediction.confidence[0], False)
    assert explanation.l1_error == pytest.approx(1 - pi[:12].sum(), abs=1e-6)
    probabilities = [each.probability for each in explanation.classes]
    assert probabilities == sorted(prediction.probabilities[0].tolist(), reverse=True)
    assert explanation.classes[0].name == explanation.predicted


def test_an_isolated_node_stands_for_itself(checkout):
    explanation = explain(checkout, "leaf 15")
    assert (explanation.label, explanation.trained_on, explanation.l1_error) == (None, False, 0)
    [itself] = explanation.neighbours
    assert (itself.node, itself.value, itself.share) == ("leaf 15", 1, 1)


def test_predictions_that_are_not_there_are_named(checkout):
    Path("data/predictions/predictions.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"predictions\.parquet: no such file"):
        explain(checkout, "hub")


def test_predictions_of_another_run_are_refused(checkout):
    """As a run leaves them that has ended since the predictor was loaded."""
    file, words = Path("data/predictions/calibration.json"), "data/predictions: the predictions are of another run than"
    own = Calibration.load(file)
    noted = dataclasses.replace(checkout, calibration=dataclasses.replace(own, models="a" * 64))
    assert explain(noted, "hub").node == "hub"  # one's own calibration, which notes no models
    dataclasses.replace(own, models="b" * 64).save(file)
    with pytest.raises(ArtifactError, match=words):
        explain(noted, "hub")
    graph, splits = checkout.graph, Splits.load("data/graph")
    renamed = Graph(graph.adjacency, graph.features, graph.labels, ["won", "too"], graph.node_ids)
    write_predictions(Path("data/predictions"), renamed, splits)
    with pytest.raises(ArtifactError, match=words):
        explain(checkout, "hub")


def test_another_id_is_named(checkout):
    with pytest.raises(GrandPlusError, match=r"there is no node leaf 16; .* the nearest (is|are) leaf 1"):
        explain(checkout, "leaf 16")


def test_a_node_that_came_later(checkout):
    edges = [["new", "new", "newer"], ["leaf 2", "leaf 7", "new"]]
    grown = checkout.stored_graph.grown(["new", "newer"], edges, np.eye(16, dtype=np.float32)[:2], ["two", None])
    later = checkout.on(grown)
    explanation = explain(later, "new")
    assert (explanation.node, explanation.label, explanation.trained_on) == ("new", "two", False)
    assert sum(neighbour.share for neighbour in explanation.neighbours) == pytest.approx(1)
    by_node = {neighbour.node: neighbour for neighbour in explanation.neighbours}
    assert by_node.keys() == {"new", "newer", "leaf 2", "leaf 7", "hub"}
    assert by_node["leaf 7"].trained_on
    alone = later.predict(grown.rows_of(["newer"]))
    assert by_node["newer"].predicted == grown.classes[alone.predicted[0]]
    assert by_node["newer"].confidence == pytest.approx(float(alone.confidence[0]))
    # leaf 2 has new, hub and itself; its part of the first step is 1/4, of the second 1/4 · 1/4 + 1/4 · 1/3.
    assert by_node["leaf 2"].value == pytest.approx(0.5 / 4 + 0.25 * (1 / 16 + 1 / 12))
