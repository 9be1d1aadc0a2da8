"""The table to take, against means in float64; which part a node counts as; calibration on validation only."""

import dataclasses
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.prediction import predictions
from grandplus.prediction.calibration import Calibration, HeldOut, least_confidence
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.prediction.temperature import fit_temperature, tempered
from grandplus.runtime.errors import ArtifactError

NODES, TRIALS, CLASSES = 90, 3, ["ant", "bee", "cat"]


@pytest.fixture(scope="module")
def problem():
    """Graph, a split of its own for each trial, and each trial's probabilities."""
    rng = np.random.default_rng(0)
    labels = np.arange(NODES) % 3
    labels[80:] = -1
    ids = np.array([f"node {i}" for i in range(NODES)], object)
    graph = Graph(as_adjacency(sp.eye_array(NODES)), np.eye(NODES, dtype=np.float32), labels, CLASSES, ids)
    settings = {"features": "as-is", "split": "per-class", "train_per_class": 3, "val_per_class": 12}
    splits = make_splits(labels, Preprocess(**settings, unlabelled="all"), [], seed=0, trials=TRIALS)
    logits = 4 * rng.random((TRIALS, NODES, 3)) + 2 * np.eye(3)[labels] * (rng.random((TRIALS, NODES, 1)) < 0.8)
    found = np.exp(logits)
    return graph, splits, (found / found.sum(axis=2, keepdims=True)).astype(np.float32)


@pytest.fixture(params=[7, 2**16])
def folder(problem, tmp_path, monkeypatch, request):
    """All tables, in groups of so many rows."""
    monkeypatch.setattr(predictions, "GROUP_ROWS", request.param)
    graph, splits, trials = problem
    for trial, probabilities in enumerate(trials):
        write_trial(tmp_path / f"trial-{trial:05d}.parquet", graph, splits.of(trial), probabilities)
    write_predictions(tmp_path, graph, splits)
    return tmp_path


def test_a_trials_table(problem, folder):
    graph, splits, trials = problem
    table = pq.read_table(folder / "trial-00001.parquet").to_pydict()
    val = splits.of(1).val
    temperature = fit_temperature(trials[1][val], graph.labels[val])
    assert table["node"] == graph.node_ids.tolist()
    assert table["label"] == graph.labels.tolist()
    assert [table["part"].count(part) for part in ("train", "val", "test", "other")] == [
        9,
        36,
        35,
        10,
    ]
    assert table["predicted"] == trials[1].argmax(axis=1).tolist()
    assert table["probabilities"] == trials[1].tolist()
    assert table["confidence"] == trials[1].max(axis=1).tolist()
    assert table["calibrated"] == tempered(trials[1], temperature).max(axis=1).astype(np.float32).tolist()


def test_the_mean_of_the_calibrated_trials(problem, folder):
    graph, splits, trials = problem
    table = pq.read_table(folder / "predictions.parquet")
    assert json.loads(table.schema.metadata[b"classes"]) == CLASSES
    found = table.to_pydict()
    calibration = json.loads((folder / "calibration.json").read_text())
    assert calibration["temperatures"] == [
        fit_temperature(p[split.val], graph.labels[split.val])
        for p, split in zip(trials, map(splits.of, range(TRIALS)), strict=True)
    ]
    logits = np.log(trials.astype(np.float64)) / np.array(calibration["temperatures"])[:, None, None]
    mean = (np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(found["probabilities"], mean, atol=1e-7)
    np.testing.assert_allclose(found["confidence"], mean.max(axis=1), atol=1e-7)
    assert found["node"] == graph.node_ids.tolist()
    assert found["label"] == [CLASSES[label] if label >= 0 else None for label in graph.labels]
    assert found["predicted"] == [CLASSES[number] for number in mean.argmax(axis=1)]


def test_a_nodes_part_is_the_first_of_all_trials(problem, folder):
    _, splits, _ = problem
    found = np.array(pq.read_table(folder / "predictions.parquet")["part"].to_pylist())
    split = [splits.of(trial) for trial in range(TRIALS)]
    train, val = (set(np.concatenate([getattr(one, part) for one in split]).tolist()) for part in ("train", "val"))
    assert set(np.flatnonzero(found == "train").tolist()) == train
    assert set(np.flatnonzero(found == "val").tolist()) == val - train
    assert set(np.flatnonzero(found == "test").tolist()) == set(range(80)) - val - train  # the others have no label


def test_a_held_out_answer_is_of_the_trials_that_validate_on_the_node(problem):
    graph, splits, trials = problem
    held_out = HeldOut(graph, splits)
    temperatures = [held_out.add(splits.of(t).val, trials[t][splits.of(t).val]) for t in range(TRIALS)]
    mean, correct = [], []
    for node in np.unique(np.concatenate([splits.of(trial).val for trial in range(TRIALS)])):
        own = [trial for trial in range(TRIALS) if node in splits.of(trial).val]
        mean.append(np.mean([tempered(trials[t][node][None], temperatures[t])[0] for t in own], axis=0))
        correct.append(mean[-1].argmax() == graph.labels[node])
    expected = least_confidence(np.max(mean, axis=1).astype(np.float32), np.array(correct))
    assert held_out.calibration() == Calibration(tuple(temperatures), expected)


def test_labels_of_other_nodes_than_validations_change_nothing_but_their_column(problem, folder, tmp_path_factory):
    graph, splits, trials = problem
    labels = np.full(NODES, -1)
    for trial in range(TRIALS):
        labels[splits.of(trial).val] = graph.labels[splits.of(trial).val]
    other = tmp_path_factory.mktemp("other")
    hidden = Graph(graph.adjacency, graph.features, labels, CLASSES, graph.node_ids)
    for trial, probabilities in enumerate(trials):
        write_trial(other / f"trial-{trial:05d}.parquet", hidden, splits.of(trial), probabilities)
    write_predictions(other, hidden, splits)
    first, second = (pq.read_table(at / "predictions.parquet").drop(["label"]) for at in (folder, other))
    assert first.equals(second)
    assert (folder / "calibration.json").read_bytes() == (other / "calibration.json").read_bytes()


def test_confident_is_from_the_threshold_on():
    confidence = np.array([0.89, 0.9, 0.95], np.float32)
    assert Calibration((1.0,), 0.9).confident(confidence).tolist() == [False, True, True]
    assert Calibration((1.0,), float(confidence[2])).confident(confidence).tolist() == [False, False, True]
    assert Calibration((1.0,), None).confident(np.ones(1, np.float32)).tolist() == [False]


def test_a_calibration_is_read_back_or_refused_by_name(tmp_path):
    file, calibration = tmp_path / "calibration.json", Calibration((0.5, 1.25), None)
    calibration.save(file)
    assert Calibration.load(file) == calibration
    assert "models" not in json.loads(file.read_text())
    dataclasses.replace(calibration, models="0" * 64).save(file)
    assert Calibration.load(file).models == json.loads(file.read_text())["models"] == "0" * 64
    file.write_text('{"temperatures": [1.0]}')
    with pytest.raises(ArtifactError, match=r"calibration\.json: is no calibration: .*threshold"):
        Calibration.load(file)
    with pytest.raises(ArtifactError, match=r"absent\.json: no such file"):
        Calibration.load(tmp_path / "absent.json")
